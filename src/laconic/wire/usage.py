"""What an answer cost, as one record, and how the counters in a provider's report become one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from laconic.wire.json_values import as_object

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


Counters = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFields:
    """Where a provider reports usage, and what its counters mean."""

    report: str  # name of the object that holds the counters
    places: tuple[str, ...] = ()  # objects around that one, beside the answer itself
    details: Mapping[str, frozenset[str]]  # objects inside it, and which of their counters count
    output: tuple[str, ...]  # counters of the answer
    record: Callable[[Counters, bool], Usage | None]  # counters -> usage; None: they are not this provider's
    write: Callable[[Usage], dict[str, object]]  # usage -> a report, as the provider would send it
    hour: re.Pattern[bytes] | None = None  # in a request that wants its cache kept for an hour

    def collect(self, event: object) -> dict[str, int]:
        """The counters of an answer or an event."""
        if not isinstance(event, Mapping):
            return {}
        found: dict[str, int] = {}
        for place in (event, *(event.get(name) for name in self.places)):
            report = as_object(place).get(self.report)
            if isinstance(report, Mapping):
                found.update(self.read_report(report))
        return found

    def read_report(self, report: Mapping[str, Any]) -> dict[str, int]:
        """All counters. Reports of nothing, or of nonsense, do not undo an earlier report."""
        found = _read_numbers(report)
        for name, counters in self.details.items():
            inner = report.get(name)
            if isinstance(inner, Mapping):
                found |= {key: number for key, number in _read_numbers(inner).items() if key in counters}
        return found


def first_of(counters: Counters, *names: str) -> int:
    """The first of these counters that is there; else 0."""
    for name in names:
        if name in counters:
            return counters[name]
    return 0


def _read_numbers(report: Mapping[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, number in report.items():
        if type(number) is int and 0 < number <= _MOST:
            found[name] = number
    return found
