"""Read what an answer cost from a body or from the events of a stream, in any format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from laconic.errors import MalformedRequest
from laconic.tokens.count import counter
from laconic.wire.formats import FORMATS
from laconic.wire.json_spans import value
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.turns_and_blocks import LIFETIME
from laconic.wire.usage import Counters, Usage

_NAMES: Final = "|".join(sorted({re.escape(format.usage.report) for format in FORMATS.values()}))
_MARK: Final = re.compile(rf'"(?:{_NAMES})"'.encode())
_REPORT: Final = re.compile(
    rf'(?<!\\)"(?:{_NAMES})"'.encode() + rb"\s{0,9}:\s{0,9}(\{[^{}]{0,2000}(?:\{[^{}]{0,2000}\}[^{}]{0,2000}){0,8}\})"
)
_SAMPLE: Final = 65_536  # bytes from which the tokens of a longer text are estimated


def asks_for_an_hour(request: ParsedRequest) -> bool:
    """Whether a request wants what it writes to the cache kept for an hour."""
    patterns = _hour_patterns()
    return any(pattern.match(request.body, at) for at in request.find_all(LIFETIME) for pattern in patterns)


@cache
def _report_names() -> tuple[bytes, ...]:
    """What no event lacks that reports usage; a name that begins with another is not looked for."""
    names = {format.usage.report for format in FORMATS.values()}
    shortest = [name for name in names if not any(name != other and name.startswith(other) for other in names)]
    return tuple(f'"{name}'.encode() for name in shortest)


def _find_report(lines: bytes, start: int) -> int:
    """Where a report may be, from a place on; -1: nowhere."""
    found = -1
    for name in _report_names():
        at = lines.find(name, start)
        if at >= 0 and (found < 0 or at < found):
            found = at
    return found


@cache
def _hour_patterns() -> tuple[re.Pattern[bytes], ...]:
    return tuple(format.usage.hour for format in FORMATS.values() if format.usage.hour is not None)


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
        return read_counters(self._found, hour=self._hour)

    @property
    def so_far(self) -> Usage | None:
        """The same, with an estimate of what was said since: all that is known of an answer that is cut off here."""
        spoken = []
        for line in b"\n".join(self._sample).split(b"\n"):
            if line.startswith(b"data:"):
                spoken.append(read_spoken_text(_event(line)))
        said = counter()("".join(spoken))
        if not said:
            return self.usage
        output = round(said * self._uncounted / self._sampled)
        return (self.usage or Usage()) + Usage(output=output, estimated=True)

    def feed(self, chunk: bytes) -> None:
        """The next bytes of a stream of events (server-sent, or a JSON array written bit by bit)."""
        if self._size:
            end, is_ended, chunk = chunk.partition(b"\n")
            self._hold(end)
            if not is_ended:
                return
            self._end_line()
        whole, _, unfinished = chunk.rpartition(b"\n")
        if whole:
            self._read_lines(whole)
        if unfinished:
            self._hold(unfinished)

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
            self._read_lines(b"".join(self._line))
        self._line.clear()
        self._size = 0

    def _read_lines(self, lines: bytes) -> None:
        """Lines that are whole. Only those that may report something are looked at one by one."""
        at = 0
        while (place := _find_report(lines, at)) >= 0:
            start = lines.rfind(b"\n", at, place) + 1 or at
            end = lines.find(b"\n", place)
            if end < 0:
                end = len(lines)
            self._keep_sample(lines[at:end])
            self._read_event(lines[start:end])
            at = end
        if at < len(lines):
            self._keep_sample(lines[at:])

    def _read_event(self, line: bytes) -> None:
        if not line.startswith(b"data:") or not _MARK.search(line):
            return
        found = _collect(_event(line))
        self._found.update(found)
        if any(name in found for name in _output_names()):
            self._sample.clear()
            self._uncounted = self._sampled = 0

    def _keep_sample(self, lines: bytes) -> None:
        self._uncounted += len(lines)
        if self._sampled < _SAMPLE:
            self._sample.append(lines)
            self._sampled += len(lines)


def usage_of(body: bytes, *, hour: bool = False) -> Usage | None:
    """The usage in a whole answer of any format; None when it has none."""
    if not _MARK.search(body):
        return None
    try:
        answer = value(body)
    except MalformedRequest:
        return None
    found: dict[str, int] = {}
    for part in answer if isinstance(answer, list) else [answer]:  # Gemini streams an array unless asked for events
        found.update(_collect(part))
    return read_counters(found, hour=hour)


def usage_of_part(body: bytes, *, hour: bool = False) -> Usage:
    """The usage in an answer that broke off: the last report in it, else an estimate of what it says."""
    found: dict[str, int] = {}
    for report in _REPORT.finditer(body):
        found.update(_read_report(report[1]))
    reported = read_counters(found, hour=hour) or Usage()
    if any(name in found for name in _output_names()):
        return reported
    sample = body[:_SAMPLE]
    said = round(counter()(sample.decode("utf-8", "replace")) * len(body) / max(1, len(sample)))
    return Usage(output=said, estimated=True) + reported


def read_counters(found: Counters, *, hour: bool = False) -> Usage | None:
    """Counters of any format as a record; None when there are none."""
    if not found:
        return None
    for format in FORMATS.values():
        usage = format.usage.record(found, hour)
        if usage is not None:
            return usage
    return None


def read_spoken_text(event: object) -> str:
    """What the model said in this event of any format; what later events repeat in full is not in it."""
    if not isinstance(event, Mapping):
        return ""
    return next((text for format in FORMATS.values() if (text := format.spoken_text(event))), "")


@cache
def _output_names() -> frozenset[str]:
    return frozenset(name for format in FORMATS.values() for name in format.usage.output)


def _event(line: bytes) -> object:
    try:
        return value(line[5:].strip())
    except MalformedRequest:
        return None  # a truncated event is the client's to judge


def _read_report(raw: bytes) -> dict[str, int]:
    try:
        report = value(raw)
    except MalformedRequest:
        return {}
    found: dict[str, int] = {}
    if isinstance(report, Mapping):
        for format in FORMATS.values():
            found.update(format.usage.read_report(report))
    return found


def _collect(event: object) -> dict[str, int]:
    """The counters of an answer or event, wherever its format keeps them."""
    found: dict[str, int] = {}
    for format in FORMATS.values():
        found.update(format.usage.collect(event))
    return found
