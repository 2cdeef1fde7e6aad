"""What tool calls cost: one row a call, and the figures made from them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS calls (
  at REAL NOT NULL, tool TEXT NOT NULL, tokens INTEGER NOT NULL, milliseconds REAL NOT NULL,
  failed INTEGER NOT NULL, repaired INTEGER NOT NULL, cut TEXT NOT NULL
)
"""
_KEPT: Final = 100_000  # rows
FILE: Final = "calls.sqlite"  # in the cache folder


class Figures(msgspec.Struct, frozen=True):
    """What the calls of one tool cost."""

    tool: str
    calls: int
    errors: int
    repaired: int
    cut: int  # answers from which something was left out
    mean: float
    largest: int
    p95: int
    milliseconds: float


class Calls:
    """The record of tool calls in one cache folder; a broken or locked file loses figures, never answers."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._rows = sqlite3.connect(folder / FILE, timeout=2, isolation_level=None, check_same_thread=False)
        self._rows.execute("PRAGMA journal_mode = WAL")
        self._rows.execute("PRAGMA synchronous = OFF")
        self._rows.execute(_SCHEMA)

    def close(self) -> None:
        self._rows.close()

    def record(
        self,
        tool: str,
        tokens: int,
        milliseconds: float,
        *,
        failed: bool = False,
        repaired: bool = False,
        cut: str = "",
    ) -> None:
        row = (time.time(), tool, tokens, milliseconds, failed, repaired, cut)
        self._rows.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._rows.execute("DELETE FROM calls WHERE rowid <= (SELECT max(rowid) FROM calls) - ?", (_KEPT,))

    def figures(self) -> Iterator[Figures]:
        """Per tool, most called first."""
        totals = self._rows.execute(
            "SELECT tool, count(*), sum(failed), sum(repaired), sum(cut <> ''), avg(tokens), max(tokens),"
            " avg(milliseconds) FROM calls GROUP BY tool ORDER BY count(*) DESC, tool"
        ).fetchall()
        for tool, calls, errors, repaired, cut, mean, largest, milliseconds in totals:
            at = max(0, -(-calls * 95 // 100) - 1)
            (p95,) = self._rows.execute(
                "SELECT tokens FROM calls WHERE tool = ? ORDER BY tokens LIMIT 1 OFFSET ?", (tool, at)
            ).fetchone()
            yield Figures(tool, calls, errors, repaired, cut, round(mean, 1), largest, p95, round(milliseconds, 2))
