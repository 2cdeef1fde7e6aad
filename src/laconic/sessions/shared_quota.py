"""What all replicas of a team spent of a provider's quota in the last minute, and what the provider said is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from laconic.errors import ArchiveUnavailable
from laconic.sessions.store import StoreConnection, StorePlace, open_store

Spent = tuple[float, int, int]  # when, tokens of prompts that count, and of answers
Told = tuple[float, int, float, int, bool]  # when, tokens left, when it is full again, the limit, prompts only
_WINDOW: Final = 60.0  # seconds
_AGE: Final = 1.0  # seconds that what was read counts
_OLD: Final = 600.0  # seconds after which rows go
_BETWEEN: Final = 500  # writes between two looks for them
_STEPS: Final = (
    """
CREATE TABLE spent (
  account TEXT NOT NULL, second INTEGER NOT NULL, prompt INTEGER NOT NULL, answer INTEGER NOT NULL,
  PRIMARY KEY (account, second)
);
CREATE TABLE told (
  account TEXT PRIMARY KEY, at REAL NOT NULL, tokens_left INTEGER NOT NULL, reset REAL NOT NULL, tokens INTEGER NOT NULL,
  input_only INTEGER NOT NULL
)
""",
)
_SPEND: Final = (
    "INSERT INTO spent VALUES (?,?,?,?) ON CONFLICT (account, second) DO UPDATE SET"
    " prompt=spent.prompt+excluded.prompt, answer=spent.answer+excluded.answer"
)
_TELL: Final = (
    "INSERT INTO told VALUES (?,?,?,?,?,?) ON CONFLICT (account) DO UPDATE SET at=excluded.at,"
    " tokens_left=excluded.tokens_left, reset=excluded.reset, tokens=excluded.tokens, input_only=excluded.input_only"
    " WHERE excluded.at >= told.at"
)


class SharedQuotas:
    """By seconds, so that a busy minute is sixty rows. While it cannot be reached each replica knows its own part."""

    def __init__(self, place: StorePlace, now: Callable[[], float] = time.time) -> None:
        self._file = open_store(place, _STEPS, "quota", durable=False)
        self._now = now
        self._writes = 0
        self._read: dict[str, float] = {}  # when each account was read last

    def add(self, account: str, spent: Spent | None, told: Told | None) -> None:
        """What one answer cost, and what it said."""
        self._writes += 1
        is_time = self._writes % _BETWEEN == 0

        def work(base: StoreConnection) -> None:
            if spent is not None:
                base.execute(_SPEND, (account, int(spent[0]), spent[1], spent[2]))
            if told is not None:
                base.execute(_TELL, (account, *told))
            if is_time:
                base.execute("DELETE FROM spent WHERE second < ?", (int(self._now() - _OLD),))

        if spent is not None or told is not None:
            with suppress(ArchiveUnavailable):
                self._file.write(work)

    def read(self, account: str) -> tuple[Sequence[Spent], Told | None] | None:
        """What all spent in the last minute, and the newest word of the provider; None: ask again in a second."""
        now = self._now()
        if now - self._read.get(account, 0.0) < _AGE:
            return None
        query = "SELECT second, prompt, answer FROM spent WHERE account=? AND second > ? ORDER BY second"
        said = "SELECT at, tokens_left, reset, tokens, input_only FROM told WHERE account=?"

        def work(base: StoreConnection) -> tuple[Sequence[Spent], Told | None]:
            rows = base.execute(query, (account, int(now - _WINDOW))).fetchall()
            row = base.execute(said, (account,)).fetchone()
            spent = [(float(second), int(prompt), int(answer)) for second, prompt, answer in rows]
            if row is None:
                return spent, None
            return spent, (float(row[0]), int(row[1]), float(row[2]), int(row[3]), bool(row[4]))

        try:
            found = self._file.read(work)
        except ArchiveUnavailable:
            return None
        self._read[account] = now
        return found

    def close(self) -> None:
        self._file.close()
