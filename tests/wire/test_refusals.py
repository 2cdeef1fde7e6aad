"""What refusals say: limits of tokens per minute."""

from __future__ import annotations

import json

import pytest

from laconic.wire.rate_limits import RateLimits, with_limit
from laconic.wire.refusals import named_limit

_SAID = [
    (
        "Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30,000, Used 21000, "
        "Requested 15000. Please try again in 12s.",
        30_000,
    ),
    ("Rate limit reached for model `llama` on tokens per minute (TPM): Limit 6000, Used 5900, Requested 900.", 6_000),
    (
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
        40_000,
    ),
    (
        "You exceeded your current quota. * Quota exceeded for metric: "
        "generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 250000, model: x",
        250_000,
    ),
    ("Rate limit reached on tokens per day (TPD): Limit 500000, Used 500000.", None),
    ("Rate limit reached on requests per min (RPM): Limit 3, Used 3.", None),
    ("busy", None),
]


@pytest.mark.feature("S3")
@pytest.mark.parametrize(("words", "limit"), _SAID)
def test_a_refusal_that_names_its_limit_of_tokens_per_minute_is_understood(words: str, limit: int | None) -> None:
    assert named_limit(429, json.dumps({"error": {"message": words}}).encode()) == limit


@pytest.mark.feature("S3")
@pytest.mark.parametrize(
    ("period", "dimensions", "limit"),
    [
        ("Minute", {}, 180_000),
        ("Minute", {"quotaDimensions": {"model": "gemini-3-pro", "location": "global"}}, 180_000),
        ("Day", {}, None),
    ],
)
def test_a_refusal_that_names_its_limit_in_its_details_alone_is_understood(
    period: str, dimensions: dict[str, object], limit: int | None
) -> None:
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count",
        "quotaId": f"GenerateContentPaidTierInputTokensPerModelPer{period}",
        **dimensions,
        "quotaValue": "180000",
    }
    detail = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded", "details": [detail]}
    assert named_limit(429, json.dumps({"error": error}).encode()) == limit
    assert named_limit(429, json.dumps([{"error": error}]).encode()) == limit


def test_only_a_refusal_for_its_rate_names_a_limit() -> None:
    assert named_limit(400, json.dumps({"error": {"message": _SAID[0][0]}}).encode()) is None


def test_headers_count_before_words() -> None:
    assert with_limit(None, 30_000) == RateLimits(tokens=30_000)
    assert with_limit(RateLimits(retry_after=7.0), 30_000) == RateLimits(tokens=30_000, retry_after=7.0)
    assert with_limit(RateLimits(tokens=50_000), 30_000) == RateLimits(tokens=50_000)
    assert with_limit(None, None) is None
