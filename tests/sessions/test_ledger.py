"""The ledger file."""

from __future__ import annotations

import stat
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
