"""One workspace in numbers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from laconic.errors import IndexUnavailable
from laconic.index.store.database import enter_checkout
from laconic.index.store.store import Store


class Statistics(msgspec.Struct, frozen=True):
    """One workspace in numbers."""

    root: str
    files: int
    parsed: int
    skipped: int
    failed: int
    symbols: int
    lines: int
    source_bytes: int
    index_bytes: int
    languages: dict[str, int]  # files of each
    classes: dict[str, int]
    building: str = ""  # "320/2900" while a build runs
    built: int = 0  # when it was last complete, in seconds since 1970


def read_statistics(store: Store, root: Path) -> Statistics:
    """The numbers of an open index."""
    pages, size = (store.connection.execute(f"PRAGMA {of}").fetchone()[0] for of in ("page_count", "page_size"))
    return _count(store.connection, store.checkout, root, pages * size)


def read_statistics_of_file(file: Path, root: Path) -> Statistics:
    """The numbers of one index, without changing it."""
    if not file.exists():
        raise IndexUnavailable(f"{root} is not indexed.", f"Run `laconic index {root}`.")
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            size = file.stat().st_size
            side = file.with_name(file.name + "-wal")
            if side.exists():
                size += side.stat().st_size
            return _count(connection, enter_checkout(connection, root), root, size)
    except sqlite3.DatabaseError as error:
        raise IndexUnavailable(f"{file} cannot be read: {error}.", f"Run `laconic index {root}`.") from None


def _count(connection: sqlite3.Connection, checkout: int, root: Path, index_bytes: int) -> Statistics:
    def one(query: str) -> int:
        return int(connection.execute(query).fetchone()[0] or 0)

    def table(query: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for key, count in connection.execute(query):
            if key:
                found[str(key)] = int(count)
        return found

    states = table("SELECT state, count(*) FROM files GROUP BY 1")
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    return Statistics(
        root=str(root),
        files=sum(states.values()),
        parsed=states.get("parsed", 0),
        skipped=states.get("skipped", 0),
        failed=states.get("failed", 0),
        symbols=one("SELECT sum(defined) FROM files"),
        lines=one("SELECT sum(lines) FROM files"),
        source_bytes=one("SELECT sum(size) FROM files WHERE state != 'skipped'"),
        index_bytes=index_bytes,
        languages=table("SELECT language, count(*) FROM files GROUP BY 1 ORDER BY 2 DESC, 1"),
        classes=table("SELECT class, count(*) FROM files GROUP BY 1 ORDER BY 2 DESC, 1"),
        building=str(meta.get(f"building:{checkout}", "")),
        built=int(meta.get(f"built:{checkout}", 0)),
    )
