"""Answers to questions in words: ranked symbols and files, with names and paths that hold the words preferred."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from laconic.index.schema import SHIFT, position_of
from laconic.index.search import semantic
from laconic.index.search.lookup import as_hit
from laconic.index.search.query import Query
from laconic.index.search.ranking import Ranked, Taste, ranked
from laconic.index.search.rarity import Rarity
from laconic.index.search.scope import Scope
from laconic.index.search.terms import Term, akin, terms
from laconic.index.store import Store
from laconic.index.words import split
from laconic.records import Hit, Span

_TOP: Final = 0.75  # score of the best answer in words; sure hits are above it
_NAME: Final = 0.6  # what a name that holds all words adds
_PLACE: Final = 0.5  # the same for a path
_KINDS: Final[Mapping[str, float]] = {
    **{"function": 1.0, "method": 1.0, "constructor": 0.9, "macro": 0.9},
    **{"class": 0.95, "struct": 0.95, "interface": 0.95, "trait": 0.95, "enum": 0.9, "type": 0.8, "module": 0.6},
    **{"constant": 0.6, "variable": 0.5, "field": 0.4, "heading": 0.5, "key": 0.2},
}
_CODE: Final[Mapping[str, float]] = {
    **{"source": 1.0, "test": 0.35, "doc": 0.3, "config": 0.4},
    **{"data": 0.2, "generated": 0.3, "vendored": 0.3, "minified": 0.1},
}
_CONSIDERED: Final = 250  # rows that are looked at closely
_SHOWN: Final = 100


def answers(store: Store, query: Query, scope: Scope) -> list[Hit]:
    """Symbols and files that the words of a query are about, best first."""
    wanted = terms(query.bare) or terms(query.text)
    wanted = [term for term in wanted if not (query.testing and term.word in {"test", "tests"})] or wanted
    classes = {**_CODE, "test": 1.6} if query.testing else _CODE
    rows = ranked(store, wanted, scope, Taste(_KINDS, classes, file_row=0.6), text=query.text)
    held = _Held(_worth(store, wanted))
    best = [(row.score * _agreement(row, held), row) for row in rows[:_CONSIDERED]]
    best.sort(key=lambda item: (-item[0], item[1].path, item[1].id))
    top = best[0][0] if best else 1.0
    if query.semantic and semantic.fits(query) and (encode := semantic.installed()):
        best = semantic.reordered(encode, query.text, best)
    return [_hit(store, row, _TOP * score / top) for score, row in best[:_SHOWN]]


def _worth(store: Store, wanted: list[Term]) -> dict[str, float]:
    """The share of each word in what the question says, by how rare it is."""
    rarity = Rarity(store)
    worth = {term.word: rarity.told(rarity.count(term.word)) for term in wanted[:24]}
    whole = sum(worth.values()) or 1.0
    return {word: value / whole for word, value in worth.items()}


class _Held:
    """How much of what a question says stands in a name or a path; the same few are asked for again and again."""

    def __init__(self, worth: dict[str, float]) -> None:
        self._worth = worth
        self._known: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        if text not in self._known:
            parts = {part.lower() for part in split(text).split()}
            self._known[text] = sum(
                value
                for word, value in self._worth.items()
                if word in parts or any(akin(word, part) for part in parts)
            )
        return self._known[text]


def _agreement(row: Ranked, held: _Held) -> float:
    """More than 1 when the name or the path holds the words."""
    name = held(row.symbol.qualified) if row.symbol else 0.0
    return 1.0 + _NAME * name + _PLACE * held(row.path)


def _hit(store: Store, row: Ranked, score: float) -> Hit:
    symbol = row.symbol
    if symbol is None:
        assert position_of(row.id) == -1
        found = store.file_by_id(row.id >> SHIFT)
        lines = found.lines if found else 1
        kind = "doc" if row.file_class == "doc" else "file"
        return Hit(row.path, 1, kind, preview=f"{lines} lines", span=Span(1, max(lines, 1)), score=score)
    return as_hit(row.path, symbol, score)
