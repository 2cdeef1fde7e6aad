"""What a provider says an answer cost, read from a body or from the events of a stream, as one record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from laconic.errors import MalformedRequest
from laconic.tokens.estimate import estimate
from laconic.wire.spans import value
from laconic.wire.streamed_text import spoken_text

_LONG: Final = "ephemeral_1h_input_tokens"
_SHORT: Final = "ephemeral_5m_input_tokens"
_OUTPUT: Final = ("output_tokens", "completion_tokens", "candidatesTokenCount")
_HOUR: Final = re.compile(rb'"ttl"\s*:\s*"1h"')
_REPORT: Final = re.compile(
    rb'(?<!\\)"usage(?:Metadata)?"\s{0,9}:\s{0,9}(\{[^{}]{0,2000}(?:\{[^{}]{0,2000}\}[^{}]{0,2000}){0,8}\})'
)
_SAMPLE: Final = 65_536  # bytes from which the tokens of a longer text are estimated
_DETAILS: Final = frozenset({"cached_tokens", "cache_write_tokens"})
_MOST: Final = 10**9  # tokens: a provider that counts more in one answer has miscounted


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one answer. The three kinds of prompt tokens add up to the prompt."""

    input: int = 0  # neither read from a cache nor written to one
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0  # thinking too
    long: int = 0  # of those written, the ones that the cache keeps for an hour
    estimated: bool = False  # the provider did not count all of them

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            long=self.long + other.long,
            estimated=self.estimated or other.estimated,
        )


def asks_for_an_hour(request: bytes) -> bool:
    """Whether a request wants what it writes to the cache kept for an hour."""
    return b'"ttl"' in request and _HOUR.search(request) is not None


class UsageReader:
    """Collects usage from the bytes of a stream as they pass; it holds one unfinished line and a sample of the others.

    `hour`: the request wants its cache kept for an hour, which counts where the provider does not say.
    """

    __slots__ = ("_found", "_hour", "_line", "_sample", "_sampled", "_size", "_uncounted")

    _LONGEST = 8_000_000  # bytes of a line that is read

    def __init__(self, *, hour: bool = False) -> None:
        self._hour = hour
        self._line: list[bytes] = []  # parts of the line that is not ended
        self._size = 0
        self._found: dict[str, int] = {}
        self._uncounted = 0  # bytes of events since the provider last counted the output
        self._sample: list[bytes] = []  # the first of these events
        self._sampled = 0

    @property
    def usage(self) -> Usage | None:
        """What the provider has reported so far."""
        return _record(self._found, hour=self._hour) if self._found else None

    @property
    def so_far(self) -> Usage | None:
        """The same, with an estimate of what was said since: all that is known of an answer that is cut off here."""
        said = estimate("".join(spoken_text(_event(line)) for line in self._sample))
        if not said:
            return self.usage
        output = round(said * self._uncounted / self._sampled)
        return (self.usage or Usage()) + Usage(output=output, estimated=True)

    def feed(self, chunk: bytes) -> None:
        """The next bytes of a stream of events (server-sent, or a JSON array written bit by bit)."""
        first, *lines = chunk.split(b"\n")
        self._hold(first)
        for line in lines:
            self._end_line()
            self._hold(line)

    def close(self) -> Usage | None:
        """The stream has ended: what is left is the last line."""
        self._end_line()
        return self.usage

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._LONGEST:
            self._line.append(part)

    def _end_line(self) -> None:
        if self._size <= self._LONGEST:
            self._read(b"".join(self._line))
        self._line.clear()
        self._size = 0

    def _read(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        self._uncounted += len(line)
        if self._sampled < _SAMPLE:
            self._sample.append(line)
            self._sampled += len(line)
        if b'"usage' in line and (found := _collect(_event(line))):
            self._found.update(found)
            if any(name in found for name in _OUTPUT):
                self._sample.clear()
                self._uncounted = self._sampled = 0


def usage_of(body: bytes, *, hour: bool = False) -> Usage | None:
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
    return _record(found, hour=hour) if found else None


def usage_of_part(body: bytes, *, hour: bool = False) -> Usage:
    """The usage in an answer that broke off: the last report in it, else an estimate of what it says."""
    found: dict[str, int] = {}
    for report in _REPORT.finditer(body):
        found.update(_report(report[1]))
    if not any(name in found for name in _OUTPUT):
        sample = body[:_SAMPLE]
        said = round(estimate(sample.decode("utf-8", "replace")) * len(body) / max(1, len(sample)))
        return Usage(output=said, estimated=True) + _record(found, hour=hour)
    return _record(found, hour=hour)


def _event(line: bytes) -> object:
    try:
        return value(line[5:].strip())
    except MalformedRequest:
        return None  # a truncated event is the client's to judge


def _report(raw: bytes) -> dict[str, int]:
    try:
        report = value(raw)
    except MalformedRequest:
        return {}
    return _numbers(report) if isinstance(report, Mapping) else {}


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
                found |= {inner: n for inner, n in _numbers(number).items() if inner in _DETAILS}
            elif name == "cache_creation":
                found |= {inner: n for inner, n in _numbers(number).items() if inner in {_LONG, _SHORT}}
        elif isinstance(number, int) and not isinstance(number, bool) and 0 < number <= _MOST:
            found[name] = number
    return found


def _record(found: Mapping[str, int], *, hour: bool = False) -> Usage:
    def first(*names: str) -> int:
        return next((found[name] for name in names if name in found), 0)

    output = first(*_OUTPUT) + first("thoughtsTokenCount")
    if "cache_read_input_tokens" in found or "cache_creation_input_tokens" in found:
        read, written = first("cache_read_input_tokens"), first("cache_creation_input_tokens")
        told = _LONG in found or _SHORT in found
        long = first(_LONG) if told or not hour else written
        return Usage(first("input_tokens"), read, written, output, min(long, written))
    prompt = first("input_tokens", "prompt_tokens", "promptTokenCount") + first("toolUsePromptTokenCount")
    read = min(first("cached_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount"), prompt)
    written = min(first("cache_write_tokens"), prompt - read)
    return Usage(prompt - read - written, read, written, output)
