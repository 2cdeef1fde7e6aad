"""What Gemini's generateContent reports about the cost of an answer."""

from __future__ import annotations

from typing import Final

from laconic.wire.usage import Counters, Usage, UsageFields, first_of


def record(counters: Counters, hour: bool) -> Usage | None:
    """One counter for the prompt; what was read from a cache is part of it. Thoughts are counted apart."""
    if not counters.keys() & {"promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"}:
        return None
    prompt = first_of(counters, "promptTokenCount") + first_of(counters, "toolUsePromptTokenCount")
    read = min(first_of(counters, "cachedContentTokenCount"), prompt)
    output = first_of(counters, "candidatesTokenCount") + first_of(counters, "thoughtsTokenCount")
    return Usage(input=prompt - read, cache_read=read, output=output)


def write(usage: Usage) -> dict[str, object]:
    """A report of this usage."""
    return {
        "promptTokenCount": usage.prompt,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output,
    }


USAGE: Final = UsageFields(
    report="usageMetadata",
    details={},
    output=("candidatesTokenCount",),
    record=record,
    write=write,
)
