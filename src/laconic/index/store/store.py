"""One open index: write whole files into it, read rows back.

It does not decide what is out of date (`fresh`), what a reference means (`resolve`), or what ranks first (`search`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from laconic.errors import IndexUnavailable
from laconic.index.packed import names_in, unpack, unpack_named
from laconic.index.prepared import PreparedFile
from laconic.index.schema import BY_FILE, FILE, FULL_TEXT, PARSER, symbol_id, symbols_of
from laconic.index.store.database import MEMORY, WAIT, connect, file_number, is_ruined, lock_of, replace, unavailable
from laconic.index.store.rows import File, Symbol
from laconic.index.words import WordRow, fold
from laconic.records import Reference
from laconic.workspace.lock import hold_lock

_UNSAID: Final = "1"  # the parser of indexes from before it was written down


class Store:
    """One open index. Any thread may read; only `writing` writes. Nobody outside this package uses `connection`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self._number = file_number(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open or create. A file that is damaged, or has other tables than its name says, is replaced by an empty index.

        That is safe: an index holds nothing that the workspace does not, indexes of other versions have other names,
        and only who holds the writer's lock replaces one, after a second look. A file that merely cannot be opened or
        read now (no rights, no room, too many open files) stays as it is.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return cls(path, connect(path))
        except sqlite3.DatabaseError as error:
            if not is_ruined(error):
                raise unavailable(path, error) from None
        with hold_lock(lock_of(path), seconds=WAIT) as got:
            if not got:
                raise IndexUnavailable(f"{path} is locked.", "Wait for the other process to end.")
            return cls(path, replace(path))

    @classmethod
    def in_memory(cls) -> Store:
        """An index for one process, where no disk takes one; all who use it share its connection."""
        return cls(MEMORY, connect(MEMORY))

    @property
    def kept(self) -> bool:
        """Whether it is on disk."""
        return self.path != MEMORY

    @property
    def is_removed(self) -> bool:
        """Whether somebody deleted its file, or put another in its place."""
        return self.kept and file_number(self.path) != self._number

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

    def forget_meta(self, *keys: str) -> None:
        """Delete values; inside `writing`."""
        self.connection.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in keys])

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

    def overwrite_deleted(self) -> None:
        """From now on, let nothing of what is deleted stay in the file."""
        self.connection.execute("PRAGMA secure_delete = ON")

    def clear_words(self) -> None:
        """Empty the full-text tables; inside `writing`."""
        for table in FULL_TEXT:
            self.connection.execute(f"INSERT INTO {table}({table}) VALUES('delete-all')")

    def check(self) -> str:
        """What is damaged in the file; `ok` if nothing is."""
        return str(self.connection.execute("PRAGMA quick_check(1)").fetchone()[0])

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

    def packed_references(self, file: int) -> bytes:
        """The references of a file as they are stored; empty: none."""
        row = self.connection.execute("SELECT packed FROM refs WHERE file = ?", (file,)).fetchone()
        if row is None:
            return b""
        return bytes(row[0])

    def references_in(self, file: int) -> list[Reference]:
        """All references that a file holds."""
        packed = self.packed_references(file)
        if not packed:
            return []
        return unpack(packed)

    def references_named(self, file: int, name: str) -> list[Reference]:
        """Those of them that use this very name."""
        packed = self.packed_references(file)
        if not packed:
            return []
        return unpack_named(packed, name)

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
