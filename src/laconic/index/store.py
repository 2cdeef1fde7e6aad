"""The SQLite file of one workspace: open it, write whole files into it, read rows back.

It does not decide what is out of date (`fresh`), what a reference means (`resolve`), or what ranks first (`search`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from laconic.errors import IndexUnavailable
from laconic.index.packed import names_in, unpack, unpack_named
from laconic.index.prepared import PreparedFile
from laconic.index.schema import BY_FILE, FILE, PARSER, STATEMENTS, VERSION, file_of, symbol_id, symbols_of
from laconic.index.words import WordRow, fold
from laconic.records import Reference, Span
from laconic.workspace.lock import hold_lock

_UNSAID: Final = "1"  # the parser of indexes from before it was written down
_MEMORY: Final = Path(":memory:")
_WAIT: Final = 10.0  # seconds that a reader waits for a checkpoint to end


class File(NamedTuple):
    """A row of `files`."""

    id: int
    path: str
    language: str
    size: int
    mtime_ns: int
    ctime_ns: int
    checked_ns: int
    hash: bytes
    lines: int
    file_class: str
    state: str
    reason: str
    package: str
    faults: int


class Symbol(NamedTuple):
    """A row of `symbols`."""

    id: int
    name: str
    folded: str
    qualified: str
    kind: str
    start: int
    end: int
    line: int
    signature: str
    doc: str
    parent: int | None
    visibility: str
    modifiers: str  # separated by spaces
    bases: str  # separated by line feeds, as written
    test: int

    @property
    def file(self) -> int:
        return file_of(self.id)

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


CALLABLE: Final = frozenset(
    {"function", "method", "constructor", "macro"}
)  # kinds of symbols that have a body to run


class Store:
    """One open index. `connection` may be queried freely; only `writing` writes."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self._number = _file_number(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open or create. A file that is damaged, or has other tables than its name says, is replaced by an empty index.

        That is safe: an index holds nothing that the workspace does not, indexes of other versions have other names,
        and only who holds the writer's lock replaces one, after a second look. A file that merely cannot be opened or
        read now (no rights, no room, too many open files) stays as it is.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return cls(path, _connect(path))
        except sqlite3.DatabaseError as error:
            if not _is_ruined(error):
                raise _unavailable(path, error) from None
        with hold_lock(lock_of(path), seconds=_WAIT) as got:
            if not got:
                raise IndexUnavailable(f"{path} is locked.", "Wait for the other process to end.")
            return cls(path, _replace(path))

    @classmethod
    def in_memory(cls) -> Store:
        """An index for one process, where no disk takes one; all who use it share its connection."""
        return cls(_MEMORY, _connect(_MEMORY))

    @property
    def kept(self) -> bool:
        """Whether it is on disk."""
        return self.path != _MEMORY

    @property
    def is_removed(self) -> bool:
        """Whether somebody deleted its file, or put another in its place."""
        return self.kept and _file_number(self.path) != self._number

    @contextmanager
    def lock(self, seconds: float) -> Iterator[bool]:
        """Be the one writer for the block; False when another process still is after the time given."""
        if not self.kept:
            yield True
            return
        with hold_lock(lock_of(self.path), seconds=seconds) as got:
            yield got

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it or nothing."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            fix = "Free the disk or end the other process; if it is damaged, run `laconic index --rebuild`."
            raise IndexUnavailable(f"{self.path} could not be written: {error}.", fix) from error
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self.connection.in_transaction:  # some failures have already ended it
            self.connection.execute("ROLLBACK")

    def shrink(self) -> None:
        """Move what was written into the file itself, so that the log beside it does not stay large."""
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def meta(self, key: str, default: str = "") -> str:
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            return default
        return str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    @property
    def older(self) -> int:
        """Files up to this id are to be parsed again; 0: none."""
        return int(self.meta("older", "0"))

    @property
    def outdated(self) -> bool:
        """Whether files in it were parsed with an older parser."""
        return int(self.meta("parser", _UNSAID)) < PARSER or self.older > 0

    def stamp(self) -> None:
        """Say which parser reads files from now on, and which were read with an older one; inside `writing`."""
        if int(self.meta("parser", _UNSAID)) < PARSER:
            row = self.connection.execute("SELECT max(id) FROM files").fetchone()
            self.set_meta("older", str(row[0] or 0))
        if int(self.meta("parser", "0")) < PARSER:
            self.set_meta("parser", str(PARSER))

    def put(self, file: PreparedFile) -> int:
        """Write one version of a file in place of the one before; inside `writing`."""
        self.drop([file.path])
        execute = self.connection.execute
        cursor = execute(
            "INSERT INTO files VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                *(file.path, file.language, file.size, file.mtime_ns, file.ctime_ns, file.checked_ns, file.hash),
                *(file.lines, file.file_class, file.state, file.reason, file.package, file.faults),
            ),
        )
        number = int(cursor.lastrowid or 0)
        if file.definitions:
            many = self.connection.executemany
            many("INSERT INTO symbols VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", _symbol_rows(number, file))
        if file.refs:
            execute("INSERT INTO refs VALUES(?,?)", (number, file.refs))
        if file.imports:
            self.connection.executemany(
                "INSERT INTO imports VALUES(?,?,?,?,?,?,?)",
                [
                    (number, at, item.module, item.line, item.name, item.alias, item.exported)
                    for at, item in enumerate(file.imports)
                ],
            )
        if file.exports:
            self.connection.executemany(
                "INSERT OR IGNORE INTO exports VALUES(?,?)", [(number, name) for name in file.exports]
            )
        self.put_words(number, file.refs, file.identifiers, file.words)
        return number

    def put_words(self, number: int, refs: bytes, identifiers: str, words: Iterable[WordRow]) -> None:
        """Write the full-text rows of a file; inside `writing`."""
        execute = self.connection.execute
        if refs:
            execute("INSERT INTO mentions(rowid, names) VALUES(?,?)", (number, " ".join(names_in(refs))))
        if identifiers:
            execute("INSERT INTO texts(rowid, identifiers) VALUES(?,?)", (number, identifiers))
        self.connection.executemany(
            "INSERT INTO words(rowid, body, name, path, signature, doc) VALUES(?,?,?,?,?,?)",
            [(symbol_id(number, row[0]), *row[1:]) for row in words],
        )

    def drop(self, paths: Iterable[str]) -> int:
        """Forget files; inside `writing`. Their full-text rows stay behind, dead."""
        gone = 0
        for path in paths:
            row = self.connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
            if row is None:
                continue
            number = int(row[0])
            self.connection.execute("DELETE FROM files WHERE id = ?", (number,))
            self.connection.execute("DELETE FROM symbols WHERE id BETWEEN ? AND ?", symbols_of(number))
            for table in BY_FILE:
                self.connection.execute(f"DELETE FROM {table} WHERE file = ?", (number,))
            gone += 1
        if gone:
            self.set_meta("dead", str(int(self.meta("dead", "0")) + gone))
        return gone

    def touch(self, file: PreparedFile) -> None:
        """Note that a file was looked at and still holds the same bytes; inside `writing`."""
        self.connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, checked_ns = ? WHERE path = ?",
            (file.size, file.mtime_ns, file.ctime_ns, file.checked_ns, file.path),
        )

    def files(self) -> Iterator[File]:
        for row in self.connection.execute("SELECT * FROM files ORDER BY path"):
            yield File._make(row)

    def file(self, path: str) -> File | None:
        row = self.connection.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone()
        if row is None:
            return None
        return File._make(row)

    def file_by_id(self, number: int) -> File | None:
        row = self.connection.execute("SELECT * FROM files WHERE id = ?", (number,)).fetchone()
        if row is None:
            return None
        return File._make(row)

    def symbols_in(self, file: int) -> list[Symbol]:
        """The symbols of a file, outer before inner."""
        rows = self.connection.execute(
            "SELECT * FROM symbols WHERE id BETWEEN ? AND ? ORDER BY id", symbols_of(file)
        ).fetchall()
        found: list[Symbol] = []
        for row in rows:
            found.append(Symbol._make(row))
        return found

    def symbols_of_path(self, path: str) -> list[Symbol]:
        """The same by the path of the file; none if it is not indexed."""
        file = self.file(path)
        if file is not None:
            return self.symbols_in(file.id)
        return []

    def symbol(self, number: int) -> Symbol | None:
        row = self.connection.execute("SELECT * FROM symbols WHERE id = ?", (number,)).fetchone()
        if row is None:
            return None
        return Symbol._make(row)

    def symbols_named(self, name: str) -> list[Symbol]:
        """Symbols of this name in any naming style; those written exactly so first."""
        rows = self.connection.execute("SELECT * FROM symbols WHERE folded = ? ORDER BY id", (fold(name),)).fetchall()
        return sorted((Symbol._make(row) for row in rows), key=lambda symbol: symbol.name != name)

    def symbol_at(self, file: int, line: int) -> Symbol | None:
        """The innermost symbol around a line."""
        row = self.connection.execute(
            "SELECT * FROM symbols WHERE id BETWEEN ? AND ? AND start <= ? AND end >= ? ORDER BY start DESC, id DESC",
            (*symbols_of(file), line, line),
        ).fetchone()
        if row is None:
            return None
        return Symbol._make(row)

    def references_in(self, file: int) -> list[Reference]:
        """All references that a file holds."""
        row = self.connection.execute("SELECT packed FROM refs WHERE file = ?", (file,)).fetchone()
        if row is None:
            return []
        return unpack(row[0])

    def mentions(self, name: str) -> Iterator[tuple[int, list[Reference]]]:
        """Files that refer to this very name, each with those references. The words of a test's title are no name."""
        if len(name.split()) != 1:
            return
        quoted = '"' + name.replace('"', '""') + '"'
        rows = self.connection.execute(
            "SELECT file, packed FROM mentions JOIN refs ON file = mentions.rowid WHERE mentions MATCH ?",
            (quoted,),
        )
        for file, packed in rows:
            if found := unpack_named(packed, name):
                yield file, found

    def files_mentioning(self, name: str) -> list[int]:
        """Files that refer to a name in any case of its letters; some may be gone."""
        if len(name.split()) != 1:
            return []
        quoted = '"' + name.replace('"', '""') + '"'
        rows = self.connection.execute("SELECT rowid FROM mentions WHERE mentions MATCH ?", (quoted,))
        found: list[int] = []
        for row in rows:
            found.append(int(row[0]))
        return found

    def fingerprint(self) -> str:
        """A hash of all rows by content, without ids and times: equal for equal code, however it was built."""
        state = blake2b(digest_size=16)
        for file in self.files():
            state.update(repr((file.path, file.language, file.hash, file.lines, *file[9:])).encode())
            first = symbol_id(file.id, FILE)
            for row in self.symbols_in(file.id):
                parent = None if row.parent is None else row.parent - first
                state.update(repr((row.id - first, *row[1:10], parent, *row[11:])).encode())
            for table in BY_FILE:
                for row in self.connection.execute(f"SELECT * FROM {table} WHERE file = ? ORDER BY 1, 2", (file.id,)):
                    state.update(repr(row[1:]).encode())
        return state.hexdigest()


