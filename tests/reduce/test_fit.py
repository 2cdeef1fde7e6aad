"""Fitting items into a budget: the laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.reduce.fit import LEFT_OUT, Fitted, Item, fit

COSTS = st.lists(st.integers(1, 400), min_size=1, max_size=3).map(lambda costs: tuple(sorted(costs)))
ITEMS = st.lists(st.builds(Item, COSTS, st.sampled_from(["a.py", "b.py", "c.py"])), max_size=60)
HEADERS = {"a.py": 5, "b.py": 9, "c.py": 0}


def real_cost(items: list[Item], fitted: Fitted) -> int:
    shown = [(item, level) for item, level in zip(items, fitted.levels, strict=True) if level != LEFT_OUT]
    return sum(i.costs[level] for i, level in shown) + sum(HEADERS[g] for g in {i.group for i, _ in shown})


@pytest.mark.feature("U2")
@given(ITEMS, st.integers(0, 6000), st.integers(0, 3), st.sampled_from([1.0, 2.0, 4.0, 50.0]))
def test_never_over_and_the_cost_is_what_is_shown(
    items: list[Item], budget: int, minimum: int, spread: float
) -> None:
    fitted = fit(items, budget, group_costs=HEADERS, minimum=minimum, footer=7, spread=spread)
    assert fitted.cost == real_cost(items, fitted)
    assert fitted.cost <= budget or fitted.cost == 0
    assert fitted.whole or fitted.cost <= max(0, budget - 7)


@pytest.mark.feature("U2")
@given(ITEMS, st.integers(0, 3))
def test_nothing_is_left_out_when_all_fits(items: list[Item], minimum: int) -> None:
    everything = Fitted(tuple(len(item.costs) - 1 for item in items), 0)
    total = real_cost(items, everything)
    assert fit(items, total, group_costs=HEADERS, minimum=minimum, footer=7).levels == everything.levels


@pytest.mark.feature("U2")
@given(ITEMS, st.integers(0, 4000), st.integers(1, 300), st.integers(0, 3))
def test_more_budget_never_shows_less(items: list[Item], budget: int, more: int, minimum: int) -> None:
    """Per item, not only in number: no item vanishes or shrinks, so nothing oscillates."""
    small = fit(items, budget, group_costs=HEADERS, minimum=minimum, footer=7)
    large = fit(items, budget + more, group_costs=HEADERS, minimum=minimum, footer=7)
    assert all(a <= b for a, b in zip(small.levels, large.levels, strict=True))


def test_best_first_and_group_minimums() -> None:
    items = [Item((10,), "a.py")] * 8 + [Item((10,), "b.py")] * 2
    assert fit(items, 50).levels == (0, 0, 0, 0, 0, *[LEFT_OUT] * 5)
    assert fit(items, 50, minimum=1).levels == (0, 0, 0, 0, *[LEFT_OUT] * 4, 0, LEFT_OUT)


def test_one_monster_does_not_hide_the_rest() -> None:
    items = [Item((10,)), Item((5000,)), *[Item((10,))] * 8]
    assert fit(items, 100).shown == 9


def test_spread_trades_depth_for_breadth() -> None:
    items = [Item((10, 50))] * 10
    assert fit(items, 100, spread=1).levels[:3] == (1, 1, LEFT_OUT)
    assert fit(items, 100, spread=100).levels == (0,) * 10
