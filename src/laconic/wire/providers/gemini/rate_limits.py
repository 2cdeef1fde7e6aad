"""Gemini's limits: no header states them, only a refusal does."""

from __future__ import annotations

import re
from typing import Final

from laconic.wire.provider_format import RateLimitRules

RATE_LIMITS: Final = RateLimitRules(
    per_minute=(
        re.compile(r"input_token_count limit: (?P<limit>\d{1,12})"),
        re.compile(r"input_token_count \w*tokens\w*perminute\b[\w. -]{0,200} (?P<limit>\d{1,12})\b"),
    ),
)
