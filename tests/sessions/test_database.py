"""Files that only their owner reads: older ones are brought up to date, newer ones left alone, damaged ones replaced."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.errors import ArchiveUnavailable
from laconic.sessions.archive import Archive
from laconic.sessions.damaged_files import list_ruined
from laconic.sessions.database import Database, NewerDatabase, tables
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.spending import Spending
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.sessions.turn_record import Allowance, TurnIdentity, TurnRecord
from laconic.sessions.turns import Turns

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
    with closing(Database(path, _STEPS)) as file:
        assert _rows(file) == [(7, None)]
    assert _version(path) == 2


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    before = ("PRAGMA table_info(a)",)
    with closing(Database(path, _STEPS[:1])) as file:
        file.read(lambda base: base.execute(*before).fetchall())
    broken = (_STEPS[0], "ALTER TABLE a ADD y; ALTER TABLE nothing ADD z")
    with closing(Database(path, broken)) as file, pytest.raises(sqlite3.Error, match="nothing"):
        file.read(lambda base: None)
    with closing(Database(path, _STEPS[:1])) as file:
        assert [row[1] for row in file.read(lambda base: base.execute(*before).fetchall())] == ["x"]
    assert not list_ruined(path)


def _rows(file: Database) -> list[tuple[object, ...]]:
    return file.read(lambda base: base.execute("SELECT * FROM a").fetchall())


def _add(file: Database, number: int) -> None:
    file.write(lambda base: base.execute("INSERT INTO a (x) VALUES (?)", (number,)))


def _turns(path: Path) -> None:
    with closing(Turns(path)) as turns:
        turns.add(TurnRecord(TurnIdentity("s"), 1.0))


def _calls(path: Path) -> None:
    ToolCallLog(path.parent).close()


def _archive(path: Path) -> None:
    with closing(Archive(path, 1_000)) as archive:
        archive.put("s", "t", b"data")


def _ledger(path: Path) -> None:
    with closing(LedgerFile(path, LedgerEntry, Branch)) as ledger:
        branch = Branch(id=1, tip="t", count=1, time=1.0, start=0, basis=0)
        ledger.record("s", ledger.state("s")[0], LedgerEntry(1, "t", 1), branch)


@pytest.mark.parametrize(
    ("name", "use", "error"),
    [
        ("turns.sqlite", _turns, NewerDatabase),
        ("calls.sqlite", _calls, NewerDatabase),
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
        turns.add(TurnRecord(TurnIdentity("s", model="m"), 1000.0, allowance=Allowance(10, 5, 30.0)))
    with closing(sqlite3.connect(path)) as base:
        base.execute("ALTER TABLE quota DROP COLUMN input_only")
        for table in ("session", "turn", "hour"):
            for column in ("long", "output_dollars", "unpriced", "estimated"):
                base.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for column in ("standing", "family", "project", "fingerprint", "person"):
            base.execute(f"ALTER TABLE session DROP COLUMN {column}")
        base.execute("ALTER TABLE turn DROP COLUMN evidence")
        base.execute("ALTER TABLE session ADD COLUMN last_whole REAL NOT NULL DEFAULT 0")
        base.execute("PRAGMA user_version = 0")
    with closing(Spending(path)) as spending:
        assert [(row.model, row.tokens_left) for row in spending.quotas(1000.0)] == [("m", 5)]
    with closing(Turns(path)) as turns:
        turns.add(TurnRecord(TurnIdentity("s", model="m"), 1001.0, allowance=Allowance(10, 4, 30.0, input_only=True)))
    with closing(Spending(path)) as spending:
        assert [row.tokens_left for row in spending.quotas(1000.0)] == [4]


FILES = [("turns.sqlite", _turns), ("calls.sqlite", _calls), ("archive.sqlite", _archive), ("ledger.sqlite", _ledger)]


@pytest.mark.parametrize(("name", "use"), FILES)
@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(
    tmp_path: Path, name: str, use: Callable[[Path], None], damage: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(damage)
    use(path)
    use(path)
    (old,) = list_ruined(path)
    assert old == tmp_path / f"{name}.ruined-1"
    assert old.read_bytes() == damage
    assert _version(path) >= 1


def test_only_the_newest_two_damaged_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    for number in range(4):
        path.write_bytes(b"nonsense %d" % number * 1000)
        with closing(Database(path, _STEPS)) as file:
            _add(file, number)
    assert [old.name for old in list_ruined(path)] == ["f.sqlite.ruined-3", "f.sqlite.ruined-4"]


def _spoil(path: Path) -> None:
    """Overwrite every page but the first, which holds the names of the tables."""
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = b"\xee" * 64
    path.write_bytes(bytes(data))


def test_damage_that_shows_only_later_is_met_in_the_middle_of_work(tmp_path: Path) -> None:
    """Two users of the file go on with the same new one."""
    path = tmp_path / "f.sqlite"
    with closing(Database(path, _STEPS)) as one, closing(Database(path, _STEPS)) as other:
        rows = [(number, "y" * 40) for number in range(2_000)]
        one.write(lambda base: base.executemany("INSERT INTO a VALUES (?, ?)", rows))
        one.read(lambda base: base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
        assert len(_rows(other)) == 2_000
        other.close()
        one.close()
        _spoil(path)
        assert _rows(one) == []
        _add(other, 5)
        assert _rows(one) == [(5, None)]
        assert one.faults["damaged"] + other.faults["damaged"] == 1
    assert len(list_ruined(path)) == 1


def test_a_folder_that_vanishes_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "f.sqlite"
    with closing(Database(path, _STEPS)) as file:
        _add(file, 1)
        shutil.rmtree(path.parent)
        assert _rows(file) == []
        _add(file, 2)
        assert _rows(file) == [(2, None)]


HOLD = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
if sys.argv[2] == "exclusive":
    base.execute("PRAGMA locking_mode = EXCLUSIVE")
base.execute("BEGIN IMMEDIATE")
base.execute("INSERT INTO a (x) VALUES (99)")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def _held(path: Path, how: str) -> Iterator[None]:
    words = [sys.executable, "-c", HOLD, str(path), how]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            holder.kill()


def test_a_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    with closing(Database(path, _STEPS)) as file, closing(Database(path, _STEPS)) as fresh:
        _add(file, 1)
        with _held(path, "write"):
            assert _rows(file) == [(1, None)]
            assert _rows(fresh) == [(1, None)], "also one that opens the file now"
        assert not file.faults


@pytest.mark.parametrize("how", ["write", "exclusive"])
def test_a_locked_file_is_waited_for_once_and_used_as_soon_as_it_is_free(tmp_path: Path, how: str) -> None:
    path = tmp_path / "f.sqlite"
    with closing(Database(path, _STEPS, "ledger")) as file:
        _add(file, 1)
        file.close()
        with _held(path, how):
            began = time.monotonic()
            with pytest.raises(ArchiveUnavailable, match="locked"):
                _add(file, 2)
            first = time.monotonic() - began
            began = time.monotonic()
            for _ in range(10):
                with pytest.raises(ArchiveUnavailable, match="End the process"):
                    _add(file, 2)
            assert (time.monotonic() - began) < first, "ten more together are quicker than the first"
        assert file.faults == {"locked": 11}
        _add(file, 3)
        assert _rows(file) == [(1, None), (3, None)]


READ = """
import os, sqlite3, sys, pathlib
from laconic.errors import ArchiveUnavailable
from laconic.sessions.archive import Archive
os.setuid(65534)
archive = Archive(pathlib.Path(sys.argv[1]), 10**6)
print(archive.get(sys.argv[2]).decode(), archive.faults and "told", flush=True)
try:
    archive.put("s", "t", b"more")