def lock_of(path: Path) -> Path:
    """The file that the one writer of an index holds."""
    return path.with_name(path.name + ".lock")


def _file_number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def remove(path: Path) -> None:
    """Delete an index with its side files."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last batches, never the file: what is lost is indexed again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16000")
        if path == _MEMORY:
            connection.execute("PRAGMA temp_store = MEMORY")
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version == 0:
            _create(connection)
        _demand(version in {0, VERSION})
        connection.execute("SELECT count(*) FROM meta").fetchone()
        connection.execute("SELECT max(id) FROM files").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


class _OtherTables(sqlite3.DatabaseError):
    """The tables are not those of the version in the file's name."""


def _demand(right: bool) -> None:
    if not right:
        raise _OtherTables("the index has another schema")


def _is_ruined(error: sqlite3.DatabaseError) -> bool:
    """Whether a file will never be an index again; else it cannot be read at the moment."""
    if isinstance(error, _OtherTables):
        return True
    codes = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR}  # the last: a table is missing
    return (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_INTERNAL) & 0xFF) in codes


def _replace(path: Path) -> sqlite3.Connection:
    """An empty index in the place of a ruined one, unless another process has just put one there."""
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if not _is_ruined(error):
            raise _unavailable(path, error) from None
        remove(path)
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        raise _unavailable(path, error) from None


def _unavailable(path: Path, error: sqlite3.DatabaseError) -> IndexUnavailable:
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


def _symbol_rows(number: int, file: PreparedFile) -> Iterator[tuple[object, ...]]:
    qualified: list[str] = []
    for at, item in enumerate(file.definitions):
        inside = 0 <= item.parent < at
        above = qualified[item.parent] if inside else ""
        full = ".".join(filter(None, (above, item.owner, item.name)))  # Go receivers, C++ `Foo::bar`
        qualified.append(full)
        yield (
            *(symbol_id(number, at), item.name, full, item.kind, item.span.start, item.span.end),
            *(item.line, item.signature, item.doc, symbol_id(number, item.parent) if inside else None),
            *(item.visibility, " ".join(item.modifiers), "\n".join(item.bases), int(item.test)),
        )
