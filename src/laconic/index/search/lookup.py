"""Definitions by name: exact in any naming style, qualified, partial, and the nearest when there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from laconic.index.schema import SHIFT
from laconic.index.search.query import Query
from laconic.index.search.scope import Scope
from laconic.index.store import Store, Symbol
from laconic.index.words import fold, split
from laconic.records import Hit

_MANY: Final = 400  # rows that one lookup may bring
_KINDS: Final[Mapping[str, float]] = {
    **{"class": 1.0, "struct": 1.0, "interface": 1.0, "trait": 1.0, "enum": 1.0, "function": 1.0, "type": 0.95},
    **{"macro": 0.95, "method": 0.95, "constructor": 0.9, "module": 0.85, "constant": 0.9, "variable": 0.75},
    **{"field": 0.7, "heading": 0.6, "key": 0.5},
}
_CLASSES: Final[Mapping[str, float]] = {
    **{"test": 0.8, "doc": 0.8, "config": 0.8, "data": 0.6, "generated": 0.6, "vendored": 0.5, "minified": 0.3},
}


class Named(NamedTuple):
    """A definition, how well its name fits (1: exactly), and where it stands."""

    fit: float
    path: str
    file_class: str
    symbol: Symbol


def exact(store: Store, query: Query, scope: Scope) -> list[Named]:
    """Definitions that are called what the query says, best first."""
    if query.qualified:
        return _qualified(store, query, scope)
    found: dict[int, Named] = {}
    for name in query.names:
        for row in _rows(store, "folded = ?", (name,), scope):
            found.setdefault(row.symbol.id, row._replace(fit=_fit(row, query)))
    return sorted(found.values(), key=_order)


def partial(store: Store, query: Query, scope: Scope) -> list[Named]:
    """Definitions whose name holds the query, in any naming style; the shortest first."""
    needle = fold(query.bare)
    if len(needle) < 3:
        return []
    # The index of names alone is read through; the whole rows are five times as long.
    inside = f"""symbols.id IN (SELECT id FROM symbols INDEXED BY symbols_folded
        WHERE instr(folded, ?) > 0 AND folded != ? LIMIT {10 * _MANY})"""
    rows = _rows(store, inside, (needle, needle), scope)
    fits = (row._replace(fit=_fit(row, query) * len(needle) / len(row.symbol.folded)) for row in rows)
    return sorted(fits, key=_order)


def globbed(store: Store, pattern: str, scope: Scope) -> list[Named]:
    """Definitions whose name matches `get_*`."""
    return sorted(_rows(store, "name GLOB ?", (pattern,), scope), key=_order)


def nearest(store: Store, text: str, count: int = 5) -> list[str]:
    """Names that are written almost like this one, or share most of its parts; nearest first."""
    wanted = fold(re.sub(r"\W+", "", text.split("(", maxsplit=1)[0]))[:60]
    if len(wanted) < 2:
        return []
    grams = _grams(wanted)
    close: list[tuple[float, str]] = []
    low, high = len(wanted) // 2, len(wanted) * 2 + 2
    sql = "SELECT DISTINCT folded, name FROM symbols WHERE length(folded) BETWEEN ? AND ?"
    for folded, name in store.connection.execute(sql, (low, high)):
        shared = len(grams & _grams(folded))
        likeness = 2 * shared / (len(grams) + max(len(folded) - 1, 1))
        if likeness > 0.3:
            close.append((likeness, name))
    close.sort(reverse=True)
    finest = sorted(
        ((SequenceMatcher(None, wanted, fold(name)).ratio(), name) for _, name in close[:60]), reverse=True
    )
    return list(dict.fromkeys(name for ratio, name in finest if ratio > 0.5))[:count]


def _qualified(store: Store, query: Query, scope: Scope) -> list[Named]:
    *owners, last = query.qualified
    found: list[Named] = []
    for row in _rows(store, "folded = ?", (fold(last),), scope):
        around = fold(f"{row.path.rsplit('.', 1)[0]}.{row.symbol.qualified}")
        inside = sum(fold(owner) in re.split(r"[^a-z0-9]+", around) for owner in owners)
        if inside:
            found.append(row._replace(fit=_fit(row, query) * (0.5 + 0.5 * inside / len(owners))))
    return sorted(found, key=_order)


def _rows(store: Store, condition: str, parameters: tuple[str, ...], scope: Scope) -> list[Named]:
    limit, more = scope.limit("files.id")
    if scope.kinds:
        limit += f" AND symbols.kind IN ({','.join('?' * len(scope.kinds))})"
    sql = f"""SELECT files.path, files.class, symbols.* FROM symbols JOIN files ON files.id = symbols.id >> {SHIFT}
        WHERE {condition}{limit} LIMIT {_MANY}"""
    rows = store.connection.execute(sql, (*parameters, *more, *scope.kinds))
    return [Named(1.0, row[0], row[1], Symbol._make(row[2:])) for row in rows]


def _fit(row: Named, query: Query) -> float:
    """How likely a definition of this name is the one that is meant."""
    symbol = row.symbol
    fit = _KINDS.get(symbol.kind, 0.7)
    if query.kinds:
        fit *= 1.0 if symbol.kind in query.kinds else 0.6
    if symbol.name not in (query.text, query.bare):
        fit *= 0.97
    if symbol.parent is not None:
        fit *= 0.97
    if row.file_class == "test" or symbol.test:
        fit *= 1.0 if query.testing else _CLASSES["test"]
    else:
        fit *= _CLASSES.get(row.file_class, 1.0)
    if len(symbol.span) == 1 and symbol.kind not in {"function", "method", "constant"}:
        fit *= 0.95  # a mere declaration, or a forward one
    return fit


def _order(row: Named) -> tuple[float, int, str, int]:
    return (-row.fit, row.path.count("/"), row.path, row.symbol.line)


def _grams(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def parts(names: Iterable[str]) -> set[str]:
    """The words that names are made of."""
    return {word.lower() for name in names for word in split(name).split()}


def as_hit(path: str, symbol: Symbol, score: float) -> Hit:
    """A definition as a hit."""
    return Hit(
        path=path,
        line=symbol.line,
        kind="def",
        name=symbol.name,
        preview=symbol.signature,
        symbol=symbol.qualified,
        span=symbol.span,
        score=score,
    )