except ArchiveUnavailable as error:
    print("refused")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up its rights, which only root has")
def test_what_is_kept_can_be_read_where_nothing_can_be_written() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name) / "cache"
        path = folder / "archive.sqlite"
        with closing(Archive(path, 10**6)) as archive:
            ref = archive.put("s", "t", b"kept")
        Path(name).chmod(0o755)
        folder.chmod(0o555)
        path.chmod(0o444)
        words = [sys.executable, "-c", READ, str(path), ref]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "kept told\nrefused\n"


def test_what_is_kept_can_be_read_and_is_not_damaged_when_the_disk_is_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    path = tmp_path / "archive.sqlite"
    with closing(Archive(path, 10**9)) as archive:
        ref = archive.put("s", "t", b"kept")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
        try:
            with pytest.raises(ArchiveUnavailable, match="cannot be used"):
                archive.put("s", "t", os.urandom(2_000_000))
            assert archive.get(ref) == b"kept"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert archive.get(archive.put("s", "t", b"more")) == b"more"
    assert not list_ruined(path)


def test_what_is_erased_is_in_no_byte_of_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    with closing(Database(path, _STEPS)) as file:
        file.write(lambda base: base.execute("INSERT INTO a VALUES (1, ?)", ("a secret word " * 2_000,)))
        _add(file, 2)
        assert b"a secret word" in _bytes(tmp_path)
        assert file.erase(lambda base: base.execute("DELETE FROM a WHERE x=1").rowcount) == 1
        assert b"a secret word" not in _bytes(tmp_path)
        assert _rows(file) == [(2, None)]


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_transaction_that_fails_changes_nothing(tmp_path: Path) -> None:
    def half(base: sqlite3.Connection) -> None:
        base.execute("INSERT INTO a (x) VALUES (1)")
        raise KeyError

    with closing(Database(tmp_path / "f.sqlite", _STEPS)) as file:
        with pytest.raises(KeyError):
            file.write(half)
        assert _rows(file) == []


