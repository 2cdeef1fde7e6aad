"""Versions of the files that only their owner reads: older ones are brought up to date, newer ones left alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from laconic.context.ledger import Decision, Recap
from laconic.errors import ArchiveUnavailable
from laconic.sessions.archive import Archive
from laconic.sessions.calls import Calls
from laconic.sessions.ledger import LedgerFile
from laconic.sessions.owned import Newer, figures, tables
from laconic.sessions.spending import Spending
from laconic.sessions.turns import Allowance, Turn, Turns, Who

_STEPS = ("CREATE TABLE IF NOT EXISTS a (x INTEGER); CREATE INDEX IF NOT EXISTS a_x ON a (x)", "ALTER TABLE a ADD y")


def _version(path: Path, wanted: int | None = None) -> int:
    with closing(sqlite3.connect(path)) as base:
        if wanted is not None:
            base.execute(f"PRAGMA user_version = {wanted}")
        return int(base.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.parametrize("before", [0, 1, 2])
def test_an_older_file_keeps_its_rows_and_gets_the_tables_of_today(tmp_path: Path, before: int) -> None:
    """Number 0 with tables in it: a file from before there were versions."""
    path = tmp_path / "f.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        tables(base, _STEPS[: max(1, before)])
        base.execute("INSERT INTO a (x) VALUES (7)")
    _version(path, before)
    with closing(figures(path, _STEPS)) as base:
        assert base.execute("SELECT * FROM a").fetchall() == [(7, None)]
    assert _version(path) == 2


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    figures(path, _STEPS[:1]).close()
    with pytest.raises(sqlite3.Error):
        figures(path, (_STEPS[0], "ALTER TABLE a ADD y; ALTER TABLE nothing ADD z"))
    with closing(figures(path, _STEPS[:1])) as base:
        assert [row[1] for row in base.execute("PRAGMA table_info(a)")] == ["x"]


def _turns(path: Path) -> None:
    Turns(path).close()


def _calls(path: Path) -> None:
    Calls(path.parent).close()


def _archive(path: Path) -> None:
    Archive(path, 1_000).put("s", "t", b"data")


def _ledger(path: Path) -> None:
    LedgerFile(path, Decision, Recap).append("s", [Decision("k", "ingest")], [])


@pytest.mark.parametrize(
    ("name", "use", "error"),
    [
        ("turns.sqlite", _turns, Newer),
        ("calls.sqlite", _calls, Newer),
        ("archive.sqlite", _archive, ArchiveUnavailable),
        ("ledger.sqlite", _ledger, ArchiveUnavailable),
    ],
)
def test_every_file_has_a_version_and_one_of_a_newer_program_is_left_alone(
    tmp_path: Path, name: str, use: Callable[[Path], None], error: type[Exception]
) -> None:
    path = tmp_path / "kept" / name
    use(path)
    assert _version(path) >= 1
    _version(path, 99)
    before = path.read_bytes()
    with pytest.raises(error, match="version 99"):
        use(path)
    assert path.read_bytes() == before


def test_a_record_from_before_there_were_versions_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "turns.sqlite"
    with closing(Turns(path)) as turns:
        turns.add(Turn(Who("s", model="m"), 1000.0, allowance=Allowance(10, 5, 30.0)))
    with closing(sqlite3.connect(path)) as base:
        base.execute("ALTER TABLE quota DROP COLUMN input_only")
        for table in ("session", "turn", "hour"):
            for column in ("long", "output_dollars", "unpriced", "estimated"):
                base.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        base.execute("ALTER TABLE session DROP COLUMN standing")
        base.execute("ALTER TABLE session ADD COLUMN last_whole REAL NOT NULL DEFAULT 0")
        base.execute("PRAGMA user_version = 0")
    with closing(Spending(path)) as spending:
        assert [(row.model, row.tokens_left) for row in spending.quotas(1000.0)] == [("m", 5)]
    with closing(Turns(path)) as turns:
        turns.add(Turn(Who("s", model="m"), 1001.0, allowance=Allowance(10, 4, 30.0, input_only=True)))
    with closing(Spending(path)) as spending:
        assert [row.tokens_left for row in spending.quotas(1000.0)] == [4]


def test_a_record_that_cannot_be_used_loses_figures_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "turns.sqlite"
    path.write_bytes(b"no database at all" * 100)
    assert Turns.usable(path) is None
    assert path.read_bytes() == b"no database at all" * 100
