"""Decisions about conversations in SQLite: append-only, per session, shared by processes, for the owner only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from laconic.errors import LedgerMoved
from laconic.sessions.owned import transaction


class _Branch(Protocol):
    @property
    def id(self) -> int: ...

    @property
    def time(self) -> float: ...


E = TypeVar("E", bound=msgspec.Struct)
B = TypeVar("B", bound=_Branch)
_BRANCHES: Final = 64  # of one session that are remembered; the oldest are forgotten
_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS decision (
  session TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID
""",
    """
DROP TABLE decision;
CREATE TABLE event (
  session TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE TABLE branch (
  session TEXT NOT NULL, id INTEGER NOT NULL, time REAL NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session, id)
) WITHOUT ROWID
""",
)


class LedgerFile(Generic[E, B]):
    """Stores events and branches, whatever they are."""

    def __init__(self, path: Path, event: type[E], branch: type[B]) -> None:
        self._path = path
        self._event = msgspec.msgpack.Decoder(event)
        self._branch = msgspec.msgpack.Decoder(branch)

    def state(self, session: str) -> tuple[int, tuple[B, ...]]:
        """How many events a session has, and its branches."""
        with self._open() as base:
            rows = base.execute("SELECT data FROM branch WHERE session=? ORDER BY id", (session,)).fetchall()
            return self._number(base, session), tuple(self._branch.decode(data) for (data,) in rows)

    def events(self, session: str, since: int = 0) -> Sequence[E]:
        """What was decided in a session from a number on, oldest first."""
        with self._open() as base:
            query = "SELECT data FROM event WHERE session=? AND number>=? ORDER BY number"
            return [self._event.decode(data) for (data,) in base.execute(query, (session, since))]

    def record(self, session: str, known: int, event: E | None, branch: B) -> None:
        """Add to a session. When this returns it is on the disk."""
        with self._open() as base:
            if self._number(base, session) != known:
                raise LedgerMoved("Another process wrote to this session.", "Read it again.")
            if event is not None:
                row = (session, known, msgspec.msgpack.encode(event))
                base.execute("INSERT INTO event VALUES (?,?,?)", row)
            base.execute(
                "INSERT OR REPLACE INTO branch VALUES (?,?,?,?)",
                (session, branch.id, branch.time, msgspec.msgpack.encode(branch)),
            )
            base.execute(
                "DELETE FROM branch WHERE session=?1 AND id NOT IN"
                " (SELECT id FROM branch WHERE session=?1 ORDER BY time DESC, id DESC LIMIT ?2)",
                (session, _BRANCHES),
            )

    @staticmethod
    def _number(base: sqlite3.Connection, session: str) -> int:
        query = "SELECT COALESCE(MAX(number), -1) + 1 FROM event WHERE session=?"
        return int(base.execute(query, (session,)).fetchone()[0])

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._path, _STEPS, "ledger")
