"""Parsed contents of a whole organisation in one file, each once under its content key, and which forks belong together.

Any number of processes read and write it. A content that is lost is parsed again.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS contents(key BLOB PRIMARY KEY, record BLOB NOT NULL, used INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS blobs(blob BLOB NOT NULL, family TEXT NOT NULL, PRIMARY KEY(blob, family)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS claims(key BLOB PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS counts(name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
)
_WAIT: Final = 30.0  # seconds for another writer
_MANY: Final = 500  # values in one question
_KIN: Final = 0.4  # of the files of a repository that another family must have for it to be a fork
_DAY: Final = 86_400
_CLAIM: Final = 30.0  # seconds that whoever parses a content has for it


class ContentStore:
    """One open connection; used from one thread at a time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._base = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        for table in _TABLES:
            self._base.execute(table)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The packed records of those that are known."""
        found: dict[bytes, bytes] = {}
        for some in _split(list(dict.fromkeys(keys))):
            marks = ",".join("?" * len(some))
            sql = f"SELECT key, record FROM contents WHERE key IN ({marks})"
            found.update(self._base.execute(sql, some).fetchall())
        return found

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those of the keys that the caller is to parse; others are at the rest at this moment."""
        now = time.time()
        claimed: set[bytes] = set()
        self._base.execute("BEGIN IMMEDIATE")
        for key in keys:
            known = self._base.execute("SELECT 1 FROM contents WHERE key = ?", (key,)).fetchone()
            taken = self._base.execute("SELECT 1 FROM claims WHERE key = ? AND until > ?", (key, now)).fetchone()
            if not known and not taken:
                self._base.execute("INSERT OR REPLACE INTO claims VALUES(?, ?)", (key, now + _CLAIM))
                claimed.add(key)
        self._base.execute("COMMIT")
        return claimed

    def save(self, records: Mapping[bytes, bytes]) -> None:
        """Keep packed records that were just parsed; those that came meanwhile stay."""
        today = int(time.time()) // _DAY
        rows = []
        for key, record in records.items():
            rows.append((key, record, today))
        self._base.execute("BEGIN IMMEDIATE")
        self._base.executemany("INSERT OR IGNORE INTO contents VALUES(?,?,?)", rows)
        self._base.executemany("DELETE FROM claims WHERE key = ?", [(key,) for key in records])
        sql = (
            "INSERT INTO counts VALUES('parsed', ?) ON CONFLICT(name) DO UPDATE SET number = number + excluded.number"
        )
        self._base.execute(sql, (len(rows),))
        self._base.execute("COMMIT")

    def count(self) -> tuple[int, int]:
        """How many contents it has, and how many times one was parsed for it."""
        kept = self._base.execute("SELECT count(*) FROM contents").fetchone()[0]
        row = self._base.execute("SELECT number FROM counts WHERE name = 'parsed'").fetchone()
        return int(kept), int(row[0]) if row else 0

    def join_family(self, name: str, blobs: Sequence[bytes]) -> str:
        """The family with which a repository shares most files, or one of its own name; its files are remembered."""
        self._base.execute("BEGIN IMMEDIATE")
        often: Counter[str] = Counter()
        for some in _split(blobs):
            marks = ",".join("?" * len(some))
            sql = f"SELECT family, count(*) FROM blobs WHERE blob IN ({marks}) GROUP BY family"
            for family, number in self._base.execute(sql, some):
                often[family] += number
        chosen = name
        if often:
            likely, number = often.most_common(1)[0]
            if number >= _KIN * len(set(blobs)):
                chosen = likely
        rows = [(blob, chosen) for blob in blobs]
        self._base.executemany("INSERT OR IGNORE INTO blobs VALUES(?,?)", rows)
        self._base.execute("COMMIT")
        return chosen

    def close(self) -> None:
        self._base.close()


def _split(values: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    for start in range(0, len(values), _MANY):
        yield values[start : start + _MANY]
