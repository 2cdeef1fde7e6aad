"""What a rewrite costs and what it saves, in money. Prices of providers are data; nothing here looks at content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec


class Price(msgspec.Struct, frozen=True):
    """A provider's prices relative to a plain input token, and the rules of its cache."""

    read: float  # a token that is read from the cache
    write: float  # a token that is written to it
    lifetime: float  # seconds that an entry lives after its last use
    smallest: int  # tokens from which a prefix is cached at all
    plain: float = 1.0  # a token that is not cached
    dollars: float = 3.0  # per million plain input tokens, for reports
    lookback: int = 20  # blocks behind a mark in which an earlier prefix is found
    output: float = 5.0  # a token of an answer


# Read in this order: the first prefix that a model's name has (after `provider/`) decides.
PRICES: Final[tuple[tuple[str, Price], ...]] = (
    ("claude-opus", Price(0.1, 1.25, 300, 1024, dollars=5.0)),
    ("claude-haiku", Price(0.1, 1.25, 300, 2048, dollars=1.0)),
    ("claude", Price(0.1, 1.25, 300, 1024, dollars=3.0)),
    ("gpt-5", Price(0.1, 1.0, 600, 1024, dollars=1.25, output=8.0)),
    ("gpt-4.1", Price(0.25, 1.0, 600, 1024, dollars=2.0)),
    ("gpt-4o", Price(0.5, 1.0, 600, 1024, dollars=2.5)),
    ("o", Price(0.25, 1.0, 600, 1024, dollars=2.0)),
    ("gemini", Price(0.1, 1.0, 300, 2048, dollars=1.25, output=8.0)),
    ("deepseek", Price(0.1, 1.0, 3600, 64, dollars=0.28)),
    ("kimi", Price(0.25, 1.0, 3600, 1024, dollars=0.6)),
    ("glm", Price(0.2, 1.0, 3600, 1024, dollars=0.6)),
    ("grok", Price(0.25, 1.0, 600, 1024, dollars=3.0)),
)
UNKNOWN: Final = Price(0.1, 1.25, 300, 1024)
UNCACHED: Final = Price(1.0, 1.0, 0, 1 << 60)


def price_of(model: str) -> Price:
    """The prices for a model; an unknown one is priced like the dearest cache, which asks for the most caution."""
    name = model.lower().rsplit("/", 1)[-1]
    for prefix, price in PRICES:
        if name.startswith(prefix) and (len(prefix) > 1 or name[1:2].isdigit()):
            return price
    return UNKNOWN


class Saving(msgspec.Struct, frozen=True):
    """Tokens that one block gives back, and the tokens from that block to the end of what is cached."""

    tokens: float
    behind: float
    place: int = 0


class Weights(msgspec.Struct, frozen=True):
    """How careful the arithmetic is."""

    caution: float = 1.2  # the price of the rewrite is multiplied by this: the future is a guess
    least: float = 1500.0  # tokens' worth that an event must gain
    share: float = 0.13  # of the whole history that an event must remove
    growth: float = 0.2  # share by which a history must have grown since the last event
    apart: int = 5000  # and tokens
    horizon: float = 1.0  # turns that follow, as a share of the turns so far
    fewest: int = 8
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
    rewrite = (price.write - price.read) * rewritten if warm else 0.0
    return saved - recall - weights.caution * rewrite


def best_start(
    savings: Sequence[Saving], turns: float, price: Price, weights: Weights, *, warm: bool, context: int = 0
) -> int | None:
    """The place of the block from which (in order) to remove on; None when no choice gains enough.

    `context` is the size of the whole history: for a small part of it no event is worth its risk.
    A rewrite costs the same wherever the first change stands before a block, so all savings behind it join in.
    """
    best, start, removed, most = weights.least, None, 0.0, 0.0
    for number in range(len(savings) - 1, -1, -1):
        removed += savings[number].tokens
        rewritten = max(0.0, savings[number].behind - removed)
        worth = gain(removed, rewritten, turns, price, weights, warm=warm)
        if worth > best:
            best, start, most = worth, savings[number].place, removed
    return start if most >= weights.share * context else None
