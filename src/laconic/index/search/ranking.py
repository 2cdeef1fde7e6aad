"""Rank symbols by the words of a question: field-weighted BM25 in the index, then what bm25 cannot see.

That is: tests and declarations without a body come later, longer functions a little earlier, and symbols of a file
that matches in several places help each other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from laconic.index.schema import file_of
from laconic.index.search.query import Scope
from laconic.index.search.terms import MOST, Rarity, Term, find_identifiers, find_paths
from laconic.index.search_words import fold
from laconic.index.store import Store, Symbol
from laconic.index.store.symbol_queries import find_symbols_named
from laconic.index.store.word_queries import match_words

# body, name, path, signature, doc. All are high: a word then counts nearly the same in a long body as in a short one.
WEIGHTS: Final = (6.0, 30.0, 6.0, 12.0, 12.0)
_POOL: Final = 1200  # rows that bm25 hands over
_NEIGHBOURS: Final = 0.4  # what the best symbols of a file lend to the others
_FADE: Final = 0.5  # each further symbol of a file lends half as much
_LONG: Final = 200  # lines; longer is no longer better
_LENGTH: Final = 0.1
_NAMED: Final = 0.2  # of the best score, for a symbol whose name the text writes as code
_PLACED: Final = 0.25  # the same for a file whose path the text mentions
_NAMESAKES: Final = 8  # symbols of one name that a text may mean


class RankedSymbol(NamedTuple):
    """A symbol, or the part of a file that belongs to none, with its score."""

    score: float
    path: str
    file_class: str
    symbol: Symbol | None
    id: int


@dataclass(frozen=True, slots=True)
class Priors:
    """What a caller prefers: factors by kind of symbol and class of file."""

    kinds: Mapping[str, float]
    classes: Mapping[str, float]
    file_row: float = 0.0  # for what stands outside all definitions; 0 leaves it out


def rank(store: Store, wanted: list[Term], scope: Scope, priors: Priors, text: str = "") -> list[RankedSymbol]:
    """All that matches, best first. `text` may name symbols and paths outright."""
    rows = match_terms(store, _most_telling(store, wanted), scope, _POOL)
    best = max((row.score for row in rows), default=1.0)
    rows += find_named(store, find_identifiers(text), scope, {row.id for row in rows})
    exact = set()
    for name in find_identifiers(text):
        exact.add(fold(name))
    places = tuple(find_paths(text))
    scored = []
    for row in rows:
        scored.append(_with_priors(row, priors, best, exact, places))
    shared = sum_by_file(scored)
    found = []
    for row in scored:
        found.append(row._replace(score=row.score + _NEIGHBOURS * shared[file_of(row.id)]))
    found = [row for row in found if row.symbol is not None or priors.file_row > 0]
    return sorted(found, key=lambda row: (-row.score, row.path, row.id))


def match_terms(store: Store, wanted: list[Term], scope: Scope, most: int) -> list[RankedSymbol]:
    """The rows that bm25 likes best."""
    if not wanted:
        return []
    # A phrase that stands twice in the query counts twice.
    query = " OR ".join(f'"{term.word}"' for term in wanted for _ in range(max(1, round(term.weight))))
    found: list[RankedSymbol] = []
    for row in match_words(store, query, WEIGHTS, inside=scope.ids, kinds=scope.kinds, most=most):
        found.append(
            RankedSymbol(score=row.score, path=row.path, file_class=row.file_class, symbol=row.symbol, id=row.id)
        )
    return found


def _most_telling(store: Store, wanted: list[Term]) -> list[Term]:
    """Of a long text the words that tell most: rare ones, and those of its title."""
    if len(wanted) <= MOST:
        return wanted
    rarity = Rarity(store)
    counts = {}
    for term in wanted[: 3 * MOST]:
        counts[term] = rarity.count(term.word)
    worth = []
    for term, count in counts.items():
        if count:
            worth.append((term.weight * math.log(1 + rarity.total / count), term))
    found: list[Term] = []
    for _, term in sorted(worth, reverse=True)[:MOST]:
        found.append(term)
    return found


def find_named(store: Store, names: Iterable[str], scope: Scope, known: set[int]) -> list[RankedSymbol]:
    """Symbols that the text names but that its words did not find."""
    found: list[RankedSymbol] = []
    for name in list(names)[:MOST]:
        for path, file_class, symbol in find_symbols_named(store, fold(name), scope.ids, (), _NAMESAKES):
            if symbol.id not in known and (not scope.kinds or symbol.kind in scope.kinds):
                known.add(symbol.id)
                found.append(RankedSymbol(score=0.0, path=path, file_class=file_class, symbol=symbol, id=symbol.id))
    return found


def _with_priors(
    row: RankedSymbol, priors: Priors, best: float, exact: set[str], places: tuple[str, ...]
) -> RankedSymbol:
    score = row.score
    if is_mentioned(row.path, places):
        score += _PLACED * best
    if row.symbol is not None and row.symbol.folded in exact:
        score += (
            _NAMED * best / priors.classes.get(row.file_class, 1.0)
        )  # a name counts the same in any class of file
    return row._replace(score=score * prior_of(row, priors, _LENGTH))


def is_mentioned(path: str, places: Iterable[str]) -> bool:
    """Whether one of the places that a text writes is this file."""
    return any(path.endswith(place) or place.endswith("/" + path) for place in places)


def prior_of(row: RankedSymbol, priors: Priors, length: float) -> float:
    """What a row is worth before anything was asked: by its class of file, its kind and its length."""
    factor = priors.classes.get(row.file_class, 1.0)
    symbol = row.symbol
    if symbol is None:
        return factor * priors.file_row
    if symbol.test and row.file_class != "test":
        factor *= priors.classes.get("test", 1.0)
    return factor * priors.kinds.get(symbol.kind, 0.2) * math.pow(min(len(symbol.span) + 3, _LONG), length)


def sum_by_file(rows: Iterable[RankedSymbol]) -> defaultdict[int, float]:
    """By file, the sum of its scores, each further one counting less."""
    sums: defaultdict[int, float] = defaultdict(float)
    share: defaultdict[int, float] = defaultdict(lambda: 1.0)
    for row in sorted(rows, key=lambda row: -row.score):
        file = file_of(row.id)
        sums[file] += row.score * share[file]
        share[file] *= _FADE
    return sums
