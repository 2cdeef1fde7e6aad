"""Gateways on a folder as the program builds them, with a clock that is moved, and the disk faults they meet."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final, Literal

from laconic.config import load
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.exchange.exchange_parts import engine_options
from laconic.gateway.planner import GatewayPolicy, Planner
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.model_memory import Capabilities
from laconic.tokens.count import counter

Fault = Literal["full", "unwritable", "locked", "deleted", "garbage"]
ONE_STEP: Final = ("locked",)
ARCHIVE: Final = "archive.sqlite"
_TRIGGER: Final = "attack_refuses"


class MovedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def build_planner(folder: Path, clock: MovedClock, flags: Mapping[str, object]) -> Planner:
    """The planner of a gateway whose files are in this folder."""
    settings = load(flags={"cache_dir": str(folder), **flags}, environ={}, file=folder / "none.toml")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    archive = Archive(folder / ARCHIVE, settings.number("archive.limit_mb") * 1_000_000, clock)
    engine = ConversationEngine(ledger, archive, clock, counter(settings.text("model")), engine_options(settings))
    memory = Capabilities(folder / "models.json")
    keeping = EngineAdapter(single_engine(engine), settings.number("gateway.window"), clock=clock, memory=memory)
    return Planner(keeping, GatewayPolicy(probe=False), clock, memory)


class DiskFaults:
    """Breaks the archive of some folders, all in the same way, and repairs them again."""

    def __init__(self, folders: tuple[Path, ...], random: Random) -> None:
        self._folders = folders
        self._random = random
        self.active: Fault | None = None

    def begin(self, fault: Fault) -> None:
        self.active = fault
        if fault == "unwritable":
            for folder in self._folders:
                _refuse_writes(folder / ARCHIVE)
        elif fault == "deleted":
            self._delete()
            self.active = None  # it is made again at once
        elif fault == "garbage":
            noise = self._random.randbytes(8192)
            for folder in self._folders:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                _write_back_log(folder / ARCHIVE)
                (folder / ARCHIVE).write_bytes(noise)

    def end(self) -> None:
        fault, self.active = self.active, None
        if fault == "unwritable":
            for folder in self._folders:
                _allow_writes(folder / ARCHIVE)
        elif fault == "garbage":
            for folder in self._folders:  # a program that repaired it itself keeps what it made
                if not _is_sqlite(folder / ARCHIVE):
                    _remove(folder / ARCHIVE)

    @contextmanager
    def during_request(self, folder: Path) -> Iterator[None]:
        """What is broken only while the gateway works: a full disk, a lock."""
        if self.active == "full":
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        elif self.active == "locked" and (folder / ARCHIVE).exists():
            with closing(sqlite3.connect(folder / ARCHIVE, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                yield
                other.execute("ROLLBACK")
        else:
            yield

    def _delete(self) -> None:
        for folder in self._folders:
            _remove(folder / ARCHIVE)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).unlink()


def _write_back_log(path: Path) -> None:
    """Leave no pages in the log.

    A log that holds every page hides that its file is damaged, for as long as any connection is open. The gateway and
    its twin, which have different numbers of connections, would then meet the damage at different steps.
    """
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _is_sqlite(path: Path) -> bool:
    return path.exists() and path.read_bytes()[:15] == b"SQLite format 3"


def _refuse_writes(path: Path) -> None:
    """Every insert fails from now on, as with a file that must not be written; reading works."""
    Archive(path, 2**40).entries()  # there are tables
    with closing(sqlite3.connect(path)) as base:
        tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for table in tables:
            for event in ("INSERT", "UPDATE"):
                base.execute(
                    f"CREATE TRIGGER IF NOT EXISTS {_TRIGGER}_{table}_{event} BEFORE {event} ON {table} "
                    "BEGIN SELECT RAISE(ABORT, 'the disk refuses'); END"
                )
        base.commit()


def _allow_writes(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        query = "SELECT name FROM sqlite_master WHERE type='trigger' AND name LIKE ?"
        for (name,) in base.execute(query, (f"{_TRIGGER}%",)).fetchall():
            base.execute(f"DROP TRIGGER {name}")
        base.commit()
