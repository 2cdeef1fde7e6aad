"""Questions about the forks that share one index: which of them hold, in files of their own, what is asked for."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from laconic.index.schema import symbol_id
from laconic.index.search_words import fold
from laconic.index.store.store import Store

_PARTS: Final = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}|[^\W_a-zA-Z]{3,}")  # of a name; what is shorter tells nothing


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
    """How many of the words each version in a range of ids has: defined, referred to, or written."""
    often: Counter[int] = Counter()
    symbols = (symbol_id(first, -1), symbol_id(last + 1, -1) - 1)
    for word in words:
        parts = [_quote(part) for part in _PARTS.findall(word)]
        questions: list[tuple[str, tuple[str | int, ...]]] = [
            ("SELECT id >> 16 FROM main.symbols WHERE folded = ? AND id BETWEEN ? AND ?", (fold(word), *symbols)),
            (
                "SELECT rowid FROM mentions WHERE mentions MATCH ? AND rowid BETWEEN ? AND ?",
                (_quote(word), first, last),
            ),
        ]
        if parts:
            sql = "SELECT rowid >> 16 FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
            questions.append((sql, (" AND ".join(parts), *symbols)))
        versions: set[int] = set()
        for sql, values in questions:
            for (version,) in store.connection.execute(sql, values):
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
        sql = "SELECT 1 FROM mentions WHERE mentions MATCH ? LIMIT 1"
        if store.connection.execute(sql, (_quote(name),)).fetchone():
            return 1
    return 0


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
