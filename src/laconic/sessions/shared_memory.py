"""What the replicas of a team learned about models and sessions, in their database."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from laconic.errors import ArchiveUnavailable
from laconic.sessions.store import StorePlace, open_store

_AGE: Final = 0.3  # seconds that what was read counts: a turn takes longer
_NAMES: Final = 10_000  # that are remembered for so long
_BETWEEN: Final = 200  # writes between two looks for what is too old
_STEPS: Final = (
    "CREATE TABLE fact (name TEXT PRIMARY KEY, said TEXT NOT NULL, until REAL NOT NULL);"
    "CREATE INDEX fact_until ON fact (until)",
)


class SharedMemory:
    """A database that is away loses what is learned meanwhile, nothing else: it will be learned again."""

    def __init__(self, place: StorePlace, now: Callable[[], float] = time.time) -> None:
        self._file = open_store(place, _STEPS, "memory", durable=False)
        self._now = now
        self._kept = 0
        self._read: dict[str, tuple[float, tuple[str, float] | None]] = {}  # when, and what it was

    @property
    def faults(self) -> Counter[str]:
        """How often it could not be used, by what was wrong."""
        return self._file.faults

    @property
    def is_away(self) -> bool:
        return self._file.is_away

    def recall(self, model: str) -> tuple[str, float] | None:
        """What was learned under a name, and until when that holds."""
        asked, known = time.monotonic(), self._read.get(model)
        if known is not None and asked - known[0] < _AGE:
            return known[1]
        query = "SELECT said, until FROM fact WHERE name=?"
        try:
            row = self._file.read(lambda base: base.execute(query, (model,)).fetchone())
        except ArchiveUnavailable:
            return None
        found = None
        if row is not None:
            found = (str(row[0]), float(row[1]))
        if len(self._read) > _NAMES:
            self._read.clear()
        self._read[model] = (asked, found)
        return found

    def keep(self, model: str, protocol: str, until: float) -> None:
        query = (
            "INSERT INTO fact VALUES (?,?,?)"
            " ON CONFLICT (name) DO UPDATE SET said=excluded.said, until=excluded.until"
        )
        self._read.pop(model, None)
        with suppress(ArchiveUnavailable):
            self._file.write(lambda base: base.execute(query, (model, protocol, until)))
            self._kept += 1
            if self._kept % _BETWEEN == 0:
                self._file.write(lambda base: base.execute("DELETE FROM fact WHERE until < ?", (self._now(),)))

    def close(self) -> None:
        self._file.close()
