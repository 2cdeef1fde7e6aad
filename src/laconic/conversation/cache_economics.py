"""What a rewrite costs and what it saves, in plain tokens. Nothing here looks at content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from laconic.models.model import Price


class BlockSaving(msgspec.Struct, frozen=True):
    """Tokens that one block gives back, and the tokens from that block to the end of what is cached."""

    tokens: float
    behind: float
    place: int = 0


class CacheWeights(msgspec.Struct, frozen=True):
    """How careful the arithmetic is."""

    # Turns within which the rewrite of a warm cache must pay for itself. A session can end at any turn, and waiting
    # makes the same rewrite remove more: so this is much less than the turns that are likely to come.
    payback: float = 8.0
    # The same when a task was completed: what belongs to it does not become more by waiting.
    task_payback: float = 30.0
    least: float = 1000.0  # tokens that an event must remove while the cache is warm
    apart: int = 3000  # tokens by which a history must have grown since the last event: what ages alone can wait
    horizon: float = 1.0  # turns that follow, as a share of the turns so far
    fewest: int = 30
    most: int = 80
    recall: float = 0.02  # share of what is left out that is asked for again, at the price of a new result


def turns_to_come(turn: int, weights: CacheWeights) -> float:
    """A session that has lasted long will last longer: as many turns as there were, within bounds."""
    return min(float(weights.most), max(float(weights.fewest), weights.horizon * turn))


def gain(removed: float, rewritten: float, turns: float, price: Price, weights: CacheWeights, *, warm: bool) -> float:
    """What removing tokens is worth, in plain tokens: reads saved less the rewrite and less likely recalls."""
    saved = price.read * removed * turns
    if warm:
        recall = weights.recall * removed * (price.write + price.read)
        return saved - recall - (price.write - price.read) * rewritten
    recall = weights.recall * removed * (price.write + price.plain)
    return saved - recall + (price.write - price.read) * removed


def best_start(
    savings: Sequence[BlockSaving], turns: float, price: Price, weights: CacheWeights, *, warm: bool, payback: float
) -> int | None:
    """The place of the block from which (in order) to remove on; None when no choice gains enough.

    `payback`: turns within which the rewrite of a warm cache must pay for itself.
    A rewrite costs the same wherever the first change stands before a block, so all savings behind it join in.
    """
    best, start, removed = 0.0, None, 0.0
    for number in range(len(savings) - 1, -1, -1):
        removed += savings[number].tokens
        rewritten = max(0.0, savings[number].behind - removed)
        if warm and not _pays_soon(removed, rewritten, payback, price, weights):
            continue
        worth = gain(removed, rewritten, turns, price, weights, warm=warm)
        if worth > best:
            best, start = worth, savings[number].place
    return start


def could_pay(blocks: Iterable[tuple[float, float]], price: Price, weights: CacheWeights, payback: float) -> bool:
    """Whether the rewrite of a warm cache could pay for itself within so many turns, wherever it began.

    `blocks`: the tokens of each, and what it gives back at most; the last comes first.
    """
    removed = behind = 0.0
    for tokens, given in blocks:
        behind += tokens
        removed += given
        if given and _pays_soon(removed, max(0.0, behind - removed), payback, price, weights):
            return True
    return False


def _pays_soon(removed: float, rewritten: float, payback: float, price: Price, weights: CacheWeights) -> bool:
    """Whether the reads that are saved in so many turns cover what is written anew."""
    if removed < weights.least:
        return False
    return (price.write - price.read) * rewritten <= price.read * removed * payback
