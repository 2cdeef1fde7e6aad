"""Anthropic's limits of tokens and requests: the headers that state them, and what counts."""

from __future__ import annotations

import re
from typing import Final

from laconic.models.find_model import find_model
from laconic.wire.provider_format import RateLimitRules


def counts_cached(model: str) -> bool:
    """Cache reads do not count against a limit of tokens, but for models before Claude 3.7."""
    return find_model(model).counts_cache_reads


RATE_LIMITS: Final = RateLimitRules(
    headers={
        "tokens": ("anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-tokens-limit"),
        "tokens_left": ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-tokens-remaining"),
        "tokens_reset": ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-tokens-reset"),
        "requests": ("anthropic-ratelimit-requests-limit",),
        "requests_left": ("anthropic-ratelimit-requests-remaining",),
        "requests_reset": ("anthropic-ratelimit-requests-reset",),
        "input_only": ("anthropic-ratelimit-input-tokens-remaining",),
    },
    counts_cached=counts_cached,
    per_minute=(re.compile(r"rate limit of (?P<limit>\d{1,12}) (?:input )?tokens per minute"),),
)
