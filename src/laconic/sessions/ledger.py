"""Decisions about conversations in SQLite: append-only, per session, shared by processes, for the owner only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from laconic.sessions.owned import transaction

D = TypeVar("D", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)
_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS decision (
  session TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID
""",
)


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

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._path, _STEPS, "ledger")
