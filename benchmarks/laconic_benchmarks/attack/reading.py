"""Read requests with nothing but a JSON parser: what each message holds, and which messages of a request were sent.

It shares no code with the readers of the gateway, so that a mistake there cannot hide itself here.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_NAMES: Final = frozenset(
    {
        "role",
        "type",
        "id",
        "tool_use_id",
        "tool_call_id",
        "call_id",
        "name",
        "media_type",
        "mimeType",
        "detail",
        "format",
        "filename",
        "status",
        "language",
        "cache_control",
    }
)  # members that say what a block is, not what it holds
_THINKING: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_KEPT_FIELDS: Final = ("reasoning_content", "reasoning_details")
_ARGUMENTS: Final = frozenset({"arguments", "input", "args"})
_RECALL: Final = re.compile(r"\b[0-9a-z]{8,16}\b")
_URL: Final = re.compile(r"data:[\w/.+-]+;base64,")
MARK: Final = '"cache_control"'
_MARKS: Final = re.compile(r',\s*"cache_control"\s*:\s*\{[^{}]*\}')
_GAP: Final = " \t\r\n,"
_ARRAY: Final = re.compile(r'"(?:messages|input|contents)"\s*:\s*\[')


class RawNumber(str):
    """A number as it is written."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Leaf:
    """One text of a message, and where in it it stands."""

    place: str
    value: str


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What one message holds."""

    role: str
    leaves: tuple[Leaf, ...]
    calls: tuple[str, ...]
    results: tuple[str, ...]
    thinking: tuple[str, ...]  # blocks that must not change, as JSON with sorted names
    arguments: tuple[tuple[str, str], ...]  # of each call: names in order, and numbers as they are written
    words: frozenset[str]  # everything that could be a reference

    @property
    def identity(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return (self.role, self.calls, self.results)


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message of an outgoing request: where it stood in the incoming one (-1: nowhere), and whether it is the same.

    Cache marks do not count.
    """

    origin: int
    raw: str
    same: bool


class Misfit(Exception):
    """An outgoing request that is no form of the incoming one."""


def parse(text: str) -> Any:
    """JSON with its numbers as they are written."""
    return json.loads(text, parse_float=RawNumber, parse_int=RawNumber)


@lru_cache(maxsize=20_000)
def read_message(raw: str) -> MessageFacts:
    """The facts about a message, from its own JSON."""
    message = parse(raw)
    calls: list[str] = []
    results: list[str] = []
    arguments: list[tuple[str, str]] = []
    for item in _objects(message):
        if (call := _call(item)) is not None:
            calls.append(call[0])
            arguments.append((call[0], _layout(call[1])))
        elif (result := _result(item)) is not None:
            results.append(result)
    leaves = tuple(_leaves(message, "", inside=False))
    return MessageFacts(
        role=str(message.get("role") or message.get("type")),
        leaves=leaves,
        calls=tuple(calls),
        results=tuple(results),
        thinking=tuple(_thinking(message)),
        arguments=tuple(arguments),
        words=frozenset(_RECALL.findall(raw)),
    )


def align(incoming: Sequence[str], head: str, out: str) -> list[SentMessage]:
    """Which message of an incoming request each message of the outgoing one is."""
    at = _start(head, out)
    sent: list[SentMessage] = []
    expected = 0
    decoder = json.JSONDecoder()
    while True:
        while out[at] in _GAP:
            at += 1
        if out[at] == "]":
            return sent
        if expected < len(incoming) and out.startswith(incoming[expected], at):
            sent.append(SentMessage(expected, incoming[expected], same=True))
            at += len(incoming[expected])
            expected += 1
            continue
        _, end = decoder.raw_decode(out, at)
        raw = out[at:end]
        origin = _origin(raw, incoming, expected)
        sent.append(SentMessage(origin, raw, same=origin >= 0 and strip_marks(raw) == strip_marks(incoming[origin])))
        at, expected = end, max(expected, origin + 1)


def strip_marks(raw: str) -> str:
    """JSON without its cache marks: they say what the provider keeps, not what the model reads."""
    if MARK not in raw:
        return raw
    return _MARKS.sub("", raw)


def fields_of(body: str, names: Sequence[str]) -> dict[str, str]:
    """The members of a request beside its messages, in order, each as JSON; without the named ones."""
    left_out = {"messages", "contents", *names}
    found = parse(body)
    return {
        name: json.dumps(value)
        for name, value in found.items()
        if name not in left_out and not (name == "input" and isinstance(value, list))
    }


