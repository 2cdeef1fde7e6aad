"""Decide how many items are shown, and at which size, so that they fit a budget of tokens.

Every item has renderings from smallest to largest, each with its cost. Showing an item, and enlarging it, are steps;
the steps are put into one order that does not depend on the budget, and as many as fit are taken from its front.
Items appear in the order in which they are given, so that what is left out is always the rest of them.
Hence the laws: never over; nothing left out when all fits; more budget never shows fewer items or smaller ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LEFT_OUT: Final = -1


@dataclass(frozen=True, slots=True)
class FitItem:
    """Something to show: the cost of each rendering, smallest first, and of the line that must stand above it."""

    costs: tuple[int, ...]
    heading: int = 0


@dataclass(frozen=True, slots=True)
class FitResult:
    """The outcome: per item the rendering to show (an index into its costs), or LEFT_OUT."""

    levels: tuple[int, ...]
    cost: int

    @property
    def shown(self) -> int:
        """How many items are shown, from the first on."""
        return sum(level != LEFT_OUT for level in self.levels)

    @property
    def whole(self) -> bool:
        return LEFT_OUT not in self.levels


def fit(items: Sequence[FitItem], budget: int, *, footer: int = 0, spread: float = 4.0) -> FitResult:
    """Fit items, best first, into a budget.

    `footer` is set aside when anything is left out. `spread` says how many further items are worth as much as
    enlarging one: 1 shows each item whole before the next, more goes for breadth.
    """
    full = 0
    for item in items:
        full += item.costs[-1] + item.heading
    if full <= budget:
        return FitResult(tuple(len(item.costs) - 1 for item in items), full)
    room = budget - footer
    levels = [LEFT_OUT] * len(items)
    used = 0
    for index, level in _order_steps(items, spread):
        costs = items[index].costs
        if level:
            price = costs[level] - costs[level - 1]
        else:
            price = costs[0] + items[index].heading
        if price > 0 and used + price > room:
            break
        used += price
        levels[index] = level
    return FitResult(tuple(levels), used)


def _order_steps(items: Sequence[FitItem], spread: float) -> list[tuple[int, int]]:
    """All steps (item, level) in the order in which they are taken, whatever the budget."""
    tallest = max((len(item.costs) for item in items), default=0)
    keyed = []
    for rank in range(1, len(items) + 1):
        keyed.append((float(rank), rank - 1, 0))
    for level in range(1, tallest):
        stretch = spread**level
        for rank, item in enumerate(items, 1):
            if len(item.costs) > level:
                keyed.append((rank * stretch, rank - 1, level))
    keyed.sort(key=lambda step: step[0])  # stable: at equal rank a lower level comes first
    found: list[tuple[int, int]] = []
    for _, index, level in keyed:
        found.append((index, level))
    return found
