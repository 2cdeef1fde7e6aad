"""Decisions about conversations in SQLite: append-only, per session, shared by processes, for the owner only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from laconic.errors import ArchiveUnavailable

D = TypeVar("D", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)
_WAIT: Final = 15.0  # seconds to wait for another process
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS decision (
  session TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID;
"""


class LedgerFile(Generic[D, R]):
    """Stores decisions and recaps, whatever they are, in the order in which they were made."""

    def __init__(self, path: Path, decision: type[D], recap: type[R]) -> None:
        self._path = path
        self._decision = msgspec.msgpack.Decoder(decision)
        self._recap = msgspec.msgpack.Decoder(recap)

    def load(self, session: str) -> tuple[Sequence[D], Sequence[R]]:
        """Everything that was decided in a session, oldest first."""
        decisions: list[D] = []
        recaps: list[R] = []
        with self._open() as base:
            query = "SELECT kind, data FROM decision WHERE session=? ORDER BY number"
            for kind, data in base.execute(query, (session,)):
                if kind == "recap":
                    recaps.append(self._recap.decode(data))
                else:
                    decisions.append(self._decision.decode(data))
        return decisions, recaps

    def append(self, session: str, decisions: Sequence[D], recaps: Sequence[R]) -> None:
        """Add to a session. When this returns it is on the disk."""
        rows = [("decision", msgspec.msgpack.encode(one)) for one in decisions]
        rows += [("recap", msgspec.msgpack.encode(one)) for one in recaps]
        if not rows:
            return
        with self._open() as base:
            query = "SELECT COALESCE(MAX(number), -1) + 1 FROM decision WHERE session=?"
            (first,) = base.execute(query, (session,)).fetchone()
            base.executemany(
                "INSERT INTO decision VALUES (?,?,?,?)",
                [(session, first + number, kind, data) for number, (kind, data) in enumerate(rows)],
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one transaction; every trouble with the disk gets a name."""
        try:
            if not self._path.exists():
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._path.touch(mode=0o600)
            with closing(sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None)) as base:
                base.executescript(_SCHEMA)
                base.execute("BEGIN IMMEDIATE")
                yield base
                base.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise ArchiveUnavailable(
                f"The ledger {self._path} cannot be used: {error}.",
                "Free some disk, or name another folder with LACONIC_CACHE_DIR.",
            ) from error
