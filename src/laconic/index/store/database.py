"""The file of an index: open it, create its tables, replace it when it is ruined, delete it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from laconic.errors import IndexUnavailable
from laconic.index.schema import STATEMENTS, VERSION, views

MEMORY: Final = Path(":memory:")
WAIT: Final = 10.0  # seconds that a reader waits for a checkpoint to end


def lock_of(path: Path, checkout: int = 0) -> Path:
    """The file that the one writer of a checkout holds; 0: who replaces the whole index."""
    if checkout:
        return path.with_name(f"{path.name}.{checkout}.lock")
    return path.with_name(path.name + ".lock")


def file_number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def remove(path: Path) -> None:
    """Delete an index with its side files."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last batches, never the file: what is lost is indexed again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16000")
        if path == MEMORY:
            connection.execute("PRAGMA temp_store = MEMORY")
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version == 0:
            _create(connection)
        _demand(version in {0, VERSION})
        connection.execute("SELECT count(*) FROM meta").fetchone()
        connection.execute("SELECT max(id) FROM versions").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def enter_checkout(connection: sqlite3.Connection, root: Path) -> int:
    """Let a connection see the code of one checkout, which becomes known on first use."""
    name = str(root).encode("utf-8", "backslashreplace").decode()
    sql = "SELECT id FROM main.checkouts WHERE root = ?"
    row = connection.execute(sql, (name,)).fetchone()
    if row is None:  # an index that may only be read refuses, which says that the folder is not in it
        connection.execute("INSERT OR IGNORE INTO main.checkouts(root) VALUES(?)", (name,))
        row = connection.execute(sql, (name,)).fetchone()
    for statement in views(int(row[0])):
        connection.execute(statement)
    return int(row[0])


class _OtherTables(sqlite3.DatabaseError):
    """The tables are not those of the version in the file's name."""


def _demand(right: bool) -> None:
    if not right:
        raise _OtherTables("the index has another schema")


def is_ruined(error: sqlite3.DatabaseError) -> bool:
    """Whether a file will never be an index again; else it cannot be read at the moment."""
    if isinstance(error, _OtherTables):
        return True
    codes = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR}  # the last: a table is missing
    return (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_INTERNAL) & 0xFF) in codes


def replace(path: Path) -> sqlite3.Connection:
    """An empty index in the place of a ruined one, unless another process has just put one there."""
    try:
        return connect(path)
    except sqlite3.DatabaseError as error:
        if not is_ruined(error):
            raise unavailable(path, error) from None
        remove(path)
    try:
        return connect(path)
    except sqlite3.DatabaseError as error:
        raise unavailable(path, error) from None


def unavailable(path: Path, error: sqlite3.DatabaseError) -> IndexUnavailable:
    if "locked" in str(error):
        return IndexUnavailable(f"{path} is locked.", "Wait for the other process to end.")
    return IndexUnavailable(
        f"{path} cannot be opened: {error}.", "Check the cache folder and the free space on its disk."
    )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if int(connection.execute("PRAGMA user_version").fetchone()[0]) == 0:  # another process may have been faster
        for statement in STATEMENTS:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    # Else the planner of this connection would not know the figures, and look through all files for each that it writes.
    connection.execute("ANALYZE sqlite_schema")
