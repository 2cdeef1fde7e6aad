"""The ledger file."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from laconic.context.ledger import Decision, Recap
from laconic.errors import ArchiveUnavailable
from laconic.records import Run
from laconic.sessions.ledger import LedgerFile


def _open(path: Path) -> LedgerFile[Decision, Recap]:
    return LedgerFile(path, Decision, Recap)


def test_what_was_appended_comes_back_in_order_by_session(tmp_path: Path) -> None:
    first = Decision("k1", "ingest", runs=(Run(1, 4, "src", 7, "as above"),), before=40, after=4)
    second = Decision("k2", "age", "content", text="gone", ref="abcd1234", turn=9)
    recap = Recap("k3", "what happened", ("k1", "k2"))
    _open(tmp_path / "l.db").append("s", [first], [])
    _open(tmp_path / "l.db").append("s", [second], [recap])
    _open(tmp_path / "l.db").append("other", [second], [])
    assert _open(tmp_path / "l.db").load("s") == ([first, second], [recap])
    assert _open(tmp_path / "l.db").load("none") == ([], [])


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    _open(tmp_path / "deep" / "l.db").append("s", [Decision("k", "ingest")], [])
    assert stat.S_IMODE((tmp_path / "deep" / "l.db").stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArchiveUnavailable, match="cannot be used"):
        _open(tmp_path / "file" / "l.db").append("s", [Decision("k", "ingest")], [])


def test_a_row_that_cannot_be_read_costs_that_decision_only(tmp_path: Path) -> None:
    ledger = _open(tmp_path / "l.db")
    ledger.append("s", [Decision("k1", "ingest"), Decision("k2", "ingest"), Decision("k3", "ingest")], [])
    with closing(sqlite3.connect(tmp_path / "l.db", isolation_level=None)) as base:
        base.execute("UPDATE decision SET data = x'c1' WHERE number = 1")
    assert [decision.key for decision in ledger.load("s")[0]] == ["k1", "k3"]
    assert ledger.faults == {"damaged row": 1}


def test_sessions_that_nobody_uses_are_forgotten_by_age_and_by_size(tmp_path: Path) -> None:
    clock = [0.0]
    by_age = LedgerFile(tmp_path / "a.db", Decision, Recap, days=10, now=lambda: clock[0])
    by_size = LedgerFile(tmp_path / "s.db", Decision, Recap, limit=5_000, now=lambda: clock[0])
    for ledger in (by_age, by_size):
        for number in range(30):
            clock[0] += 1
            ledger.append(f"old {number}", [Decision("k", "ingest", text="word " * 100)], [])
    clock[0] += 11 * 86_400
    for ledger in (by_age, by_size):
        for _ in range(200):  # looks come every so many appends, and remove a few at a time
            ledger.append("new", [Decision("k", "ingest")], [])
    assert by_age.sessions() == ["new"]
    kept = by_size.sessions()
    assert kept[-2:] == ["old 29", "new"]
    assert 2 <= len(kept) < 12, "the newest stay, as far as the limit goes"
    assert len(by_size.load("new")[0]) == 200


def test_removed_sessions_are_gone_and_others_stay(tmp_path: Path) -> None:
    ledger = _open(tmp_path / "l.db")
    for session in ("a", "b"):
        ledger.append(session, [Decision("k", "ingest", text=f"what {session} said")], [])
    assert ledger.remove(["a", "unknown"]) == 1
    assert ledger.load("a") == ([], [])
    assert len(ledger.load("b")[0]) == 1
    assert b"what a said" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
