"""The record of what conversations cost, turn by turn: one file for the owner only, or a team's, written by the gateway.

It holds numbers, names (models, tools, files, how a user began) and hashes of prompts, no other content and no keys. What
the rows add up to is read elsewhere (`spending`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from laconic.config import Settings
from laconic.sessions.store import ALL_ROWS, SharedStore, StoreConnection, StorePlace, find_place
from laconic.sessions.turn_parts import fold_old_tallies
from laconic.sessions.turn_record import TurnRecord
from laconic.sessions.turn_rows import write_turn
from laconic.sessions.turn_tables import DAY, FILE, TABLES, figures_file

DAYS: Final = 365  # after which a session that nobody used is forgotten
_SESSIONS: Final = 5_000  # sessions that are kept
_TEAM_SESSIONS: Final = 1_000_000  # of a team
_ALL: Final = "all"  # hours and tallies are of all sessions
_PRUNED: Final = 100  # turns between two looks at how many there are
_FORGOTTEN: Final = 50  # old sessions that one look removes at most


class ProviderAccount(msgspec.Struct, frozen=True):
    """A provider and a key, by their hash, and the sessions that were paid with it."""

    account: str
    upstream: str
    sessions: int
    began: float
    last: float


class Turns:
    """Writes. Several threads and processes may write to one file.

    Sessions that nobody used for `days` are forgotten, and beyond `kept` those that nobody used for longest.
    """

    def __init__(self, place: StorePlace, kept: int = _SESSIONS, days: float = DAYS) -> None:
        self._file = figures_file(place)
        self._kept = kept
        self._days = days
        self._until_pruned = 1

    @classmethod
    def of(cls, settings: Settings) -> Turns:
        """The user's record."""
        place, kept = find_place(settings, FILE), _SESSIONS
        if isinstance(place, SharedStore):
            kept = _TEAM_SESSIONS
        return cls(place, kept, days=settings.number("turns.days"))

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

    def titles(self) -> dict[str, str]:
        """How the user began each session, by its name."""
        query = "SELECT name, title FROM session WHERE title<>''"
        return dict(self._file.read(lambda base: base.execute(query).fetchall()) or ())

    def last_turn(self, session: str) -> tuple[bytes, bytes]:
        """What the last answered turn of a session left behind for the account of the next, and what the next request
        is compared with; empty: nothing."""
        query = "SELECT standing, fingerprint FROM session WHERE name=?"
        row = self._file.read(lambda base: base.execute(query, (session,)).fetchone())
        if row is None:
            return b"", b""
        return bytes(row[0] or b""), bytes(row[1] or b"")

    def add(self, *turns: TurnRecord) -> None:
        """Write turns down, all or none."""

        def work(base: StoreConnection) -> None:
            for turn in turns:
                write_turn(base, turn)
            self._prune(base)

        self._file.write(work, alone=_ALL)

    def accounts(self) -> list[ProviderAccount]:
        """Whose sessions are recorded, those used last first."""
        query = (
            "SELECT account, min(upstream), count(*), min(began), max(last) FROM session"
            " GROUP BY account ORDER BY max(last) DESC"
        )
        return [ProviderAccount(*row) for row in self._file.read(lambda base: base.execute(query).fetchall())]

    def sessions(
        self, account: str | None = None, before: float | None = None, person: str | None = None
    ) -> list[str]:
        """The names of sessions: of one account, of a person of a team, or those that nobody used since a moment."""
        query = "SELECT name FROM session WHERE last < ?"
        values: list[object] = [float("inf") if before is None else before]
        if account is not None:
            query += " AND account=?"
            values.append(account)
        if person is not None:
            query += " AND person=?"
            values.append(person)
        query += " ORDER BY last"
        return [name for (name,) in self._file.read(lambda base: base.execute(query, values).fetchall())]

    def remove(self, sessions: Iterable[str]) -> int:
        """Forget these sessions, so that nothing of them is left in the file, also no name of a file that only they used.

        Sums over all sessions stay.

        Returns how many were there.
        """
        names = [(name,) for name in sessions]

        def work(base: StoreConnection) -> int:
            query = "SELECT id FROM session WHERE name=?"
            found = []
            for name in names:
                for row in base.execute(query, name).fetchall():
                    found.append(row)
            query = "SELECT DISTINCT file FROM part WHERE session=?"
            files = []
            for one in found:
                for (file,) in base.execute(query, one).fetchall():
                    files.append(file)
            _forget(base, found)
            query = "DELETE FROM tally WHERE axis='file' AND name=? AND name NOT IN (SELECT file FROM part)"
            base.executemany(query, [(file,) for file in dict.fromkeys(files)])
            return len(found)

        return self._file.erase(work)

    def clear(self) -> int:
        """Forget everything, sums too; returns how many sessions there were."""

        def work(base: StoreConnection) -> int:
            (count,) = base.execute("SELECT count(*) FROM session").fetchone()
            for table in TABLES:
                base.execute(f"DELETE FROM {table}")
            return int(count)

        return self._file.erase(work)

    def _prune(self, base: StoreConnection) -> None:
        """Every now and then the sessions that nobody used for longest are forgotten; their hours stay."""
        self._until_pruned -= 1
        if self._until_pruned > 0:
            return
        self._until_pruned = _PRUNED
        oldest = base.execute(
            "SELECT id FROM session ORDER BY last DESC LIMIT ? OFFSET ?", (ALL_ROWS, self._kept)
        ).fetchall()
        (newest,) = base.execute("SELECT max(last) FROM session").fetchone()
        query = "SELECT id FROM session WHERE last < ? ORDER BY last LIMIT ?"
        oldest += base.execute(query, ((newest or 0) - self._days * DAY, _FORGOTTEN)).fetchall()
        fold_old_tallies(base)
        _forget(base, oldest)


def _forget(base: StoreConnection, sessions: Sequence[tuple[int]]) -> None:
    for table, column in (("turn", "session"), ("part", "session"), ("block", "session"), ("session", "id")):
        base.executemany(f"DELETE FROM {table} WHERE {column}=?", sessions)
