"""Recorded sessions, turn by turn through the engine: what is sent, what it costs with a cache, what was still there.

Measured on the bytes that would be sent, never on what the engine says about itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from laconic.conversation.prefix_hashes import count_shared
from laconic.conversation.simulated_cache import CacheBlock, ProviderCache
from laconic.models.model import Price
from laconic.wire.cache_rules import FIVE_MINUTES, CacheRules
from laconic.wire.content import without_marks
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import Shapes, parse
from laconic.wire.usage import Usage

Json = dict[str, object]
Prepare = Callable[[bytes], bytes]

_NUMBER: Final = re.compile(r"^\s*\d+\s*[→|:\t]\s?")
_NAME: Final = re.compile(r"[A-Za-z_][\w\-]{0,200}(?:[./][\w\-]{1,200})+|[A-Za-z_][A-Za-z0-9_]{4,}")
_MADE_UP: Final = re.compile(r"[_/.\d]|[a-z][A-Z]")
_ROLES: Final = {role: b"role:" + role.encode() for role in ("system", "user", "assistant", "tool")}
_STEP: Final = 5.0  # seconds that a turn takes where nothing else is known
_ASKED: Final = 500.0  # what the answer costs that asks for a text again: 100 tokens of output
_RECENT: Final = 6  # messages that any policy keeps: what they hold is not counted as needed


class ReplayedRequest(msgspec.Struct, frozen=True):
    """One request: prompt tokens as the client sent them and as they were passed on."""

    sent: int
    passed: int
    rewritten: bool  # an earlier byte changed


class ReplayOutcome(msgspec.Struct, frozen=True):
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
    points: tuple[ReplayedRequest, ...] = ()
    cold: int = 0  # requests that found no cache
    rereads: int = 0  # turns that would have to read again what they need
    reread_cost: float = 0.0  # what those would cost, in plain input tokens

    @property
    def net(self) -> float:
        """What passing on cost, with what it would cost to read again what was lost."""
        return self.passed_cost + self.reread_cost


class ReplayClock:
    """The time of a replayed session: the engine and the provider's cache read it."""

    def __init__(self) -> None:
        self.now = 1.0e6

    def __call__(self) -> float:
        return self.now


class _SentText(msgspec.Struct, frozen=True):
    tokens: int
    lines: frozenset[str]
    names: frozenset[str]


class _Upstream:
    """What arrives: counted block by block, with the prefix that the request before shares."""

    def __init__(
        self, count: Callable[[str], int], cache: ProviderCache, fixed: int, known: dict[bytes, _SentText]
    ) -> None:
        self._count = count
        self._cache = cache
        self._known = known  # blocks that somebody has looked at
        self._fixed = CacheBlock(b"fixed", fixed, FIVE_MINUTES)  # what stands before the messages
        self._shapes: Shapes = {}
        self._before: list[bytes] = []
        self.tokens = self.peak = self.last = self.faults = 0
        self.cost = 0.0
        self.rewritten = self.cold = False
        self.lines: Counter[str] = Counter()
        self.names: Counter[str] = Counter()

    def take(self, body: bytes) -> None:
        """Account for one request."""
        conversation = parse(format_named("anthropic"), body, self._shapes)
        blocks: list[bytes] = []
        marked: set[int] = set()
        for turn in conversation.turns:
            blocks.append(_ROLES[turn.role])
            for block in turn.blocks:
                plain = without_marks(block.raw)
                if len(plain) < len(block.raw):
                    marked.add(len(blocks))
                blocks.append(plain)
        shared = count_shared(self._before, blocks)
        for raw in blocks[shared:]:
            if raw not in self._known:
                self._known[raw] = self._look(raw)
        usage = self._cache.send(self._mark(blocks, marked))
        self.last = usage.prompt
        self.cold = bool(self._before) and not usage.cache_read
        self.tokens += self.last
        self.peak = max(self.peak, self.last)
        self.cost += self._cache.cost(usage)
        self.rewritten = shared < len(self._before)
        self._note(self._before[shared:], -1)
        self._note(blocks[shared:], 1)
        if self.rewritten or not self._before:  # what is only appended to cannot break
            self.faults += len(conversation.faults())
        self._before = blocks

    def _mark(self, blocks: Sequence[bytes], marked: Collection[int]) -> list[CacheBlock]:
        """The request as a cache sees it, with the marks that it carries and one before the messages."""
        found = [self._fixed]
        for place, raw in enumerate(blocks):
            ttl = FIVE_MINUTES if place in marked else 0.0
            found.append(CacheBlock(raw, self._known[raw].tokens, ttl))
        return found

    def _look(self, raw: bytes) -> _SentText:
        if raw in _ROLES.values():
            return _SentText(self._count(raw.decode()), frozenset(), frozenset())
        try:
            text = "\n".join(strings(msgspec.json.decode(raw)))
        except RecursionError:  # nested too deeply to be taken apart
            text = raw.decode("utf-8", "replace")
        return _SentText(
            self._count(raw.decode("utf-8", "replace")), frozenset(lines_of(text)), frozenset(names_of(text))
        )

    def _note(self, blocks: Sequence[bytes], times: int) -> None:
        for raw in blocks:
            seen = self._known[raw]
            for word in seen.lines:
                self.lines[word] += times
            for word in seen.names:
                self.names[word] += times


