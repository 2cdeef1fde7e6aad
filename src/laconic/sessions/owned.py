"""SQLite files that only their owner reads: made when first used, each with the version of its tables.

What holds more than figures goes through `transaction`: every change is on the disk when it returns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from laconic.errors import ArchiveUnavailable

_WAIT: Final = 15.0  # seconds to wait for another process
_FEW: Final = 5.0  # the same for figures


class Newer(sqlite3.DatabaseError):
    """A file that a later version of the program wrote. It is left as it is."""


def tables(base: sqlite3.Connection, steps: Sequence[str]) -> None:
    """Bring a file's tables to the version of this program: step n leads from version n to n + 1.

    Files from before there were versions have number 0, and the tables of the first step, which must leave them alone.
    """
    if _version(base, len(steps)) == len(steps):
        return
    base.execute("BEGIN IMMEDIATE")
    try:
        for step in steps[_version(base, len(steps)) :]:  # another process may have been faster
            for statement in step.split(";"):  # a script would end the transaction
                base.execute(statement)
        base.execute(f"PRAGMA user_version = {len(steps)}")
    except BaseException:
        base.execute("ROLLBACK")
        raise
    base.execute("COMMIT")


def figures(path: Path, steps: Sequence[str]) -> sqlite3.Connection:
    """A file of figures, open for several threads: after a power cut some are missing, nothing else."""
    _made(path)
    base = sqlite3.connect(path, timeout=_FEW, isolation_level=None, check_same_thread=False)
    try:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = OFF")
        tables(base, steps)
    except BaseException:
        base.close()
        raise
    return base


@contextmanager
def transaction(path: Path, steps: Sequence[str], what: str) -> Iterator[sqlite3.Connection]:
    """A connection inside one transaction; every trouble with the disk gets a name."""
    try:
        _made(path)
        with closing(sqlite3.connect(path, timeout=_WAIT, isolation_level=None)) as base:
            base.execute("PRAGMA synchronous=FULL")
            tables(base, steps)
            base.execute("BEGIN IMMEDIATE")
            yield base
            base.execute("COMMIT")
    except Newer as error:
        raise ArchiveUnavailable(
            f"The {what} {path} is of a newer Laconic: {error}.",
            "Update Laconic, or name another folder with LACONIC_CACHE_DIR.",
        ) from error
    except (sqlite3.Error, OSError) as error:
        raise ArchiveUnavailable(
            f"The {what} {path} cannot be used: {error}.",
            "Free some disk, or name another folder with LACONIC_CACHE_DIR.",
        ) from error


def _made(path: Path) -> None:
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        path.touch(mode=0o600)


def _version(base: sqlite3.Connection, most: int) -> int:
    found = int(base.execute("PRAGMA user_version").fetchone()[0])
    if found > most:
        raise Newer(f"it has version {found}, and this program knows {most}")
    return found
