"""What a provider says an answer cost, read from a body or from the events of a stream, as one record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from laconic.errors import MalformedRequest
from laconic.wire.spans import value

_LONG: Final = "ephemeral_1h_input_tokens"
_MOST: Final = 10**9  # tokens: a provider that counts more in one answer has miscounted


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one answer. The three kinds of prompt tokens add up to the prompt."""

    input: int = 0  # neither read from a cache nor written to one
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    long: int = 0  # of those written, the ones that the cache keeps for an hour

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.long + other.long,
        )


class UsageReader:
    """Collects usage from the bytes of a stream as they pass; it holds one unfinished line and nothing else."""

    __slots__ = ("_found", "_rest")

    _LONGEST = 1_000_000  # a line that is longer holds content, not usage

    def __init__(self) -> None:
        self._rest = b""
        self._found: dict[str, int] = {}

    @property
    def usage(self) -> Usage | None:
        return _record(self._found) if self._found else None

    def feed(self, chunk: bytes) -> None:
        """The next bytes of a stream of events (server-sent, or a JSON array written bit by bit)."""
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > self._LONGEST:
            self._rest = b""
        for line in lines:
            self._read(line)

    def close(self) -> Usage | None:
        """The stream has ended: what is left is the last line."""
        self._read(self._rest)
        self._rest = b""
        return self.usage

    def _read(self, line: bytes) -> None:
        if b'"usage' not in line or not line.startswith(b"data:"):
            return
        try:
            event = value(line[5:].strip())
        except MalformedRequest:
            return  # a truncated event is the client's to judge
        self._found.update(_collect(event))


def usage_of(body: bytes) -> Usage | None:
    """The usage in a whole answer of any format; None when it has none."""
    if b'"usage' not in body:
        return None
    try:
        answer = value(body)
    except MalformedRequest:
        return None
    found: dict[str, int] = {}
    for part in answer if isinstance(answer, list) else [answer]:  # Gemini streams an array unless asked for events
        found.update(_collect(part))
    return _record(found) if found else None


def _collect(event: object) -> dict[str, int]:
    """The counters of an answer or event, wherever its format keeps them."""
    if not isinstance(event, Mapping):
        return {}
    places = [event, event.get("message"), event.get("response")]
    found: dict[str, int] = {}
    for place in places:
        if isinstance(place, Mapping):
            for name in ("usage", "usageMetadata"):
                if isinstance(place.get(name), Mapping):
                    found.update(_numbers(place[name]))
    return found


def _numbers(usage: Mapping[str, object]) -> dict[str, int]:
    """All counters, those in the details too. Reports of nothing, or of nonsense, do not undo an earlier report."""
    found: dict[str, int] = {}
    for name, number in usage.items():
        if isinstance(number, Mapping):
            if name in {"input_tokens_details", "prompt_tokens_details"}:
                found |= {inner: n for inner, n in _numbers(number).items() if inner == "cached_tokens"}
            elif name == "cache_creation":
                found |= {inner: n for inner, n in _numbers(number).items() if inner == _LONG}
        elif isinstance(number, int) and not isinstance(number, bool) and 0 < number <= _MOST:
            found[name] = number
    return found


def _record(found: Mapping[str, int]) -> Usage:
    def first(*names: str) -> int:
        return next((found[name] for name in names if name in found), 0)

    output = first("output_tokens", "completion_tokens", "candidatesTokenCount") + first("thoughtsTokenCount")
    if "cache_read_input_tokens" in found or "cache_creation_input_tokens" in found:
        read, written = first("cache_read_input_tokens"), first("cache_creation_input_tokens")
        return Usage(first("input_tokens"), read, written, output, min(first(_LONG), written))
    prompt = first("input_tokens", "prompt_tokens", "promptTokenCount")
    read = min(first("cached_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount"), prompt)
    return Usage(prompt - read, read, 0, output)