class _Losses:
    """What it would cost to read again what a turn needs and no longer has."""

    def __init__(self, count: Callable[[str], int], cache: ProviderCache) -> None:
        self._count = count
        self._cache = cache
        self._results: list[tuple[int, set[str]]] = []  # tokens and lines of each result so far
        self._restored: set[str] = set()
        self._carried = 0  # tokens of results that were read again
        self.turns = 0
        self.cost = 0.0

    def add(self, messages: Sequence[Json]) -> None:
        """These messages are new."""
        for message in messages:
            content = message.get("content")
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    size = self._count(msgspec.json.encode(block).decode("utf-8", "replace"))
                    self._results.append((size, lines_of("\n".join(strings(block.get("content"))))))

    def take(self, lost: set[str], context: int) -> None:
        """One turn that lacks these lines, in a context of so many tokens."""
        self.cost += self._cache.cost(Usage(cache_read=self._carried))
        left = lost - self._restored
        if not left:
            return
        self.turns += 1
        self.cost += self._cache.cost(Usage(cache_read=context)) + _ASKED
        while left:
            size, lines = max(reversed(self._results), key=lambda result: len(result[1] & left), default=(0, set()))
            if not lines & left:
                return
            left = left - lines
            self._restored |= lines
            self._carried += size
            self.cost += self._cache.cost(Usage(cache_write=size))


def replay(
    name: str,
    head: Json,
    messages: Sequence[Json],
    prepare: Prepare,
    *,
    count: Callable[[str], int],
    price: Price,
    clock: ReplayClock | None = None,
    times: Sequence[float] = (),
) -> ReplayOutcome:
    """Send every request of a session through `prepare`. `head` holds the fields beside the messages.

    `times` says when each message was made: the clock moves on by the pauses between them.
    """
    clock = clock or ReplayClock()
    fixed = _count_fixed(head, count)
    cache = ProviderCache(_rules(price), clock)
    known: dict[bytes, _SentText] = {}
    client = _Upstream(count, ProviderCache(_rules(price), clock), fixed, known)
    upstream = _Upstream(count, cache, fixed, known)
    losses = _Losses(count, cache)
    figures: Counter[str] = Counter()
    points: list[ReplayedRequest] = []
    written = list(map(msgspec.json.encode, messages))
    start = msgspec.json.encode(head)[:-1] + b',"messages":['
    taken = 0
    for at, needed_lines, needed_names in needs(messages):
        losses.add(messages[taken:at])
        clock.now += max(_STEP, times[at] - times[taken]) if len(times) == len(messages) else _STEP
        body = start + b",".join(_mark_ends(written[:at], messages, (taken - 1, at - 1))) + b"]}"
        taken = at
        client.take(body)
        upstream.take(prepare(body))
        lost = {line for line in needed_lines if upstream.lines[line] <= 0}
        losses.take(lost, upstream.last)
        figures += Counter(
            cold=client.cold,
            events=upstream.rewritten,
            lines=len(needed_lines),
            lines_kept=len(needed_lines) - len(lost),
            names=len(needed_names),
            names_kept=sum(1 for word in needed_names if upstream.names[word] > 0),
        )
        points.append(ReplayedRequest(client.last, upstream.last, upstream.rewritten))
    return ReplayOutcome(
        name=name,
        turns=len(points),
        tokens=client.tokens,
        passed=upstream.tokens,
        cost=client.cost,
        passed_cost=upstream.cost,
        peak=client.last,
        passed_peak=upstream.peak,
        faults=upstream.faults,
        points=tuple(points),
        **{key: figures[key] for key in ("lines", "lines_kept", "names", "names_kept", "events", "cold")},
        rereads=losses.turns,
        reread_cost=losses.cost,
    )


