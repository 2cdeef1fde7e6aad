"""What OpenAI's chat completions reports about the cost of an answer."""

from __future__ import annotations

from typing import Final

from laconic.wire.usage import Counters, Usage, UsageFields, first_of


def record(counters: Counters, hour: bool) -> Usage | None:
    """One counter for the prompt; what was read from a cache is part of it."""
    if not counters.keys() & {"prompt_tokens", "completion_tokens"}:
        return None
    prompt = first_of(counters, "prompt_tokens")
    read = min(first_of(counters, "cached_tokens", "prompt_cache_hit_tokens"), prompt)
    written = min(first_of(counters, "cache_write_tokens"), prompt - read)
    return Usage(prompt - read - written, read, written, first_of(counters, "completion_tokens"))


def write(usage: Usage) -> dict[str, object]:
    """A report of this usage."""
    cached = {"cached_tokens": usage.cache_read}
    return {"prompt_tokens": usage.prompt, "prompt_tokens_details": cached, "completion_tokens": usage.output}


USAGE: Final = UsageFields(
    report="usage",
    details={"prompt_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"})},
    output=("completion_tokens",),
    record=record,
    write=write,
)
