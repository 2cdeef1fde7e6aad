"""Questions about definitions: by name, by kind, by what they inherit from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from laconic.index.schema import SHIFT
from laconic.index.store.query_limits import limit_to, mark
from laconic.index.store.rows import Symbol
from laconic.index.store.store import Store


class PlacedSymbol(NamedTuple):
    """A definition, with the path and the class of its file."""

    path: str
    file_class: str
    symbol: Symbol


def find_symbols_named(
    store: Store, folded: str, inside: str | None, kinds: Sequence[str], most: int
) -> list[PlacedSymbol]:
    """Definitions of a folded name."""
    return _select(store, "folded = ?", (folded,), inside=inside, kinds=kinds, most=most)


def find_symbols_containing(
    store: Store, folded: str, inside: str | None, kinds: Sequence[str], most: int
) -> list[PlacedSymbol]:
    """Definitions whose folded name holds this text and more."""
    names = store.names_containing(folded, 10 * most)
    condition = f"""symbols.id IN (SELECT id FROM main.symbols INDEXED BY symbols_folded
        WHERE folded IN (SELECT value FROM json_each(?))
        AND EXISTS(SELECT 1 FROM main.manifest WHERE checkout = {store.checkout} AND version = id >> {SHIFT})
        LIMIT {10 * most})"""
    return _select(store, condition, (json.dumps(names),), inside=inside, kinds=kinds, most=most)


def find_symbols_like(
    store: Store, pattern: str, inside: str | None, kinds: Sequence[str], most: int
) -> list[PlacedSymbol]:
    """Definitions whose name matches a glob."""
    return _select(store, "name GLOB ?", (pattern,), inside=inside, kinds=kinds, most=most)


def _select(
    store: Store, condition: str, parameters: tuple[str, ...], *, inside: str | None, kinds: Sequence[str], most: int
) -> list[PlacedSymbol]:
    limit, more = limit_to(inside, "files.id")
    if kinds:
        limit += f" AND symbols.kind IN ({mark(kinds)})"
    sql = f"""SELECT files.path, files.class, symbols.* FROM symbols JOIN files ON files.id = symbols.id >> {SHIFT}
        WHERE {condition}{limit} LIMIT {most}"""
    found: list[PlacedSymbol] = []
    for row in store.connection.execute(sql, (*parameters, *more, *kinds)):
        found.append(PlacedSymbol(row[0], row[1], Symbol._make(row[2:])))
    return found


def read_names(store: Store, shortest: int, longest: int) -> Iterator[tuple[str, str]]:
    """The folded form and the name of everything whose name is so long."""
    sql = "SELECT DISTINCT folded, name FROM symbols WHERE length(folded) BETWEEN ? AND ?"
    yield from store.connection.execute(sql, (shortest, longest))


def count_symbols(store: Store) -> int:
    return int(store.connection.execute("SELECT sum(defined) FROM files").fetchone()[0] or 0)


def find_ids_of_kinds(store: Store, kinds: Sequence[str]) -> list[int]:
    """The ids of all symbols of these kinds, in order."""
    rows = store.connection.execute(f"SELECT id FROM symbols WHERE kind IN ({mark(kinds)}) ORDER BY id", tuple(kinds))
    return [int(row[0]) for row in rows]


def read_bases(store: Store) -> list[tuple[int, str, str]]:
    """Id, kind and bases (one a line) of every type that names any."""
    return store.connection.execute("SELECT id, kind, bases FROM symbols WHERE bases != ''").fetchall()


def read_interface_methods(store: Store) -> list[tuple[int, str, str]]:
    """The interface, the name and the signature of every method that an interface declares."""
    sql = """SELECT m.parent, m.name, m.signature FROM symbols i JOIN symbols m ON m.parent = i.id
        WHERE i.kind = 'interface' AND m.kind = 'method'"""
    return store.connection.execute(sql).fetchall()


def read_public_names(store: Store, kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Path and name of the public definitions at the top of source files, those in the fewest folders first."""
    sql = f"""SELECT f.path, s.name FROM symbols s JOIN files f ON f.id = s.id >> {SHIFT}
        WHERE f.class = 'source' AND s.parent IS NULL AND s.visibility = 'public' AND s.test = 0
        AND s.kind IN ({mark(kinds)})
        ORDER BY length(f.path) - length(replace(f.path, '/', '')), f.path, s.id"""
    yield from store.connection.execute(sql, tuple(kinds))
