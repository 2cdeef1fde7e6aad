"""What says a question in other words: hits that share no word with it get a place on the first page.

The order of all hits is by words that are there, so that what shares none stands far behind. A few places are kept for
the best of it; the first hits are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.index.search.query import Scope
from laconic.index.search.ranking import RankedSymbol, match_terms
from laconic.index.search.task_query import TaskQuery, split_stems
from laconic.index.search.terms import Term, stem
from laconic.index.search.thesaurus import related_stems, related_words
from laconic.index.store import Store

_LOOKED_AT: Final = 120  # rows that hold such words
_FIRST: Final = 5  # hits
_SAID: Final = 0.75  # of the words of a question
_PLACES: Final = (3, 7)  # in the order of all hits, counted from 0
_MEANINGS: Final = 2  # words of the question that a hit must say in other words
_DOCUMENTATION: Final = 200  # characters


def find_in_other_words(
    store: Store, query: TaskQuery, scope: Scope, first: Sequence[RankedSymbol]
) -> list[RankedSymbol]:
    """Definitions whose names and documentation share no word with a question but mean most of it, best first.

    None where one of the first hits says most of the question as it is.
    """
    asked = {stem(term.word) for term in query.terms}  # also those that no definition here has
    for row in first[:_FIRST]:
        if len(asked.intersection([*_named(row), *_described(row)])) >= _SAID * len(asked):
            return []
    terms: dict[str, Term] = {}
    for term in query.terms:
        for word in related_words(term.word):
            terms.setdefault(word, Term(word, 1.0))
    related = {word: related_stems(word) for word in query.words}
    found: list[tuple[float, int, RankedSymbol]] = []
    for place, row in enumerate(match_terms(store, list(terms.values()), scope, _LOOKED_AT)):
        if row.symbol is None or row.file_class != "source":
            continue
        named = set(_named(row))
        held = named.union(_described(row))
        if not held.isdisjoint(query.words):
            continue
        meant = [word for word in related if not held.isdisjoint(related[word])]
        if len(meant) < min(_MEANINGS, len(related)) or all(named.isdisjoint(related[word]) for word in meant):
            continue
        found.append((-sum(query.words[word].rare for word in meant), place, row))
    return [row for _, _, row in sorted(found, key=lambda each: each[:2])]


def _named(row: RankedSymbol) -> Sequence[str]:
    qualified = row.symbol.qualified if row.symbol is not None else ""
    return split_stems(f"{qualified} {row.path}")


def _described(row: RankedSymbol) -> Sequence[str]:
    if row.symbol is None:
        return ()
    return split_stems(f"{row.symbol.signature} {row.symbol.doc[:_DOCUMENTATION]}")


def keep_places(rows: Sequence[RankedSymbol], others: Sequence[RankedSymbol]) -> list[RankedSymbol]:
    """The same rows with the best of the others, one of a file, where places are kept for them."""
    ordered, files = list(rows), set[str]()
    for row in others:
        if len(files) == len(_PLACES):
            break
        if row.path in files:
            continue
        at = min(_PLACES[len(files)], len(ordered))
        files.add(row.path)
        if any(each.id == row.id for each in ordered[:at]):
            continue
        ordered = [each for each in ordered if each.id != row.id]
        ordered.insert(at, row)
    return ordered