def _mark_ends(written: list[bytes], messages: Sequence[Json], ends: Collection[int]) -> list[bytes]:
    """Messages with marks as clients set them: where the request before ended, and at the end."""
    for at in ends:
        content = messages[at].get("content") if at >= 0 else None
        if isinstance(content, list) and content and isinstance(content[-1], dict):
            last = {**content[-1], "cache_control": {"type": "ephemeral"}}
            written[at] = msgspec.json.encode({**messages[at], "content": [*content[:-1], last]})
    return written


def _count_fixed(head: Json, count: Callable[[str], int]) -> int:
    """Tokens that stand before all messages."""
    return sum(count(msgspec.json.encode(head[key]).decode()) for key in ("tools", "system") if key in head)


def _rules(price: Price) -> CacheRules:
    """A provider that charges for writes caches what is marked; the others cache everything."""
    marks = format_named("anthropic").cache.marks if price.write > price.plain else 0
    return CacheRules(
        smallest=price.smallest,
        read=price.read,
        write=price.write,
        hour=price.hour,
        marks=marks,
        lifetime=price.lifetime,
    )


def needs(messages: Sequence[Json]) -> Iterator[tuple[int, set[str], set[str]]]:
    """For each turn of the assistant: lines that its calls repeat from older results, and older names in it."""
    result_lines: set[str] = set()
    known_names: set[str] = set()
    seen: list[_MessageWords] = []
    for at, message in enumerate(messages):
        text = "\n".join(strings(message.get("content")))
        said = _MessageWords(lines_of(text), names_of(text))
        blocks = _list_blocks(message)
        if message.get("role") == "assistant" and at:
            arguments = "\n".join(
                text for block in blocks if block.get("type") == "tool_use" for text in strings(block.get("input"))
            )
            lines, names = lines_of(arguments) & result_lines, said.names & known_names
            for recent in (*seen[-_RECENT:], seen[0]):
                lines -= recent.lines
                names -= recent.names
            yield at, lines, names
        known_names |= said.names
        seen.append(said)
        for block in blocks:
            if block.get("type") == "tool_result":
                result_lines |= lines_of("\n".join(strings(block.get("content"))))


class _MessageWords(NamedTuple):
    lines: set[str]
    names: set[str]


def _list_blocks(message: Json) -> list[Json]:
    content = message.get("content")
    found: list[Json] = []
    if isinstance(content, list):
        for one in content:
            if isinstance(one, dict):
                found.append(one)
    return found


def lines_of(text: str) -> set[str]:
    """Lines of some length, without numbers in front and white space around."""
    return {line for raw in text.split("\n") if len(line := _NUMBER.sub("", raw).strip()) >= 12}


def names_of(text: str) -> set[str]:
    """Identifiers and paths that are no plain words."""
    found: set[str] = set()
    for name in set(_NAME.findall(text)):
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
