"""What tool calls cost: one row per call, and the figures derived from them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from laconic.sessions.database import Database

_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS calls (
  at REAL NOT NULL, tool TEXT NOT NULL, tokens INTEGER NOT NULL, milliseconds REAL NOT NULL,
  failed INTEGER NOT NULL, repaired INTEGER NOT NULL, cut TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_tokens ON calls (tool, tokens, failed, repaired, cut, milliseconds);
CREATE INDEX IF NOT EXISTS calls_milliseconds ON calls (tool, milliseconds)
""",
)
_KEPT: Final = 100_000  # rows
FILE: Final = "calls.sqlite"  # in the cache folder
Row = tuple[float, str, int, float, bool, bool, str]  # when, tool, tokens, milliseconds, failed, repaired, cut


class ToolCallFigures(msgspec.Struct, frozen=True):
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
    p50: int
    ms_p50: float
    ms_p95: float
    ms_largest: float
    cut_fit: int = 0  # of those that were cut: pieces were fitted to the budget
    cut_recount: int = 0  # the whole was counted and fitted again
    cut_net: int = 0  # lines were cut from the end


class ToolCallLog:
    """The record of tool calls in one cache folder; a broken or locked file loses figures, never answers."""

    def __init__(self, folder: Path) -> None:
        self._file = Database(folder / FILE, _STEPS, durable=False)
        self._file.read(lambda base: None)

    def close(self) -> None:
        self._file.close()

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
        self.add([(time.time(), tool, tokens, milliseconds, failed, repaired, cut)])

    def add(self, rows: Sequence[Row]) -> None:
        """Several calls in one go."""

        def work(base: sqlite3.Connection) -> None:
            base.executemany("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            base.execute("DELETE FROM calls WHERE rowid <= (SELECT max(rowid) FROM calls) - ?", (_KEPT,))

        self._file.write(work)

    def remove(self, before: float | None = None) -> int:
        """Forget the calls before a moment, or all; returns how many."""
        moment = float("inf") if before is None else before
        return self._file.erase(lambda base: base.execute("DELETE FROM calls WHERE at < ?", (moment,)).rowcount)

    def figures(self) -> Sequence[ToolCallFigures]:
        """Per tool, most called first."""
        return self._file.read(lambda base: list(_figures(base)))


def _figures(base: sqlite3.Connection) -> Iterator[ToolCallFigures]:
    totals = base.execute(
        "SELECT tool, count(*), sum(failed), sum(repaired), sum(cut <> ''), avg(tokens), max(tokens),"
        " avg(milliseconds), sum(cut = 'fit'), sum(cut = 'recount'), sum(cut = 'net')"
        " FROM calls GROUP BY tool ORDER BY count(*) DESC, tool"
    ).fetchall()
    for tool, calls, errors, repaired, cut, mean, largest, milliseconds, *layers in totals:
        p50, p95 = (int(_nth(base, tool, "tokens", calls, share)) for share in (50, 95))
        times = []
        for share in (50, 95, 100):
            times.append(round(_nth(base, tool, "milliseconds", calls, share), 2))
        yield ToolCallFigures(
            tool=tool,
            calls=calls,
            errors=errors,
            repaired=repaired,
            cut=cut,
            mean=round(mean, 1),
            largest=largest,
            p95=p95,
            milliseconds=round(milliseconds, 2),
            p50=p50,
            ms_p50=times[0],
            ms_p95=times[1],
            ms_largest=times[2],
            cut_fit=layers[0],
            cut_recount=layers[1],
            cut_net=layers[2],
        )


def _nth(base: sqlite3.Connection, tool: str, column: str, calls: int, share: int) -> float:
    """The value that so many per cent of a tool's calls do not exceed."""
    at = max(0, -(-calls * share // 100) - 1)
    order, at = ("DESC", calls - 1 - at) if 2 * at > calls else ("ASC", at)  # from the nearer end
    query = f"SELECT {column} FROM calls WHERE tool = ? ORDER BY {column} {order} LIMIT 1 OFFSET ?"
    (value,) = base.execute(query, (tool, at)).fetchone()
    return float(value)
