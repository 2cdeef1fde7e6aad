"""The archive gives back exactly what was put, survives other processes, and names its troubles."""

from __future__ import annotations

import itertools
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.errors import ArchiveUnavailable, RecallFailed
from laconic.records import ArchivedOriginal
from laconic.sessions.archive import Archive

PUT = """
import sys, pathlib
from laconic.sessions.archive import Archive
archive = Archive(pathlib.Path(sys.argv[1]), 10**9)
for n in range(int(sys.argv[3])):
    print(archive.put("s", sys.argv[2], f"{sys.argv[2]} {n} ".encode() * 500), flush=True)
"""


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "kept" / "archive.sqlite", 10_000_000)


@given(st.binary(max_size=2000), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_come_back_exactly_and_labels_are_data(archive: Archive, data: bytes, session: str, task: str) -> None:
    """Ids with spaces, `../` or any letters are labels, not paths."""
    ref = archive.put(session, task, data)
    assert archive.get(ref) == data
    assert re.fullmatch(r"[0-9a-z]{8,16}", ref)
    assert archive.put(session, task, data) == ref


def test_labels_that_look_like_paths_leave_no_trace_on_the_disk(archive: Archive, tmp_path: Path) -> None:
    archive.put("../../evil", "a/b c/\x00..", b"data")
    archive.close()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["archive.sqlite"]
    assert [entry.session for entry in archive.entries(session="../../evil")] == ["../../evil"]


def test_only_the_owner_can_read_it(archive: Archive, tmp_path: Path) -> None:
    archive.put("s", "t", b"secret")
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "kept" / "archive.sqlite").stat().st_mode) == 0o600


def test_lines_and_matches_are_found_without_reading_it_all_out(archive: Archive) -> None:
    ref = archive.put("s", "t", b"one\ntwo\nthree\nfour")
    assert archive.lines(ref, 2, 3) == ["two", "three"]
    assert archive.matching(ref, "^t") == [(2, "two"), (3, "three")]
    with pytest.raises(RecallFailed, match="not a regular expression"):
        archive.matching(ref, "(")


def test_the_oldest_go_when_the_limit_is_reached_and_the_newest_stays(tmp_path: Path) -> None:
    clock = itertools.count(1)
    small = Archive(tmp_path / "a.sqlite", 3_000, now=lambda: float(next(clock)))
    refs = [small.put("s", str(n), os.urandom(1_000)) for n in range(5)]
    kept = [entry.ref for entry in small.entries()]
    assert kept == refs[-len(kept) :]
    assert len(kept) == 2
    with pytest.raises(RecallFailed, match="Repeat the command or call"):
        small.get(refs[0])
    huge = small.put("s", "huge", os.urandom(9_000))
    assert [entry.ref for entry in small.entries()] == [huge]


def test_processes_share_it_and_a_killed_one_loses_nothing_it_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    names = ("a", "b", "c")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", PUT, str(path), name, "400" if name == "c" else "5"], stdout=subprocess.PIPE
        )
        for name in names
    ]
    assert writers[2].stdout is not None
    first = writers[2].stdout.readline()
    writers[2].send_signal(signal.SIGKILL)
    outputs = [first + writers[2].communicate()[0], *(writer.communicate()[0] for writer in writers[:2])]
    reported = [ref.decode() for output in outputs for ref in output.splitlines()]
    assert len(reported) >= 11
    archive = Archive(path, 10**9)
    assert all(archive.get(ref) for ref in reported)


def test_a_disk_that_cannot_be_written_has_a_name(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(ArchiveUnavailable, match="cannot be used"):
        Archive(blocked / "a.sqlite", 1_000).put("s", "t", b"data")


def test_damaged_bytes_are_named_and_put_again_under_another_reference(archive: Archive, tmp_path: Path) -> None:
    ref = archive.put("s", "t", b"some output " * 50)
    with closing(sqlite3.connect(tmp_path / "kept" / "archive.sqlite", isolation_level=None)) as base:
        base.execute("UPDATE entry SET data = x'0102' WHERE ref = ?", (ref,))
    with pytest.raises(RecallFailed, match="damaged"):
        archive.get(ref)
    again = archive.put("s", "t", b"some output " * 50)
    assert again != ref
    assert archive.get(again) == b"some output " * 50


def test_a_change_of_epoch_says_that_something_was_removed(tmp_path: Path) -> None:
    """By the limit, by age, by another process, by a new file; never by what is added."""
    clock = [0.0]
    path = tmp_path / "a.sqlite"
    archive = Archive(path, 5_000, now=lambda: clock[0], days=30)
    other = Archive(path, 5_000)
    first = archive.put("s", "t", os.urandom(2_000))
    begun = archive.epoch
    second = archive.put("s", "u", os.urandom(2_000))
    assert archive.put("s", "t", archive.get(first)) == first
    assert archive.epoch == begun
    assert archive.missing([first, second, "00000000"]) == {"00000000"}
    clock[0] += 1
    third = archive.put("s", "v", os.urandom(2_000))
    by_limit = archive.epoch
    gone = archive.missing([first, second, third])
    assert gone
    assert third not in gone
    clock[0] += 40 * 86_400.0
    fourth = archive.put("s", "w", b"new")
    by_age = archive.epoch
    assert archive.missing([third, fourth]) == {third}
    assert other.remove(sessions=["s"]) == 1
    by_another = archive.epoch
    assert archive.missing([fourth]) == {fourth}
    archive.close()
    other.close()
    path.write_bytes(b"nonsense" * 1000)
    by_a_new_file = archive.epoch
    assert len({begun, by_limit, by_age, by_another, by_a_new_file}) == 5


def test_one_transaction_keeps_all_that_it_put_however_small_the_limit(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite", 1_000)
    old = archive.put("s", "t", os.urandom(900))
    refs = archive.put_all([ArchivedOriginal("s", "t", os.urandom(700)) for _ in range(5)])
    assert archive.missing([old, *refs]) == {old}


def test_the_running_total_is_the_sum_of_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    archive = Archive(path, 20_000)
    for number in range(60):
        archive.put("s", "t", os.urandom(number * 40))
        archive.put("s", "t", b"the same again")
    with closing(sqlite3.connect(path)) as base:
        (total,) = base.execute("SELECT packed FROM state").fetchone()
        (kept,) = base.execute("SELECT sum(packed) FROM entry").fetchone()
    assert total == kept <= 20_000


def test_a_file_of_the_first_version_gets_its_total(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    archive = Archive(path, 2_500)
    archive.put("s", "t", os.urandom(1_000))
    archive.put("s", "t", os.urandom(1_000))
    archive.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("DROP TABLE state")
        base.execute("PRAGMA user_version = 1")
    archive.put("s", "t", os.urandom(1_000))
    assert len(archive.entries()) == 2


def test_everything_that_is_kept_can_be_searched_by_session_and_task(tmp_path: Path) -> None:
    with closing(Archive(tmp_path / "a.sqlite", 10**9)) as archive:
        first = archive.put("one", "Find it", b"alpha\nport 8080 is closed\n", "run netstat")
        second = archive.put("two", "", b"port 9090 is open\n", "run netstat")
        found = archive.search(r"port \d+")
        assert {(entry.ref, number) for entry, number, _ in found} == {(first, 2), (second, 1)}
        assert [entry.ref for entry, _, _ in archive.search("port", session="two")] == [second]
        assert [entry.ref for entry, _, _ in archive.search("port", task="Find it")] == [first]
        assert archive.search("nowhere") == []
