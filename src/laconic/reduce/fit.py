"""Decide which items are shown, and at which size, so that they fit a budget of tokens.

Every item has renderings from smallest to largest, each with its cost. Showing an item, and enlarging it, are steps;
the steps are put into one order that does not depend on the budget, and as many as fit are taken from its front.
Hence the laws: never over; nothing left out when all fits; more budget never shows fewer items or smaller ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

LEFT_OUT: Final = -1
_OUTSIZE: Final = 16  # an item whose smallest form is this many times the median waits for the others


@dataclass(frozen=True, slots=True)
class Item:
    """Something to show: the cost of each rendering, smallest first."""

    costs: tuple[int, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The outcome: per item the rendering to show (an index into its costs), or LEFT_OUT."""

    levels: tuple[int, ...]
    cost: int

    @property
    def shown(self) -> int:
        return sum(level != LEFT_OUT for level in self.levels)

    @property
    def whole(self) -> bool:
        return LEFT_OUT not in self.levels


def fit(
    items: Sequence[Item],
    budget: int,
    *,
    group_costs: Mapping[str, int] | None = None,
    minimum: int = 0,
    footer: int = 0,
    spread: float = 4.0,
) -> Fitted:
    """Fit items, best first, into a budget.

    `group_costs` is paid once when the first item of a group appears (a path line, say). The first `minimum` items of
    every group come before all others. `footer` is set aside when anything is left out. `spread` says how many
    further items are worth as much as enlarging one: 1 shows each item whole before the next, more goes for breadth.
    """
    headers = group_costs or {}
    full = sum(item.costs[-1] for item in items) + sum(headers.get(g, 0) for g in {i.group for i in items})
    if full <= budget:
        return Fitted(tuple(len(item.costs) - 1 for item in items), full)
    room = budget - footer
    levels = [LEFT_OUT] * len(items)
    opened: set[str] = set()
    used = 0
    for index, level in _steps(items, minimum, spread):
        costs, group = items[index].costs, items[index].group
        price = costs[level] - (costs[level - 1] if level else 0)
        if group not in opened:
            price += headers.get(group, 0)
        if price > 0 and used + price > room:
            break
        used += price
        levels[index] = level
        opened.add(group)
    return Fitted(tuple(levels), used)


def _steps(items: Sequence[Item], minimum: int, spread: float) -> list[tuple[int, int]]:
    """All steps (item, level) in the order in which they are taken, whatever the budget."""
    order = _introduction(items, minimum)
    tallest = max((len(item.costs) for item in items), default=0)
    keyed = []
    for rank, index in enumerate(order, 1):
        keyed.append((float(rank), index, 0))
    for level in range(1, tallest):
        stretch = spread**level
        for rank, i in enumerate(order, 1):
            if len(items[i].costs) > level:
                keyed.append((rank * stretch, i, level))
    keyed.sort(key=lambda step: step[0])  # stable: at equal rank a lower level comes first
    return [(index, level) for _, index, level in keyed]


def _introduction(items: Sequence[Item], minimum: int) -> list[int]:
    """The order in which items first appear: group minimums, then by rank, monsters last."""
    if not items:
        return []
    limit = _OUTSIZE * max(1.0, median(item.costs[0] for item in items))
    seen: dict[str, int] = {}
    first: list[int] = []
    rest: list[int] = []
    monsters: list[int] = []
    for index, item in enumerate(items):
        if item.costs[0] > limit:
            monsters.append(index)
            continue
        count = seen.get(item.group, 0)
        seen[item.group] = count + 1
        (first if count < minimum else rest).append(index)
    return first + rest + monsters
