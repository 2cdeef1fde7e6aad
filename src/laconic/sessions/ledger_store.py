"""Decisions about conversations: append-only, per session, shared by all processes that use the store."""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from laconic.config import Settings
from laconic.errors import LedgerMoved
from laconic.sessions.store import StoreConnection, StorePlace, find_place, open_store


class _Branch(Protocol):
    @property
    def id(self) -> int: ...

    @property
    def time(self) -> float: ...


E = TypeVar("E", bound=msgspec.Struct)
B = TypeVar("B", bound=_Branch)
FILE: Final = "ledger.sqlite"  # in the cache folder
DAYS: Final = 90
LIMIT: Final = 256_000_000  # bytes
_ASKED: Final = 500  # keys in one question
_DAY: Final = 86_400.0
_BETWEEN: Final = 100  # appends between two looks for what is too old
_AT_ONCE: Final = 20  # sessions that one look removes at most
_REMEMBERED: Final = 1_000  # sessions of which it is known when that was
_STAMPED: Final = 60.0  # seconds after which it is written again that a session is used
_BRANCHES: Final = 64  # of one session that are remembered; the oldest are forgotten
_NOTHING: Final = msgspec.msgpack.encode((0, "", 0))  # stands for an event that cannot be read: it decides nothing
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
) WITHOUT ROWID;
CREATE TABLE session (name TEXT PRIMARY KEY, last REAL NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX session_last ON session (last)
""",
    """
CREATE TABLE form (session TEXT NOT NULL, key BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session, key)) WITHOUT ROWID
""",
)
_USED: Final = (
    "INSERT INTO session VALUES (?,?,?)"
    " ON CONFLICT (name) DO UPDATE SET last=excluded.last, bytes=session.bytes+excluded.bytes"
)
_STATE: Final = (
    "SELECT COALESCE(MAX(number), -1) + 1 AS place, NULL AS data FROM event WHERE session=?"
    " UNION ALL SELECT id, data FROM branch WHERE session=?"
)
_KNOWN: Final = "INSERT INTO session VALUES (?,?,0) ON CONFLICT (name) DO NOTHING"
_MOVED: Final = (
    "INSERT INTO branch VALUES (?,?,?,?)"
    " ON CONFLICT (session, id) DO UPDATE SET time=excluded.time, data=excluded.data"
)
log = logging.getLogger("laconic.gateway.files")


class LedgerFile(Generic[E, B]):
    """Stores what was decided in sessions, in order, and the branches of their histories, whatever these are.

    Sessions that nobody added to for `days` are forgotten, and the oldest when all together exceed `limit` bytes.
    """

    def __init__(
        self,
        place: StorePlace,
        event: type[E],
        branch: type[B],
        *,
        days: float = DAYS,
        limit: int = LIMIT,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._file = open_store(place, _STEPS, "ledger")
        self._event = msgspec.msgpack.Decoder(event)
        self._branch = msgspec.msgpack.Decoder(branch)
        self._days = days
        self._limit = limit
        self._now = now
        self._appends = 0
        self._stamped: OrderedDict[str, float] = OrderedDict()  # when it was written that a session is used

    @classmethod
    def of(cls, settings: Settings, event: type[E], branch: type[B]) -> LedgerFile[E, B]:
        """The user's ledger."""
        limit = settings.number("ledger.limit_mb") * 1_000_000
        return cls(find_place(settings, FILE), event, branch, days=settings.number("ledger.days"), limit=limit)

    @property
    def faults(self) -> Counter[str]:
        """How often the file could not be used, by what was wrong."""
        return self._file.faults

    @property
    def is_away(self) -> bool:
        """Whether a shared store cannot be reached at the moment."""
        return self._file.is_away

    def close(self) -> None:
        self._file.close()

    def state(self, session: str) -> tuple[int, tuple[B, ...]]:
        """How many events a session has, and its branches."""

        rows = self._file.read(lambda base: base.execute(_STATE, (session, session)).fetchall())
        number, found = 0, []
        for place, data in sorted(rows, key=itemgetter(0)):
            if data is None:
                number = int(place)
                continue
            try:
                found.append(self._branch.decode(data))
            except msgspec.MsgspecError:  # it begins anew
                self._note_damage()
        return number, tuple(found)

    def events(self, session: str, since: int = 0) -> Sequence[E]:
        """What was decided in a session from a number on, oldest first."""
        query = "SELECT data FROM event WHERE session=? AND number>=? ORDER BY number"
        found = []
        for (data,) in self._file.read(lambda base: base.execute(query, (session, since)).fetchall()):
            try:
                found.append(self._event.decode(data))
            except (msgspec.MsgspecError, ValueError):  # what it left out is sent whole
                self._note_damage()
                found.append(self._event.decode(_NOTHING))
        return found

    def record(self, session: str, known: int, event: E | None, branch: B) -> None:
        """Add to a session. When this returns an event is on the disk; how far a branch is, a power cut may take."""
        data = b""
        if event is not None:
            data = msgspec.msgpack.encode(event)
        now = self._now()
        is_stamped = 0 <= now - self._stamped.get(session, 0.0) < _STAMPED

        def work(base: StoreConnection) -> None:
            if _number(base, session) != known:
                raise LedgerMoved("Another process wrote to this session.", "Read it again.")
            if event is not None:
                base.execute("INSERT INTO event VALUES (?,?,?)", (session, known, data))
            self._move(base, session, branch)
            if not data and is_stamped:
                base.execute(_KNOWN, (session, now))  # it may have been removed since
            else:
                base.execute(_USED, (session, now, len(data)))
            if self._appends % _BETWEEN == 0:
                self._forget(base, session)

        self._file.write(work, flush=event is not None, alone=session)
        self._appends += 1
        if not is_stamped:
            self._stamped[session] = now
            if len(self._stamped) > _REMEMBERED:
                self._stamped.popitem(last=False)

    def forms(self, session: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """How parts of a session's prompt were first written, of those that are known."""

        def work(base: StoreConnection) -> dict[bytes, bytes]:
            found = {}
            for start in range(0, len(keys), _ASKED):
                some = keys[start : start + _ASKED]
                query = f"SELECT key, data FROM form WHERE session=? AND key IN ({','.join('?' * len(some))})"
                for key, data in base.execute(query, (session, *some)).fetchall():
                    found[bytes(key)] = bytes(data)
            return found

        return self._file.read(work)

    def keep_forms(self, session: str, forms: Mapping[bytes, bytes]) -> None:
        """Add to them; what is known stays. A power cut may take what was added last."""
        size = sum(map(len, forms.values()))

        def work(base: StoreConnection) -> None:
            rows = [(session, key, data) for key, data in forms.items()]
            base.executemany("INSERT INTO form VALUES (?,?,?) ON CONFLICT DO NOTHING", rows)
            base.execute(_USED, (session, self._now(), size))

        self._file.write(work, flush=False)

    @staticmethod
    def _move(base: StoreConnection, session: str, branch: B) -> None:
        row = (session, branch.id, branch.time, msgspec.msgpack.encode(branch))
        base.execute(_MOVED, row)
        if branch.id > _BRANCHES:
            base.execute(
                "DELETE FROM branch WHERE session=? AND id NOT IN"
                " (SELECT id FROM branch WHERE session=? ORDER BY time DESC, id DESC LIMIT ?)",
                (session, session, _BRANCHES),
            )

    def _note_damage(self) -> None:
        self._file.faults["damaged row"] += 1
        log.warning("a row of the ledger cannot be read")

    def sessions(self, before: float | None = None) -> list[str]:
        """Sessions that are known; those that nobody added to since then."""
        query = "SELECT name FROM session WHERE last < ? ORDER BY last"
        moment = float("inf") if before is None else before
        return [name for (name,) in self._file.read(lambda base: base.execute(query, (moment,)).fetchall())]

    def remove(self, sessions: Iterable[str]) -> int:
        """Forget these sessions, so that nothing of them is left in the file; returns how many events went."""
        names = list(sessions)

        def work(base: StoreConnection) -> int:
            return sum(_remove(base, name) for name in names)

        return self._file.erase(work)

    def _forget(self, base: StoreConnection, current: str) -> None:
        """A few of the sessions that are too old or too much, never the one that is written to."""
        (total,) = base.execute("SELECT COALESCE(SUM(bytes), 0) FROM session").fetchone()
        oldest = self._now() - self._days * _DAY
        query = "SELECT name, last, bytes FROM session WHERE name<>? ORDER BY last LIMIT ?"
        for name, last, size in base.execute(query, (current, _AT_ONCE)).fetchall():
            if last >= oldest and total <= self._limit:
                return
            _remove(base, name)
            total -= size


def _remove(base: StoreConnection, session: str) -> int:
    removed = base.execute("DELETE FROM event WHERE session=?", (session,)).rowcount
    base.execute("DELETE FROM branch WHERE session=?", (session,))
    base.execute("DELETE FROM form WHERE session=?", (session,))
    base.execute("DELETE FROM session WHERE name=?", (session,))
    return removed


def _number(base: StoreConnection, session: str) -> int:
    """How many events there are."""
    query = "SELECT COALESCE(MAX(number), -1) + 1 FROM event WHERE session=?"
    return int(base.execute(query, (session,)).fetchone()[0])
