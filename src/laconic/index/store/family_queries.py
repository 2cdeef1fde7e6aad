"""Questions about the forks that share one index: which of them hold, in files of their own, what is asked for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from laconic.index.schema import symbol_id
from laconic.index.search_words import fold
from laconic.index.store.store import Store


def read_roots(store: Store) -> list[str]:
    """The folders of all checkouts."""
    return [str(row[0]) for row in store.connection.execute("SELECT root FROM main.checkouts")]


def read_own_versions(store: Store, roots: Sequence[str]) -> dict[str, frozenset[int]]:
    """Of each of these checkouts the versions that the store's own does not hold; those without any are left out."""
    sql = """SELECT c.root, m.version FROM main.checkouts AS c JOIN main.manifest AS m ON m.checkout = c.id
        WHERE c.root IN (SELECT value FROM json_each(?)) AND NOT EXISTS(
        SELECT 1 FROM main.manifest AS p WHERE p.checkout = ? AND p.version = m.version)"""
    found: dict[str, set[int]] = {}
    for root, version in store.connection.execute(sql, (json.dumps(list(roots)), store.checkout)):
        found.setdefault(root, set()).add(version)
    frozen = {}
    for root, versions in found.items():
        frozen[root] = frozenset(versions)
    return frozen


def count_words(store: Store, words: Sequence[str], first: int, last: int) -> Counter[int]:
    """How many of the words each version in a range of ids has, as words or as names that it refers to."""
    often: Counter[int] = Counter()
    for word in words:
        quoted = '"' + word.replace('"', '""') + '"'
        versions: set[int] = set()
        sql = "SELECT rowid FROM mentions WHERE mentions MATCH ? AND rowid BETWEEN ? AND ?"
        for (version,) in store.connection.execute(sql, (quoted, first, last)):
            versions.add(version)
        sql = "SELECT DISTINCT rowid >> 16 FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        bounds = (symbol_id(first, -1), symbol_id(last + 1, -1) - 1)
        for (version,) in store.connection.execute(sql, (quoted, *bounds)):
            versions.add(version)
        often.update(versions)
    return often


def rank_names(store: Store, names: Sequence[str]) -> int:
    """2: some checkout defines one of the names, 1: one refers to it, 0: neither."""
    for name in names:
        sql = "SELECT 1 FROM main.symbols WHERE folded = ? LIMIT 1"
        if store.connection.execute(sql, (fold(name),)).fetchone():
            return 2
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        sql = "SELECT 1 FROM mentions WHERE mentions MATCH ? LIMIT 1"
        if store.connection.execute(sql, (quoted,)).fetchone():
            return 1
    return 0
