"""How central symbols are: how many files use a name, shared among all that have it. For ranking, not for answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from laconic.index.resolve.code import Code
from laconic.index.store import Symbol

_FAN_OUT: Final = 12  # definitions that share a name; with more of them a use says nothing about any


def files_using(code: Code, names: Iterable[str]) -> dict[str, int]:
    """In how many files each name is used, in whatever case."""
    return code.files_using(names)


def centrality(code: Code, symbols: Iterable[Symbol]) -> dict[int, float]:
    """A number per symbol, 0 for what nobody uses or everybody has; compare within one index only."""
    symbols = list(symbols)
    used = files_using(code, (symbol.name for symbol in symbols))
    scores: dict[int, float] = {}
    for symbol in symbols:
        rivals = len(code.find_named(symbol.name))
        scores[symbol.id] = math.log2(1 + used[symbol.name]) / rivals if 0 < rivals <= _FAN_OUT else 0.0
    return scores
