"""What is said about a file's condition; the file itself stays as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.sessions.archive import Archive
from laconic.sessions.file_health import examine_file


def _archive(path: Path) -> None:
    with closing(Archive(path, 10**6)) as archive:
        archive.put("s", "t", b"data")


def test_nothing_is_said_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert list(examine_file(tmp_path / "archive.sqlite")) == []


def test_a_sound_file_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite"
    _archive(path)
    before = path.read_bytes()
    (seen,) = examine_file(path)
    assert seen.well
    assert path.read_bytes() == before


def test_damage_is_seen_before_and_after_the_file_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite"
    path.write_bytes(b"no database" * 500)
    (seen,) = examine_file(path)
    assert not seen.well
    assert path.exists()
    _archive(path)
    aside, now = examine_file(path)
    assert (aside.well, now.well) == (False, True)
    assert "archive.sqlite.ruined-1" in aside.text


def test_a_lock_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite"
    _archive(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        (seen,) = examine_file(path)
    assert not seen.well
    assert "locked" in seen.text
    assert "End the process" in seen.advice


def test_the_doctor_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LACONIC_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "ledger.sqlite").write_bytes(b"no database" * 500)
    assert main(["doctor", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "WARN ledger.sqlite" in told
    assert "Laconic moves it aside and starts a new one" in told
