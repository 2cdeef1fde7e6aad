"""Rate-limit headers of every provider become one record."""

from __future__ import annotations

import pytest

from laconic.wire.rate_limits import RateLimits, counts_cached, limits_of

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {
                "x-ratelimit-limit-tokens": "150000",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-requests": "59",
                "x-ratelimit-reset-requests": "20ms",
            },
            RateLimits(150000, 149984, 360.0, None, 59, 0.02),
        ),
        (
            {
                "anthropic-ratelimit-input-tokens-limit": "400000",
                "anthropic-ratelimit-input-tokens-remaining": "1000",
                "anthropic-ratelimit-input-tokens-reset": "2023-11-14T22:13:50Z",
                "anthropic-ratelimit-tokens-remaining": "9",
                "retry-after": "12",
            },
            RateLimits(400000, 1000, 30.0, retry_after=12.0, input_only=True),
        ),
        (
            {"x-ratelimitbysize-limit-minute": "500000", "x-ratelimitbysize-remaining-minute": "4242"},
            RateLimits(500000, 4242),
        ),
        (
            {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000005000"},
            RateLimits(requests=20, requests_left=0, requests_reset=5.0),
        ),
        ({"retry-after-ms": "1500"}, RateLimits(retry_after=1.5)),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}, RateLimits(retry_after=10.0)),
        ({"ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "7"}, RateLimits(requests=100, requests_left=7)),
    ],
    ids=["openai", "anthropic", "mistral", "openrouter", "milliseconds", "date", "ietf"],
)
def test_headers(headers: dict[str, str], expected: RateLimits) -> None:
    assert limits_of(headers, NOW) == expected


@pytest.mark.parametrize("text", ["", "soon", "-5", "nan", "9" * 400, "x" * 10_000, "1e9", "٣"])
def test_nonsense_is_not_believed(text: str) -> None:
    found = limits_of({"x-ratelimit-remaining-tokens": text, "retry-after": text}, NOW)
    assert found is None or found.retry_after is None


def test_other_headers_say_nothing() -> None:
    assert limits_of({"content-type": "text/plain"}, NOW) is None


@pytest.mark.parametrize(
    ("format", "model", "counts"),
    [
        ("anthropic", "claude-sonnet-4-5", False),
        ("anthropic", "claude-opus-4-1-20250805", False),
        ("anthropic", "claude-3-7-sonnet-latest", False),
        ("anthropic", "us.anthropic.claude-3-5-haiku-20241022-v1:0", True),
        ("anthropic", "claude-3-opus-20240229", True),
        ("anthropic", "claude-2.1", True),
        ("chat", "gpt-5", True),
        ("responses", "gpt-5-codex", True),
        ("gemini", "gemini-2.5-pro", True),
    ],
)
def test_reads_from_a_cache_count_against_a_limit_but_for_anthropics_later_models(
    format: str, model: str, counts: bool
) -> None:
    assert counts_cached(format, model) is counts
