"""What Anthropic's Messages API reports about the cost of an answer."""

from __future__ import annotations

import re
from typing import Final

from laconic.wire.usage import Counters, Usage, UsageFields, first_of

_FOREIGN: Final = frozenset({"cached_tokens", "cache_write_tokens"})  # counters of the Responses API
_SHORT: Final = "ephemeral_5m_input_tokens"
_LONG: Final = "ephemeral_1h_input_tokens"
_WRITTEN: Final = "cache_creation_input_tokens"
_READ: Final = "cache_read_input_tokens"


def record(counters: Counters, hour: bool) -> Usage | None:
    """Prompt tokens come in three counters that add up."""
    if not counters.keys() & {"input_tokens", "output_tokens", _READ, _WRITTEN} or counters.keys() & _FOREIGN:
        return None
    written = first_of(counters, _WRITTEN)
    is_told = _LONG in counters or _SHORT in counters
    long = first_of(counters, _LONG)
    if hour and not is_told:
        long = written
    return Usage(
        input=first_of(counters, "input_tokens"),
        cache_read=first_of(counters, _READ),
        cache_write=written,
        output=first_of(counters, "output_tokens"),
        long=min(long, written),
    )


def write(usage: Usage) -> dict[str, object]:
    """A report of this usage."""
    return {
        "input_tokens": usage.input,
        _READ: usage.cache_read,
        _WRITTEN: usage.cache_write,
        "cache_creation": {_SHORT: usage.cache_write - usage.long, _LONG: usage.long},
        "output_tokens": usage.output,
    }


USAGE: Final = UsageFields(
    report="usage",
    places=("message",),
    details={"cache_creation": frozenset({_LONG, _SHORT})},
    output=("output_tokens",),
    record=record,
    write=write,
    hour=re.compile(rb'"ttl"\s*:\s*"1h"'),
)
