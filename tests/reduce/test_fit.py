"""Fitting items into a budget: the laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.reduce.fit import LEFT_OUT, FitItem, FitResult, fit

COSTS = st.lists(st.integers(1, 400), min_size=1, max_size=3).map(lambda costs: tuple(sorted(costs)))
ITEMS = st.lists(st.builds(FitItem, COSTS, st.sampled_from([0, 5, 9])), max_size=60)


def real_cost(items: list[FitItem], fitted: FitResult) -> int:
    shown = [(item, level) for item, level in zip(items, fitted.levels, strict=True) if level != LEFT_OUT]
    return sum(item.costs[level] + item.heading for item, level in shown)


@pytest.mark.feature("U2")
@given(ITEMS, st.integers(0, 6000), st.sampled_from([1.0, 2.0, 4.0, 50.0]))
def test_never_over_and_the_cost_is_what_is_shown(items: list[FitItem], budget: int, spread: float) -> None:
    fitted = fit(items, budget, footer=7, spread=spread)
    assert fitted.cost == real_cost(items, fitted)
    assert fitted.cost <= budget or fitted.cost == 0
    assert fitted.whole or fitted.cost <= max(0, budget - 7)


@pytest.mark.feature("U2")
@given(ITEMS)
def test_nothing_is_left_out_when_all_fits(items: list[FitItem]) -> None:
    everything = FitResult(tuple(len(item.costs) - 1 for item in items), 0)
    total = real_cost(items, everything)
    assert fit(items, total, footer=7).levels == everything.levels


@pytest.mark.feature("U2")
@given(ITEMS, st.integers(0, 4000), st.integers(1, 300))
def test_more_budget_never_shows_less(items: list[FitItem], budget: int, more: int) -> None:
    """Per item, not only in number: no item vanishes or shrinks, so nothing oscillates."""
    small = fit(items, budget, footer=7)
    large = fit(items, budget + more, footer=7)
    assert all(a <= b for a, b in zip(small.levels, large.levels, strict=True))


@pytest.mark.feature("U2", "U8")
@given(ITEMS, st.integers(0, 4000), st.sampled_from([1.0, 4.0, 50.0]))
def test_what_is_left_out_is_always_the_rest(items: list[FitItem], budget: int, spread: float) -> None:
    """So that whoever continues after the shown ones misses none and sees none twice."""
    levels = fit(items, budget, footer=7, spread=spread).levels
    shown = [level != LEFT_OUT for level in levels]
    assert shown == sorted(shown, reverse=True)


def test_spread_trades_depth_for_breadth() -> None:
    items = [FitItem((10, 50))] * 10
    assert fit(items, 100, spread=1).levels[:3] == (1, 1, LEFT_OUT)
    assert fit(items, 100, spread=100).levels == (0,) * 10
