"""SQLite files that only their owner reads: made when first used, every change one transaction on the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from laconic.errors import ArchiveUnavailable

_WAIT: Final = 15.0  # seconds to wait for another process


@contextmanager
def transaction(path: Path, schema: str, what: str) -> Iterator[sqlite3.Connection]:
    """A connection inside one transaction; every trouble with the disk gets a name."""
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.chmod(0o700)
            path.touch(mode=0o600)
        with closing(sqlite3.connect(path, timeout=_WAIT, isolation_level=None)) as base:
            base.execute("PRAGMA synchronous=FULL")
            base.executescript(schema)
            base.execute("BEGIN IMMEDIATE")
            yield base
            base.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        raise ArchiveUnavailable(
            f"The {what} {path} cannot be used: {error}.",
            "Free some disk, or name another folder with LACONIC_CACHE_DIR.",
        ) from error
