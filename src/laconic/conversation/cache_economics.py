"""What a rewrite costs and what it saves, in plain tokens. Nothing here looks at content."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from laconic.models.model import Price


class Saving(msgspec.Struct, frozen=True):
    """Tokens that one block gives back, and the tokens from that block to the end of what is cached."""

    tokens: float
    behind: float
    place: int = 0


class Weights(msgspec.Struct, frozen=True):
    """How careful the arithmetic is."""

    caution: float = 1.0  # the price of the rewrite is multiplied by this: the future is a guess
    least: float = 1500.0  # tokens' worth that an event must gain
    share: float = 0.4  # of the whole history that an event must remove while the cache is warm
    task_share: float = 0.13  # the same of one that a completed task brings about
    growth: float = 0.6  # share by which a history must have grown since the last event
    apart: int = 5000  # and tokens
    horizon: float = 1.0  # turns that follow, as a share of the turns so far
    fewest: int = 30
    most: int = 80
    recall: float = 0.02  # share of what is left out that is asked for again, at the price of a new result


def turns_to_come(turn: int, weights: Weights) -> float:
    """A session that has lasted long will last longer: as many turns as there were, within bounds."""
    return min(float(weights.most), max(float(weights.fewest), weights.horizon * turn))


def gain(removed: float, rewritten: float, turns: float, price: Price, weights: Weights, *, warm: bool) -> float:
    """What removing tokens is worth, in plain tokens: reads saved less the rewrite and less likely recalls."""
    read = price.read if warm else price.plain
    saved = price.read * removed * turns + (0.0 if warm else (price.write - price.read) * removed)
    recall = weights.recall * removed * (price.write + read)
    if warm:
        rewrite = (price.write - price.read) * rewritten
    else:
        rewrite = 0.0
    return saved - recall - weights.caution * rewrite


def best_start(
    savings: Sequence[Saving], turns: float, price: Price, weights: Weights, *, warm: bool, enough: float = 0.0
) -> int | None:
    """The place of the block from which (in order) to remove on; None when no choice gains enough.

    `enough`: tokens that must go while the cache is warm; for a small part of a history no event is worth its risk.
    A rewrite costs the same wherever the first change stands before a block, so all savings behind it join in.
    """
    best, start, removed, most = weights.least if warm else 0.0, None, 0.0, 0.0
    for number in range(len(savings) - 1, -1, -1):
        removed += savings[number].tokens
        rewritten = max(0.0, savings[number].behind - removed)
        worth = gain(removed, rewritten, turns, price, weights, warm=warm)
        if worth > best:
            best, start, most = worth, savings[number].place, removed
    if warm and most < enough:
        return None
    return start
