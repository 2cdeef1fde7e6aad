"""The ledger file."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Receipt, Removal
from laconic.errors import ArchiveUnavailable, LedgerMoved
from laconic.records import FoldedRows
from laconic.sessions.ledger_store import LedgerFile

BRANCH = Branch(id=1, tip="aa", count=3, time=5.0, start=0, basis=0)
FIRST = Decision(
    "k1", "ingest", Receipt("abcd1234"), runs=(FoldedRows(1, 4, "src", 7, "as above"),), before=40, after=4
)
SECOND = Decision("k2", "age", Receipt("abcd1235"), "content", text="gone", turn=9)
REMOVAL = Removal(("k1", "k2"), "recap", Receipt("abcd1236"), "what happened", "k3")


def _open(path: Path) -> LedgerFile[LedgerEntry, Branch]:
    return LedgerFile(path, LedgerEntry, Branch)


def test_what_was_recorded_comes_back_in_order_by_session(tmp_path: Path) -> None:
    events = [LedgerEntry(1, "aa", 3, (FIRST,)), LedgerEntry(1, "bb", 5, (SECOND,), (REMOVAL,))]
    later = msgspec.structs.replace(BRANCH, tip="bb", count=5)
    other = msgspec.structs.replace(BRANCH, id=2, tip="cc")
    _open(tmp_path / "l.db").record("s", 0, events[0], BRANCH)
    _open(tmp_path / "l.db").record("s", 1, events[1], later)
    _open(tmp_path / "l.db").record("s", 2, None, other)
    _open(tmp_path / "l.db").record("other", 0, events[1], BRANCH)
    assert _open(tmp_path / "l.db").state("s") == (2, (later, other))
    assert _open(tmp_path / "l.db").events("s") == events
    assert _open(tmp_path / "l.db").events("s", 1) == events[1:]
    assert _open(tmp_path / "l.db").state("none") == (0, ())


def test_who_comes_second_has_to_read_again(tmp_path: Path) -> None:
    _open(tmp_path / "l.db").record("s", 0, LedgerEntry(1, "aa", 3, (FIRST,)), BRANCH)
    with pytest.raises(LedgerMoved):
        _open(tmp_path / "l.db").record("s", 0, LedgerEntry(1, "aa", 3, (SECOND,)), BRANCH)
    assert _open(tmp_path / "l.db").events("s") == [LedgerEntry(1, "aa", 3, (FIRST,))]


def test_branches_of_a_session_are_bounded_the_oldest_go(tmp_path: Path) -> None:
    ledger = _open(tmp_path / "l.db")
    for number in range(1, 101):
        ledger.record("s", 0, None, msgspec.structs.replace(BRANCH, id=number, time=float(number)))
    kept = [branch.id for branch in ledger.state("s")[1]]
    assert kept == list(range(37, 101))


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    _open(tmp_path / "deep" / "l.db").record("s", 0, None, BRANCH)
    assert stat.S_IMODE((tmp_path / "deep" / "l.db").stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArchiveUnavailable, match="cannot be used"):
        _open(tmp_path / "file" / "l.db").record("s", 0, None, BRANCH)


def _entry(text: str = "") -> LedgerEntry:
    return LedgerEntry(1, "aa", 3, (msgspec.structs.replace(FIRST, text=text),))


def test_a_row_that_cannot_be_read_costs_what_it_decided_and_nothing_else(tmp_path: Path) -> None:
    ledger = _open(tmp_path / "l.db")
    for number in range(3):
        ledger.record("s", number, _entry(str(number)), BRANCH)
    with closing(sqlite3.connect(tmp_path / "l.db", isolation_level=None)) as base:
        base.execute("UPDATE event SET data = x'c1' WHERE number = 1")
    assert [len(event.decisions) for event in ledger.events("s")] == [1, 0, 1]
    assert ledger.state("s")[0] == 3
    assert ledger.faults == {"damaged row": 1}


def test_sessions_that_nobody_uses_are_forgotten_by_age_and_by_size(tmp_path: Path) -> None:
    clock = [0.0]
    by_age = LedgerFile(tmp_path / "a.db", LedgerEntry, Branch, days=10, now=lambda: clock[0])
    by_size = LedgerFile(tmp_path / "s.db", LedgerEntry, Branch, limit=5_000, now=lambda: clock[0])
    for ledger in (by_age, by_size):
        for number in range(30):
            clock[0] += 1
            ledger.record(f"old {number}", 0, _entry("word " * 100), BRANCH)
    clock[0] += 11 * 86_400
    for ledger in (by_age, by_size):
        for number in range(200):  # looks come every so many records, and remove a few at a time
            ledger.record("new", number, LedgerEntry(1, "aa", 3), BRANCH)
    assert by_age.sessions() == ["new"]
    kept = by_size.sessions()
    assert kept[-2:] == ["old 29", "new"]
    assert 2 <= len(kept) < 12, "the newest stay, as far as the limit goes"
    assert len(by_size.events("new")) == 200


def test_removed_sessions_are_gone_and_others_stay(tmp_path: Path) -> None:
    ledger = _open(tmp_path / "l.db")
    for session in ("a", "b"):
        ledger.record(session, 0, _entry(f"what {session} said"), BRANCH)
    assert ledger.remove(["a", "unknown"]) == 1
    assert ledger.state("a") == (0, ())
    assert len(ledger.events("b")) == 1
    assert b"what a said" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_that_a_session_is_used_is_written_once_a_minute(tmp_path: Path) -> None:
    """A plain turn says only how far its branch is."""
    now = [1000.0]
    ledger = LedgerFile(tmp_path / "l.db", LedgerEntry, Branch, now=lambda: now[0])
    for moment in (1000.0, 1030.0, 1059.0):
        now[0] = moment
        ledger.record("s", 0, None, msgspec.structs.replace(BRANCH, time=moment))
    assert ledger.sessions(before=1001.0) == ["s"]
    assert ledger.state("s")[1][0].time == 1059.0
    now[0] = 1061.0
    ledger.record("s", 0, None, BRANCH)
    assert ledger.sessions(before=1061.0) == []


def test_a_session_that_goes_on_after_it_was_removed_can_be_removed_again(tmp_path: Path) -> None:
    """Another process removes it: what is written afterwards belongs to a session that is listed."""
    ledger = _open(tmp_path / "l.db")
    ledger.record("s", 0, None, BRANCH)
    _open(tmp_path / "l.db").remove(["s"])
    ledger.record("s", 0, None, BRANCH)
    assert _open(tmp_path / "l.db").sessions() == ["s"]