def forms_of(value: str) -> Iterator[bytes]:
    """How a text may stand in an archive: as it is, as JSON, as JSON in JSON, and media as bytes."""
    yield value.encode("utf-8", "surrogatepass")
    for ascii in (True, False):
        once = json.dumps(value, ensure_ascii=ascii)[1:-1]
        yield once.encode("utf-8", "surrogatepass")
        yield json.dumps(once, ensure_ascii=ascii)[1:-1].encode("utf-8", "surrogatepass")
    coded = _URL.sub("", value, count=1)
    if len(coded) >= 64 and len(coded) % 4 == 0 and " " not in coded[:64]:
        try:
            yield base64.b64decode(coded, validate=True)
        except (ValueError, binascii.Error):
            return


def _start(head: str, out: str) -> int:
    if out.startswith(head):
        return len(head)
    found = _ARRAY.search(out)
    if found is None:
        raise Misfit("no list of messages")
    return found.end()


def _origin(raw: str, incoming: Sequence[str], first: int) -> int:
    """The message that this one was made from: one that is equal, else the most alike with the same calls and results."""
    for at in range(first, len(incoming)):
        if incoming[at] == raw:
            return at
    role, calls, results = read_message(raw).identity
    ids = {*calls, *results}
    if not ids:
        return first if first < len(incoming) and _shares(raw, incoming[first]) else -1
    found = [
        at
        for at in range(first, len(incoming))
        if (facts := read_message(incoming[at])).role == role and ids <= {*facts.calls, *facts.results}
    ]
    if len(found) < 2:
        return found[0] if found else -1
    texts = {leaf.value for leaf in read_message(raw).leaves}  # ids are missing, or used again
    return max(found, key=lambda at: (len(texts & {leaf.value for leaf in read_message(incoming[at]).leaves}), -at))


def _shares(raw: str, other: str) -> bool:
    """Whether a text of one message begins as one of the other: then it was cut, not inserted."""
    one, two = read_message(raw), read_message(other)
    begins = {leaf.value[:40] for leaf in two.leaves}
    return one.identity == two.identity and any(leaf.value[:40] in begins for leaf in one.leaves)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for name, inner in value.items():
            if name not in _ARGUMENTS:
                yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


def _call(item: dict[str, Any]) -> tuple[str, Any] | None:
    """Id and arguments of a call, in any provider's words."""
    kind = item.get("type")
    if kind == "tool_use":
        return str(item["id"]), item.get("input")
    if kind in {"function_call", "custom_tool_call"}:
        return str(item.get("call_id")), item.get("arguments", item.get("input"))
    if kind == "function" and isinstance(item.get("function"), dict) and "id" in item:
        return str(item["id"]), item["function"].get("arguments")
    inner = item.get("functionCall")
    if isinstance(inner, dict):
        return str(inner.get("id") or inner.get("name")), inner.get("args")
    return None


def _result(item: dict[str, Any]) -> str | None:
    kind = item.get("type")
    if kind == "tool_result":
        return str(item.get("tool_use_id"))
    if kind in {"function_call_output", "custom_tool_call_output"}:
        return str(item.get("call_id"))
    if item.get("role") == "tool":
        return str(item.get("tool_call_id"))
    inner = item.get("functionResponse")
    if isinstance(inner, dict):
        return str(inner.get("id") or inner.get("name"))
    return None


def _thinking(message: dict[str, Any]) -> Iterator[str]:
    for name in _KEPT_FIELDS:
        if name in message:
            yield json.dumps({name: message[name]}, sort_keys=True)
    for item in _objects(message):
        if item.get("type") in _THINKING or item.get("thought") is not None or "thoughtSignature" in item:
            signed = {key: value for key, value in item.items() if key not in {"cache_control", "functionCall"}}
            yield json.dumps(signed, sort_keys=True)


def _layout(arguments: Any) -> str:
    """Names in their order, and numbers as they are written; texts left out."""
    if isinstance(arguments, str) and not isinstance(arguments, RawNumber):
        arguments = _decoded(arguments)
    if isinstance(arguments, dict):
        return "{" + ",".join(f"{name}:{_layout_inside(value)}" for name, value in arguments.items()) + "}"
    return type(arguments).__name__


def _layout_inside(value: Any) -> str:
    if isinstance(value, RawNumber) or value is None or isinstance(value, bool):
        return str(value)
    return _layout(value) if isinstance(value, dict) else type(value).__name__


def _leaves(value: Any, place: str, *, inside: bool) -> Iterator[Leaf]:
    """All texts; arguments that are JSON in a text are opened."""
    if isinstance(value, RawNumber):
        return
    if isinstance(value, str):
        opened = _decoded(value) if inside and place.endswith("arguments") else None
        if isinstance(opened, dict):
            yield from _leaves(opened, place, inside=True)
        elif value:
            yield Leaf(place, value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if inside or name not in _NAMES:
                yield from _leaves(inner, f"{place}.{name}", inside=inside or name in _ARGUMENTS)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{place}[{number}]", inside=inside)


def _decoded(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return parse(text)
    except ValueError:
        return text
