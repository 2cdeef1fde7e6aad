"""What a provider says is left of a rate limit, read from the headers of an answer, as one record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from laconic.models.find import find_model

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_EPOCH: Final = 10**9  # a larger number is a point in time, not a duration
_EPOCH_MS: Final = 10**12


class RateLimits(msgspec.Struct, frozen=True):
    """A quota of tokens and requests; None where the provider does not say."""

    tokens: int | None = None
    tokens_left: int | None = None
    tokens_reset: float | None = None  # seconds from now
    requests: int | None = None
    requests_left: int | None = None
    requests_reset: float | None = None
    retry_after: float | None = None  # seconds
    input_only: bool = False  # output has a limit of its own


# Names by provider: Anthropic, OpenAI and its like (Azure, Groq, vLLM), Mistral, the IETF draft and OpenRouter.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "tokens": (
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-tokens-limit",
        "x-ratelimit-limit-tokens",
        "x-ratelimitbysize-limit-minute",
        "x-ratelimit-limit-tokens-minute",
    ),
    "tokens_left": (
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-tokens-remaining",
        "x-ratelimit-remaining-tokens",
        "x-ratelimitbysize-remaining-minute",
        "x-ratelimit-remaining-tokens-minute",
    ),
    "tokens_reset": (
        "anthropic-ratelimit-input-tokens-reset",
        "anthropic-ratelimit-tokens-reset",
        "x-ratelimit-reset-tokens",
    ),
    "requests": (
        "anthropic-ratelimit-requests-limit",
        "x-ratelimit-limit-requests",
        "x-ratelimit-limit",
        "ratelimit-limit",
    ),
    "requests_left": (
        "anthropic-ratelimit-requests-remaining",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-remaining",
        "ratelimit-remaining",
    ),
    "requests_reset": (
        "anthropic-ratelimit-requests-reset",
        "x-ratelimit-reset-requests",
        "x-ratelimit-reset",
        "ratelimit-reset",
    ),
    "retry_after": ("retry-after-ms", "retry-after"),
}


_INPUT_ONLY: Final = "anthropic-ratelimit-input-tokens-remaining"


def counts_cached(format: str, model: str) -> bool:
    """Whether a prompt's tokens that were read from a cache count against the limit of tokens per minute.

    With Anthropic they do not, but for the models before Claude 3.7; with OpenAI, Gemini and their like they do.
    """
    return format != "anthropic" or find_model(model).counts_cache_reads


def limits_of(headers: Mapping[str, str], now: float) -> RateLimits | None:
    """The limits in the headers of an answer (names in lower case); None when it says nothing about them."""
    found: dict[str, int | float | bool] = {}
    for field, names in _NAMES.items():
        for name in names:
            if name in headers and (read := _read(field, name, headers[name], now)) is not None:
                found[field] = read
                break
    if found and _INPUT_ONLY in headers:
        found["input_only"] = True
    return msgspec.convert(found, RateLimits) if found else None


def _read(field: str, name: str, text: str, now: float) -> int | float | None:
    if field.endswith("_reset") or field == "retry_after":
        seconds = _seconds(text.strip(), now)
        return seconds / 1000 if seconds is not None and name.endswith("-ms") else seconds
    match = re.match(r"\s*([0-9]{1,15})", text)
    return int(match[1]) if match else None


def _seconds(text: str, now: float) -> float | None:
    """A duration (`6m0s`, `1.5`), or the time until a date or a point in time."""
    if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text):
        number = float(text)
        if number >= _EPOCH_MS:
            return max(0.0, number / 1000 - now)
        return max(0.0, number - now) if number >= _EPOCH else number
    if re.fullmatch(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+", text):
        return sum(float(count) * _UNITS[unit] for count, unit in _SPAN.findall(text))
    return _until(text, now)


def _until(text: str, now: float) -> float | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return max(0.0, read(text).timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            continue
    return None
