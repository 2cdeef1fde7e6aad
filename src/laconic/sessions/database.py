"""SQLite files that only their owner reads: made when first used, checked when opened, replaced when damaged.

Readers never wait for a writer. A file that another process keeps locked is waited for once; until it has been had
again, nobody waits for it any more. What was written is on the disk, unless the file holds figures only.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

from laconic.errors import ArchiveUnavailable
from laconic.sessions.damaged_files import Identity, claim, identity, set_aside
from laconic.sessions.write_ahead_log import with_log

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_WAIT: Final = 2.0  # seconds for another process, once
_IN_MEMORY: Final = 256_000_000  # bytes of a file that may be read whole
_IDLE: Final = 4  # connections that stay open while nobody uses them
_CHECKED_BYTES: Final = 8_000_000  # of a file that is checked page by page when it is opened
_CHECKED_SECONDS: Final = 0.05
_FAULTS: Final = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_PROTOCOL: "locked",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_PERM: "read-only",
    sqlite3.SQLITE_CANTOPEN: "unopenable",
    sqlite3.SQLITE_IOERR: "unreadable",
}
_UNWRITABLE: Final = frozenset({"full", "read-only", "unopenable", "unreadable"})
_ERRNO_FAULTS: Final = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "read-only",
    errno.EACCES: "read-only",
    errno.EPERM: "read-only",
}
_FIXES: Final = {
    "locked": "End the process that holds it, or wait for it.",
    "newer": "Update Laconic, or name another folder with LACONIC_CACHE_DIR.",
}
_FIX: Final = "Free some disk, or name another folder with LACONIC_CACHE_DIR."


class NewerDatabase(sqlite3.DatabaseError):
    """A file that a later version of the program wrote. It is left as it is."""


class _DamagedFile(Exception):
    """This very file is no database any more."""

    def __init__(self, file: Identity | None) -> None:
        super().__init__()
        self.file = file


class _OpenDatabase:
    __slots__ = ("base", "file", "flushes", "stamp", "wait")

    def __init__(self, base: sqlite3.Connection, file: Identity, stamp: tuple[int, int], wait: float) -> None:
        self.base = base
        self.file = file  # another one may be at the path by now
        self.stamp = stamp  # size and time of the last change
        self.wait = wait  # seconds for which it waits for a lock
        self.flushes = True  # what it writes is on the disk when it has written it


class Database:
    """One file. Any number of threads and processes use it at once.

    With a name its troubles are `ArchiveUnavailable`; without one they are SQLite's own errors.
    """

    def __init__(self, path: Path, steps: Sequence[str], what: str = "", *, durable: bool = True) -> None:
        self.path = path
        self._place = str(path)
        self.faults: Counter[str] = Counter()
        self._steps = steps
        self._what = what
        self._durable = durable
        self._idle: list[_OpenDatabase] = []
        self._lock = Lock()
        self._reader: _OpenDatabase | None = None
        self._kept_open: tuple[Identity | None, int] | None = None
        self._given_up: set[bool] = set()  # on reading (False), on writing (True): it was waited for in vain
        weakref.finalize(self, _close, self._idle)

    def read(self, work: Work[T]) -> T:
        """Ask. Where nothing can be written, what is there is read all the same."""
        try:
            return self._run(work, writes=False)
        except (sqlite3.Error, OSError) as error:
            named = self._count_fault(error, writes=False)
            if fault_of(error) in _UNWRITABLE and self.path.exists():
                with suppress(sqlite3.Error, OSError):
                    return self._read_only(work)
            raise named from error

    def write(self, work: Work[T], *, flush: bool = True, alone: str = "") -> T:
        """Do all of it or nothing. Without `flush` a power cut may take it, and nothing else can.

        A file has one writer at a time, so everybody writes alone.
        """

        def transaction(base: sqlite3.Connection) -> T:
            with writing(base):
                return work(base)

        try:
            return self._run(transaction, writes=True, flushes=flush)
        except (sqlite3.Error, OSError) as error:
            raise self._count_fault(error, writes=True) from error

    def erase(self, work: Work[T]) -> T:
        """Remove rows for good: afterwards their bytes are in no page of the file, nor in its log."""

        def rewritten(base: sqlite3.Connection) -> T:
            base.execute("PRAGMA secure_delete = ON")  # in case that there is no room to rewrite the file
            with writing(base):
                result = work(base)
            base.execute("VACUUM")
            (busy, _, _) = base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            base.execute("PRAGMA secure_delete = FAST")
            if busy:
                raise _error("a reader keeps the log: what was removed is still in it", sqlite3.SQLITE_BUSY)
            return result

        try:
            return self._run(rewritten, writes=True)
        except (sqlite3.Error, OSError) as error:
            raise self._count_fault(error, writes=True) from error

    def connection(self) -> sqlite3.Connection:
        """For a reader of many queries, from one thread at a time: another one when the file was replaced."""
        if self._reader is None or self._reader.file != identity(self.path):
            if self._reader is not None:
                self._reader.base.close()
            self.read(lambda base: None)
            self._reader = self._borrow(writes=False)
            self._reader.base.execute("PRAGMA query_only = ON")
        return self._reader.base

    @property
    def is_away(self) -> bool:
        return False  # a file is there, or troubled: its faults say so

    def version(self) -> int:
        """Another number whenever another connection wrote to the file."""
        (number,) = self.connection().execute("PRAGMA data_version").fetchone()
        return int(number)

    def close(self) -> None:
        """Close what is open; the next question opens it again."""
        with self._lock:
            idle, self._idle[:] = list(self._idle), []
        _close(idle)
        if self._reader is not None:
            self._reader.base.close()
            self._reader = None

    def _run(self, work: Work[T], *, writes: bool, flushes: bool = True) -> T:
        """Damage is met with a new file, and the work is done there."""
        try:
            return self._attempt(work, writes=writes, flushes=flushes)
        except _DamagedFile as damaged:
            self.faults["damaged"] += 1
            self.close()
            with claim(self.path):
                if damaged.file is not None and identity(self.path) == damaged.file:
                    set_aside(self.path, "-wal", "-shm")
        try:
            return self._attempt(work, writes=writes, flushes=flushes)
        except _DamagedFile:
            raise sqlite3.DatabaseError("it is damaged, and could not be replaced") from None

    def _attempt(self, work: Work[T], *, writes: bool, flushes: bool) -> T:
        opened = self._borrow(writes=writes)
        if writes and self._durable and opened.flushes != flushes:  # most writes are like the one before
            opened.base.execute(f"PRAGMA synchronous = {'FULL' if flushes else 'NORMAL'}")
            opened.flushes = flushes
        try:
            result = work(opened.base)
        except BaseException as error:
            fault = ""
            if isinstance(error, sqlite3.Error):
                fault = fault_of(error)
            if writes and fault in _UNWRITABLE and not opened.base.in_transaction:
                opened.stamp = _look(self._place)[1]
                self._give_back(opened)  # it reads as before, where a new connection might find no room for its log
            else:
                opened.base.close()
            if fault == "damaged":
                raise _DamagedFile(opened.file) from error
            raise
        self._given_up.discard(writes)
        if writes:  # that may have changed the file: a log that is long is written back
            opened.stamp = _look(self._place)[1]
        self._give_back(opened)
        return result

    def _borrow(self, *, writes: bool) -> _OpenDatabase:
        """An open connection to the file that is at the path now."""
        wait = self._patience(writes)
        while True:
            with self._lock:
                if not self._idle:
                    break
                opened = self._idle.pop()
            if (opened.file, opened.stamp) == _look(self._place):
                if opened.wait != wait:
                    opened.base.execute(f"PRAGMA busy_timeout = {round(1000 * wait)}")
                    opened.wait = wait
                return opened
            # Moved aside, deleted with its folder, or changed outside of the log: an open connection would not notice
            # that it was overwritten. The file itself is never opened here: closing it would end SQLite's locks.
            opened.base.close()
        return self._open(writes=writes)

    def _give_back(self, opened: _OpenDatabase) -> None:
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(opened)
                return
        opened.base.close()

    def _patience(self, writes: bool) -> float:
        if writes in self._given_up:
            return 0.0
        return _WAIT

    def _open(self, *, writes: bool) -> _OpenDatabase:
        _make(self.path)
        found = identity(self.path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "it vanished", str(self.path))
        wait = self._patience(writes)
        base = sqlite3.connect(self.path, timeout=wait, isolation_level=None, check_same_thread=False)
        try:
            _use_log(base)
            # With a log NORMAL never damages a file: a power cut takes the last figures, nothing else.
            base.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            tables(base, self._steps)
            _check(base, self.path.stat().st_size)
        except BaseException as error:
            base.close()
            if isinstance(error, sqlite3.Error) and fault_of(error) == "damaged":
                raise _DamagedFile(found) from error
            raise
        return _OpenDatabase(base, found, _look(self._place)[1], wait)

    def _read_only(self, work: Work[T]) -> T:
        """A disk that is full or read-only has no room for a log's index: the file is read in memory, with its log."""
        size = self.path.stat().st_size
        if size > _IN_MEMORY:
            raise sqlite3.OperationalError("it is too large to be read in memory")
        if self._kept_open is None or self._kept_open[0] != identity(self.path):
            # Never closed: that would end the locks of every connection of this process to the file.
            self._kept_open = (identity(self.path), os.open(self.path, os.O_RDONLY))
        pages = os.pread(self._kept_open[1], size, 0)
        with closing(sqlite3.connect(":memory:")) as base:
            base.deserialize(with_log(pages, self.path.with_name(self.path.name + "-wal")))
            _version(base, len(self._steps))
            return work(base)

    def _count_fault(self, error: sqlite3.Error | OSError, *, writes: bool) -> Exception:
        """Count a fault; the error to raise for it."""
        fault = fault_of(error)
        self.faults[fault] += 1
        if fault == "locked":
            self._given_up.add(writes)
        if not self._what:
            if isinstance(error, sqlite3.Error):
                return error
            return sqlite3.OperationalError(str(error))
        problem = "cannot be used"
        if fault == "newer":
            problem = "was written by a newer Laconic"
        return ArchiveUnavailable(f"The {self._what} {self.path} {problem}: {error}.", _FIXES.get(fault, _FIX))


