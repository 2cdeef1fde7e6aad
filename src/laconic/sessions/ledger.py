"""Decisions about conversations in SQLite: append-only, per session, shared by processes, for the owner only."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from laconic.config import Settings
from laconic.sessions.database import Database

D = TypeVar("D", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)
FILE: Final = "ledger.sqlite"  # in the cache folder
DAYS: Final = 90
LIMIT: Final = 256_000_000  # bytes
_DAY: Final = 86_400.0
_BETWEEN: Final = 100  # appends between two looks for what is too old
_AT_ONCE: Final = 20  # sessions that one look removes at most
_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS decision (
  session TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID
""",
    """
CREATE TABLE session (name TEXT PRIMARY KEY, last REAL NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX session_last ON session (last);
INSERT INTO session
  SELECT session, CAST(strftime('%s', 'now') AS REAL), sum(length(data)) FROM decision GROUP BY session
""",
)
log = logging.getLogger("laconic.gateway.files")


class LedgerFile(Generic[D, R]):
    """Stores decisions and recaps, whatever they are, in the order in which they were made.

    Sessions that nobody added to for `days` are forgotten, and the oldest when all together exceed `limit` bytes.
    """

    def __init__(
        self,
        path: Path,
        decision: type[D],
        recap: type[R],
        *,
        days: float = DAYS,
        limit: int = LIMIT,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._file = Database(path, _STEPS, "ledger")
        self._decision = msgspec.msgpack.Decoder(decision)
        self._recap = msgspec.msgpack.Decoder(recap)
        self._days = days
        self._limit = limit
        self._now = now
        self._appends = 0

    @classmethod
    def of(cls, settings: Settings, decision: type[D], recap: type[R]) -> LedgerFile[D, R]:
        """The user's ledger."""
        limit = settings.number("ledger.limit_mb") * 1_000_000
        return cls(settings.cache_dir() / FILE, decision, recap, days=settings.number("ledger.days"), limit=limit)

    @property
    def faults(self) -> Counter[str]:
        """How often the file could not be used, by what was wrong."""
        return self._file.faults

    def close(self) -> None:
        self._file.close()

    def load(self, session: str) -> tuple[Sequence[D], Sequence[R]]:
        """Everything that was decided in a session, oldest first."""
        decisions: list[D] = []
        recaps: list[R] = []
        query = "SELECT kind, data FROM decision WHERE session=? ORDER BY number"
        for kind, data in self._file.read(lambda base: base.execute(query, (session,)).fetchall()):
            try:
                if kind == "recap":
                    recaps.append(self._recap.decode(data))
                else:
                    decisions.append(self._decision.decode(data))
            except msgspec.MsgspecError:  # without one decision a block is sent whole; without all, every block
                self._file.faults["damaged row"] += 1
                log.warning("a decision in the ledger cannot be read")
        return decisions, recaps

    def append(self, session: str, decisions: Sequence[D], recaps: Sequence[R]) -> None:
        """Add to a session. When this returns it is on the disk."""
        rows = [("decision", msgspec.msgpack.encode(one)) for one in decisions]
        rows += [("recap", msgspec.msgpack.encode(one)) for one in recaps]
        if not rows:
            return
        size = sum(len(data) for _, data in rows)

        def work(base: sqlite3.Connection) -> None:
            query = "SELECT COALESCE(MAX(number), -1) + 1 FROM decision WHERE session=?"
            (first,) = base.execute(query, (session,)).fetchone()
            base.executemany(
                "INSERT INTO decision VALUES (?,?,?,?)",
                [(session, first + number, kind, data) for number, (kind, data) in enumerate(rows)],
            )
            base.execute(
                "INSERT INTO session VALUES (?,?,?)"
                " ON CONFLICT DO UPDATE SET last=excluded.last, bytes=bytes+excluded.bytes",
                (session, self._now(), size),
            )
            if self._appends % _BETWEEN == 0:
                self._forget(base, session)

        self._file.write(work)
        self._appends += 1

    def sessions(self, before: float | None = None) -> list[str]:
        """Sessions with decisions; those that nobody added to since then."""
        query = "SELECT name FROM session WHERE last < ? ORDER BY last"
        moment = float("inf") if before is None else before
        return [name for (name,) in self._file.read(lambda base: base.execute(query, (moment,)).fetchall())]

    def remove(self, sessions: Iterable[str]) -> int:
        """Forget these sessions, so that nothing of them is left in the file; returns how many decisions went."""
        names = list(sessions)

        def work(base: sqlite3.Connection) -> int:
            return sum(_remove(base, name) for name in names)

        return self._file.erase(work)

    def _forget(self, base: sqlite3.Connection, current: str) -> None:
        """A few of the sessions that are too old or too much, never the one that is written to."""
        (total,) = base.execute("SELECT COALESCE(SUM(bytes), 0) FROM session").fetchone()
        oldest = self._now() - self._days * _DAY
        query = "SELECT name, last, bytes FROM session WHERE name<>? ORDER BY last LIMIT ?"
        for name, last, size in base.execute(query, (current, _AT_ONCE)).fetchall():
            if last >= oldest and total <= self._limit:
                return
            _remove(base, name)
            total -= size


def _remove(base: sqlite3.Connection, session: str) -> int:
    removed = base.execute("DELETE FROM decision WHERE session=?", (session,)).rowcount
    base.execute("DELETE FROM session WHERE name=?", (session,))
    return removed
