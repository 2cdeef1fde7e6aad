"""Recorded sessions, turn by turn through the engine: what is sent, what it costs with a cache, what was still there.

Measured on the bytes that would be sent, never on what the engine says about itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from laconic.models.model import Price
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import Shapes, parse

Json = dict[str, object]
Prepare = Callable[[bytes], bytes]

_NUMBER: Final = re.compile(r"^\s*\d+\s*[→|:\t]\s?")
_NAME: Final = re.compile(r"[A-Za-z_][\w\-]*(?:[./][\w\-]+)+|[A-Za-z_][A-Za-z0-9_]{4,}")
_MADE_UP: Final = re.compile(r"[_/.\d]|[a-z][A-Z]")
_ROLES: Final = {role: b"role:" + role.encode() for role in ("system", "user", "assistant", "tool")}
_RECENT: Final = 6  # messages that any policy keeps: what they hold is not counted as needed


class Point(msgspec.Struct, frozen=True):
    """One request: prompt tokens as the client sent them and as they were passed on."""

    sent: int
    passed: int
    rewritten: bool  # an earlier byte changed


class Outcome(msgspec.Struct, frozen=True):
    """One session."""

    name: str
    turns: int
    tokens: int  # sum of all prompts as sent by the client
    passed: int  # and as passed on
    cost: float  # with caching, in plain input tokens
    passed_cost: float
    peak: int
    passed_peak: int
    lines: int  # lines that calls needed
    lines_kept: int
    names: int  # identifiers that turns needed
    names_kept: int
    events: int  # requests in which an earlier byte changed
    faults: int  # rules broken in requests that were rewritten
    points: tuple[Point, ...] = ()


class _Seen(msgspec.Struct, frozen=True):
    tokens: int
    lines: frozenset[str]
    names: frozenset[str]


class _Upstream:
    """What arrives: counted block by block, with the prefix that the request before shares."""

    def __init__(self, count: Callable[[str], int], price: Price, fixed: int) -> None:
        self._count = count
        self._price = price
        self._fixed = fixed  # tokens before the messages
        self._shapes: Shapes = {}
        self._known: dict[bytes, _Seen] = {}
        self._before: list[bytes] = []
        self.tokens = self.peak = self.last = self.faults = 0
        self.cost = 0.0
        self.rewritten = False
        self.lines: Counter[str] = Counter()
        self.names: Counter[str] = Counter()

    def take(self, body: bytes) -> None:
        """Account for one request."""
        conversation = parse(format_named("anthropic"), body, self._shapes)
        blocks: list[bytes] = []
        for turn in conversation.turns:
            blocks.append(_ROLES[turn.role])
            blocks += [block.raw for block in turn.blocks]
        shared = _shared(self._before, blocks)
        for raw in blocks[shared:]:
            if raw not in self._known:
                self._known[raw] = self._look(raw)
        sizes = [self._known[raw].tokens for raw in blocks]
        if self._before:
            read = self._fixed + sum(sizes[:shared])
        else:
            read = 0
        self.last = self._fixed + sum(sizes)
        self.tokens += self.last
        self.peak = max(self.peak, self.last)
        self.cost += self._price.read * read + self._price.write * (self.last - read)
        self.rewritten = shared < len(self._before)
        self._note(self._before[shared:], -1)
        self._note(blocks[shared:], 1)
        if self.rewritten or not self._before:  # what is only appended to cannot break
            self.faults += len(conversation.faults())
        self._before = blocks

    def _look(self, raw: bytes) -> _Seen:
        if raw in _ROLES.values():
            return _Seen(self._count(raw.decode()), frozenset(), frozenset())
        try:
            text = "\n".join(strings(msgspec.json.decode(raw)))
        except RecursionError:  # nested too deeply to be taken apart
            text = raw.decode("utf-8", "replace")
        return _Seen(
            self._count(raw.decode("utf-8", "replace")), frozenset(lines_of(text)), frozenset(names_of(text))
        )

    def _note(self, blocks: Sequence[bytes], times: int) -> None:
        for raw in blocks:
            seen = self._known[raw]
            for word in seen.lines:
                self.lines[word] += times
            for word in seen.names:
                self.names[word] += times


class _Client:
    """What the client sends: it only ever adds to what it sent before."""

    def __init__(self, count: Callable[[str], int], price: Price, fixed: int) -> None:
        self._count = count
        self._price = price
        self.last = fixed
        self._cached = 0
        self.tokens = 0
        self.cost = 0.0

    def take(self, messages: Sequence[Json]) -> None:
        """These messages are new."""
        for message in messages:
            self.last += self._count(f"role:{message.get('role')}")
            content = message.get("content")
            for block in content if isinstance(content, list) else [content]:
                self.last += self._count(msgspec.json.encode(block).decode("utf-8", "replace"))
        self.tokens += self.last
        self.cost += self._price.read * self._cached + self._price.write * (self.last - self._cached)
        self._cached = self.last


def replay(
    name: str, head: Json, messages: Sequence[Json], prepare: Prepare, *, count: Callable[[str], int], price: Price
) -> Outcome:
    """Send every request of a session through `prepare`. `head` holds the fields beside the messages."""
    fixed = sum(
        count(msgspec.json.encode(value).decode()) for key, value in head.items() if key in {"tools", "system"}
    )
    client, upstream = _Client(count, price, fixed), _Upstream(count, price, fixed)
    figures: Counter[str] = Counter()
    points: list[Point] = []
    written = []
    for message in messages:
        written.append(msgspec.json.encode(message))
    start = msgspec.json.encode(head)[:-1] + b',"messages":['
    taken = 0
    for at, needed_lines, needed_names in needs(messages):
        client.take(messages[taken:at])
        taken = at
        upstream.take(prepare(start + b",".join(written[:at]) + b"]}"))
        figures["events"] += upstream.rewritten
        figures["lines"] += len(needed_lines)
        figures["lines_kept"] += sum(1 for line in needed_lines if upstream.lines[line] > 0)
        figures["names"] += len(needed_names)
        figures["names_kept"] += sum(1 for word in needed_names if upstream.names[word] > 0)
        points.append(Point(client.last, upstream.last, upstream.rewritten))
    return Outcome(
        name,
        len(points),
        client.tokens,
        upstream.tokens,
        client.cost,
        upstream.cost,
        client.last,
        upstream.peak,
        figures["lines"],
        figures["lines_kept"],
        figures["names"],
        figures["names_kept"],
        figures["events"],
        upstream.faults,
        tuple(points),
    )


def needs(messages: Sequence[Json]) -> Iterator[tuple[int, set[str], set[str]]]:
    """For each turn of the assistant: lines that its calls repeat from older results, and older names in it."""
    result_lines: set[str] = set()
    known_names: set[str] = set()
    texts = ["\n".join(strings(message.get("content"))) for message in messages]
    for at, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list):
            blocks = [block for block in content if isinstance(block, dict)]
        else:
            blocks = []
        if message.get("role") == "assistant" and at:
            kept = "\n".join([*texts[max(0, at - _RECENT) : at], texts[0]])
            arguments = "\n".join(
                text for block in blocks if block.get("type") == "tool_use" for text in strings(block.get("input"))
            )
            yield (
                at,
                (lines_of(arguments) & result_lines) - lines_of(kept),
                (names_of(texts[at]) & known_names) - names_of(kept),
            )
        known_names |= names_of(texts[at])
        for block in blocks:
            if block.get("type") == "tool_result":
                result_lines |= lines_of("\n".join(strings(block.get("content"))))


def lines_of(text: str) -> set[str]:
    """Lines of some length, without numbers in front and white space around."""
    return {line for raw in text.split("\n") if len(line := _NUMBER.sub("", raw).strip()) >= 12}


def names_of(text: str) -> set[str]:
    """Identifiers and paths that are no plain words."""
    found: set[str] = set()
    for name in _NAME.findall(text):
        if len(name) >= 5 and _MADE_UP.search(name):
            found.add(name)
    return found


def strings(value: object) -> Iterator[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def _shared(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        shared += 1
    return shared