def fault_of(error: sqlite3.Error | OSError) -> str:
    """One word for what is wrong with a file."""
    if isinstance(error, NewerDatabase):
        return "newer"
    if isinstance(error, OSError):
        return _ERRNO_FAULTS.get(error.errno or 0, "unopenable")
    return _FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "failed")


@contextmanager
def writing(base: sqlite3.Connection) -> Iterator[None]:
    """One transaction that writes."""
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:  # some failures have already ended it
            base.execute("ROLLBACK")
        raise


def tables(base: sqlite3.Connection, steps: Sequence[str]) -> None:
    """Bring a file's tables to the version of this program: step n leads from version n to n + 1.

    Files from before there were versions have number 0, and the tables of the first step, which must leave them alone.
    """
    if _version(base, len(steps)) == len(steps):
        return
    with writing(base):
        for step in steps[_version(base, len(steps)) :]:  # another process may have been faster
            for statement in step.split(";"):  # a script would end the transaction
                base.execute(statement)
        base.execute(f"PRAGMA user_version = {len(steps)}")


def _look(path: str) -> tuple[Identity | None, tuple[int, int]]:
    """Which file is at a path, and something that changes with it. With a log that is when the log is written back."""
    try:
        found = os.stat(path)  # noqa: PTH116 (asked several times for each request, and half of the time of a `Path`)
    except OSError:
        return None, (0, 0)
    return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


