"""Limits of OpenAI and its like (Azure, Groq, vLLM), of Mistral, of the IETF draft and OpenRouter."""

from __future__ import annotations

import re
from typing import Final

from laconic.wire.provider_format import RateLimitRules

RATE_LIMITS: Final = RateLimitRules(
    headers={
        "tokens": (
            "x-ratelimit-limit-tokens",
            "x-ratelimitbysize-limit-minute",
            "x-ratelimit-limit-tokens-minute",
        ),
        "tokens_left": (
            "x-ratelimit-remaining-tokens",
            "x-ratelimitbysize-remaining-minute",
            "x-ratelimit-remaining-tokens-minute",
        ),
        "tokens_reset": ("x-ratelimit-reset-tokens",),
        "requests": ("x-ratelimit-limit-requests", "x-ratelimit-limit", "ratelimit-limit"),
        "requests_left": ("x-ratelimit-remaining-requests", "x-ratelimit-remaining", "ratelimit-remaining"),
        "requests_reset": ("x-ratelimit-reset-requests", "x-ratelimit-reset", "ratelimit-reset"),
    },
    per_minute=(re.compile(r"tokens per min(?:ute)?\b[^:]{0,20}: limit:? (?P<limit>\d{1,12})"),),
)
