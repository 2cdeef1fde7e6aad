"""What a provider says is left of a rate limit, read from the headers of an answer, as one record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Final

import msgspec

from laconic.wire.formats import FORMATS

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_EPOCH: Final = 10**9  # a larger number is a point in time, not a duration
_EPOCH_MS: Final = 10**12
_SMALLEST: Final = 1_024  # tokens: nobody could ask anything under a smaller limit, whatever somebody says
_OF_TOKENS: Final = ("tokens", "tokens_left", "tokens_reset")


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


_RETRY: Final = ("retry-after-ms", "retry-after")


def counts_cached(format: str, model: str) -> bool:
    """Whether a prompt's tokens that were read from a cache count against the limit of tokens per minute.

    Each provider's file says it; for a format that we do not know they count.
    """
    return format not in FORMATS or FORMATS[format].rate_limits.counts_cached(model)


def limits_of(headers: Mapping[str, str], now: float) -> RateLimits | None:
    """The limits in the headers of an answer (names in lower case); None when it says nothing about them."""
    found: dict[str, int | float | bool] = {}
    for field in RateLimits.__struct_fields__:
        for name in _names_of(field):
            if name in headers and (read := _read(field, name, headers[name], now)) is not None:
                found[field] = read
                break
    if found.get("tokens", _SMALLEST) < _SMALLEST:
        for field in _OF_TOKENS:
            found.pop(field, None)
    if found and any(name in headers for name in _names_of("input_only")):
        found["input_only"] = True
    if found:
        return msgspec.convert(found, RateLimits)
    return None


def with_limit(limits: RateLimits | None, tokens: int | None) -> RateLimits | None:
    """What headers said, with the tokens per minute that a refusal named where they did not say."""
    if tokens is None or (limits is not None and limits.tokens):
        return limits
    return msgspec.structs.replace(limits or RateLimits(), tokens=tokens)


@cache
def _names_of(field: str) -> tuple[str, ...]:
    """The headers that may hold a field, in the words of all providers."""
    found: list[str] = []
    for format in FORMATS.values():
        found += format.rate_limits.headers.get(field, ())
    if field == "retry_after":
        found += _RETRY
    return tuple(found)


def _read(field: str, name: str, text: str, now: float) -> int | float | None:
    if field.endswith("_reset") or field == "retry_after":
        seconds = _seconds(text.strip(), now)
        if seconds is not None and name.endswith("-ms"):
            return seconds / 1000
        return seconds
    match = re.match(r"\s*([0-9]{1,15})", text)
    if match:
        return int(match[1])
    return None


def _seconds(text: str, now: float) -> float | None:
    """A duration (`6m0s`, `1.5`), or the time until a date or a point in time."""
    if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text):
        number = float(text)
        if number >= _EPOCH_MS:
            return max(0.0, number / 1000 - now)
        if number >= _EPOCH:
            return max(0.0, number - now)
        return number
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