def test_threads_use_it_at_once(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "f.sqlite", _STEPS)) as file, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: _add(file, number), range(80)))
        assert {row[0] for row in _rows(file)} == set(range(80))


ELSEWHERE = """
import pathlib, sys
from laconic.sessions.archive import Archive
archive = Archive(pathlib.Path(sys.argv[1]), 1 << 30)
print(*(archive.get(ref).decode() for ref in sys.argv[2:]), sep=",")
"""


def _read_elsewhere(path: Path, refs: list[str]) -> str:
    command = [sys.executable, "-c", ELSEWHERE, str(path), *refs]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_process_that_comes_and_goes_takes_nothing_away(tmp_path: Path) -> None:
    """Whoever closes a file last ends its log: that must not be somebody who overlooks us."""
    path = tmp_path / "archive.sqlite"
    with closing(Archive(path, 1 << 30)) as archive:
        refs = [archive.put("s", "", b"0")]
        for number in range(1, 4):
            assert _read_elsewhere(path, refs) == ",".join(map(str, range(number)))
            refs.append(archive.put("s", "", str(number).encode()))
        assert _read_elsewhere(path, refs) == "0,1,2,3"
    assert _read_elsewhere(path, refs) == "0,1,2,3"


def test_a_full_disk_is_read_without_writing(tmp_path: Path) -> None:
    """By one who had the file open, and by one who comes later; what the log holds is there too."""
    path = tmp_path / "archive.sqlite"
    with closing(Archive(path, 1 << 30)) as archive, closing(Archive(path, 1 << 30)) as later:
        ref = archive.put("s", "", b"kept")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(ArchiveUnavailable):
                archive.put("s", "", b"more")
            assert archive.get(ref) == b"kept"
            assert later.get(ref) == b"kept"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_must_be_on_the_disk_is_flushed_also_after_what_need_not_be(tmp_path: Path) -> None:
    """One connection does both: how it writes is set where it changes, and not for every write."""
    database = Database(tmp_path / "d.db", ("CREATE TABLE IF NOT EXISTS t (n INTEGER)",), "test")

    def look(base: sqlite3.Connection) -> int:
        return int(base.execute("PRAGMA synchronous").fetchone()[0])

    found = []
    for flush in (True, False, False, True, True, False):
        found.append(database.write(look, flush=flush))
    assert found == [2, 1, 1, 2, 2, 1]
