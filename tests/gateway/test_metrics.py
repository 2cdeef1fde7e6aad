"""The counters stay readable, whatever providers report."""

from __future__ import annotations

import math

import pytest
from tests.gateway.stage import Stage, play
from tests.gateway.test_proxy import CHAT

from laconic.gateway.metrics import Metrics
from laconic.gateway.scripted_upstream import ScriptedAnswer


def test_an_absurd_amount_does_not_spoil_a_counter() -> None:
    metrics = Metrics()
    metrics.add("laconic_output_tokens_total", 7)
    for absurd in (10**400, math.inf, -math.inf, math.nan, -1, 1e300):
        metrics.add("laconic_output_tokens_total", absurd)
    assert "laconic_output_tokens_total 7\n" in metrics.text()


def test_a_large_counter_keeps_its_last_digit() -> None:
    """Rounded to six digits it would stand still while it grows."""
    metrics = Metrics()
    metrics.add("laconic_output_tokens_total", 123_456_788)
    metrics.add("laconic_output_tokens_total")
    assert "laconic_output_tokens_total 123456789\n" in metrics.text()


@pytest.mark.parametrize("absurd", ["1" + "0" * 400, "-9", "1e999", "-1e999", "1e30"])
def test_the_numbers_are_served_after_an_absurd_usage(absurd: str) -> None:
    body = f'{{"usage":{{"input_tokens":{absurd},"output_tokens":{absurd}}}}}'.encode()

    async def scene(where: Stage) -> None:
        assert (await where.post("/v1/messages", CHAT))[2] == body
        for path in ("/metrics", "/laconic/sessions"):
            status, text = await where.get(path)
            assert status == 200
            assert b"inf" not in text

    play(scene, lambda _: ScriptedAnswer((body,)))
