"""Fitting ten thousand items into a budget, against sorting them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from laconic.reduce.fit import FitItem, fit
from laconic.render.table import Cell
from laconic_benchmarks.report import Options, Report, at_most, versions

_ITEMS = 10_000
_ROUNDS = 15


def run(options: Options) -> Report:
    """Items with three sizes each, budgets from tight to ample."""
    chance = random.Random(4)
    items = []
    for number in range(_ITEMS):
        small = chance.randint(5, 40)
        sizes = (small, small + chance.randint(5, 60), small + chance.randint(70, 400))
        items.append(FitItem(sizes, heading=12 if number % 14 == 0 else 0))
    shuffled = chance.sample(items, len(items))
    sorting = _least(lambda: sorted(shuffled, key=lambda item: item.costs))
    rows: list[dict[str, Cell]] = []
    worst = 0.0
    for budget in (1_000, 10_000, 500_000, 2_000_000):
        taken = _least(lambda budget=budget: fit(items, budget, footer=20))  # type: ignore[misc]
        worst = max(worst, taken)
        shown = fit(items, budget, footer=20).shown
        rows.append({"budget": budget, "shown": shown, "ms": taken * 1000, "times sorting": taken / sorting})
    return Report(
        "fit",
        f"{_ITEMS} generated items of three sizes below 700 headings; sorting takes {sorting * 1000:.1f} ms",
        "none",
        tuple(rows),
        (at_most("times sorting the same items", worst / sorting, 5), at_most("ms per call", worst * 1000, 50)),
        versions=versions(),
    )


def _least(action: Callable[[], object]) -> float:
    """CPU seconds of the best round."""
    best = float("inf")
    for _ in range(_ROUNDS):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best
