"""What OpenAI's Responses API reports about the cost of an answer."""

from __future__ import annotations

from typing import Final

from laconic.wire.usage import Counters, Usage, UsageFields, first_of


def record(counters: Counters, hour: bool) -> Usage | None:
    """One counter for the prompt; what was read from a cache is part of it."""
    if not counters.keys() & {"input_tokens", "output_tokens"}:
        return None
    prompt = first_of(counters, "input_tokens")
    read = min(first_of(counters, "cached_tokens"), prompt)
    written = min(first_of(counters, "cache_write_tokens"), prompt - read)
    return Usage(prompt - read - written, read, written, first_of(counters, "output_tokens"))


def write(usage: Usage) -> dict[str, object]:
    """A report of this usage."""
    cached = {"cached_tokens": usage.cache_read}
    return {"input_tokens": usage.prompt, "input_tokens_details": cached, "output_tokens": usage.output}


USAGE: Final = UsageFields(
    report="usage",
    places=("response",),
    details={"input_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"})},
    output=("output_tokens",),
    record=record,
    write=write,
)