def _use_log(base: sqlite3.Connection) -> None:
    """Write ahead into a log, so that readers and a writer do not wait for each other."""
    if base.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return
    try:
        base.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if fault_of(error) != "locked":
            raise
        # Somebody is writing: it can be read as it is, and the next connection tries again.


def _check(base: sqlite3.Connection, size: int) -> None:
    """Look at every page of a small file, and at the tables of a large one, for a moment at most."""
    base.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if size > _CHECKED_BYTES:
        return
    until = time.monotonic() + _CHECKED_SECONDS
    base.set_progress_handler(lambda: time.monotonic() > until, 1000)
    try:
        said = base.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return
    finally:
        base.set_progress_handler(None, 0)
    if said != "ok":
        raise _error(str(said), sqlite3.SQLITE_CORRUPT)


def _error(problem: str, code: int) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(problem)
    error.sqlite_errorcode = code
    return error


def _close(idle: list[_OpenDatabase]) -> None:
    for opened in idle:
        opened.base.close()


def _make(path: Path) -> None:
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        path.touch(mode=0o600)


def _version(base: sqlite3.Connection, most: int) -> int:
    found = int(base.execute("PRAGMA user_version").fetchone()[0])
    if found > most:
        raise NewerDatabase(f"it has version {found}, and this program knows {most}")
    return found
