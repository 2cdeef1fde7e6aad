"""Learning a model's factor from the usage that its provider reports."""

from __future__ import annotations

import pytest

from laconic.tokens.calibrate import Calibration
from laconic.tokens.count import counter


@pytest.mark.feature("J1")
def test_the_factor_approaches_what_the_provider_reports() -> None:
    learned = Calibration(factor=1.18)
    for _ in range(40):
        learned = learned.learn(counted=10_000, reported=13_000)
    assert learned.factor == pytest.approx(1.3, abs=0.01)
    text = "def main(): return 1\n" * 500
    assert counter("claude-sonnet-4-5", learned)(text) == pytest.approx(counter("gpt-5")(text) * 1.3, rel=0.01)


@pytest.mark.parametrize(
    ("counted", "reported"), [(10_000, 0), (10_000, -5), (50, 60), (10_000, 90_000), (10_000, 100)]
)
def test_senseless_reports_change_nothing(counted: int, reported: int) -> None:
    """Zero, tiny or wildly different reports say nothing about the tokenizer."""
    learned = Calibration(1.2, 5)
    assert learned.learn(counted, reported) == learned


def test_models_with_a_public_vocabulary_are_never_corrected() -> None:
    assert counter("gpt-5", Calibration(1.5, 100))("hello world") == counter("gpt-5")("hello world")
