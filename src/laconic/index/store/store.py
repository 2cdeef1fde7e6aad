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
from laconic.index.prepared_file import PreparedFile
from laconic.index.reference_blobs import unpack, unpack_named
from laconic.index.schema import BY_FILE, FILE, FULL_TEXT, PARSER, symbol_id, symbols_of
from laconic.index.search_words import WordRow, fold
from laconic.index.store.database import (
    MEMORY,
    WAIT,
    connect,
    enter_checkout,
    file_number,
    is_ruined,
    lock_of,
    replace,
    unavailable,
)
from laconic.index.store.known_names import KnownNames
from laconic.index.store.rows import File, StoredVersion, Symbol, is_racy
from laconic.records import Reference
from laconic.workspace.lock import hold_lock

_NOWHERE: Final = Path("/")  # the root of a store that serves one checkout only
_OF_CHECKOUT: Final = frozenset({"building", "built", "folders", "left", "revision"})  # what is said of one checkout


class Store:
    """One open index. Any thread may read; only `writing` writes. Nobody outside this package uses `connection`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, root: Path) -> None:
        self.path = path
        self.connection = connection
        self.checkout = enter_checkout(connection, root)
        self._names = KnownNames(connection, self.checkout)
        self._number = file_number(path)
        self._changed = False  # whether the open transaction changes what the checkout holds

    @classmethod
    def open(cls, path: Path, root: Path = _NOWHERE) -> Store:
        """Open or create. A file that is damaged, or has other tables than its name says, is replaced by an empty index.

        That is safe: an index holds nothing that the workspace does not, indexes of other versions have other names,
        and only who holds the writer's lock replaces one, after a second look. A file that merely cannot be opened or
        read now (no rights, no room, too many open files) stays as it is.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return cls(path, connect(path), root)
        except sqlite3.DatabaseError as error:
            if not is_ruined(error):
                raise unavailable(path, error) from None
        with hold_lock(lock_of(path), seconds=WAIT) as got:
            if not got:
                raise IndexUnavailable(f"{path} is locked.", "Wait for the other process to end.")
            return cls(path, replace(path), root)

    @classmethod
    def in_memory(cls, root: Path = _NOWHERE) -> Store:
        """An index for one process, where no disk takes one; all who use it share its connection."""
        return cls(MEMORY, connect(MEMORY), root)

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
        """Be the one writer of the checkout for the block; False when another process still is after the time given."""
        if not self.kept:
            yield True
            return
        with hold_lock(lock_of(self.path, self.checkout), seconds=seconds) as got:
            yield got

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it or nothing."""
        try:
            self._changed = False
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            if self._changed:
                self.set_meta("revision", str(self.revision + 1))
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
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (self._key(key),)).fetchone()
        if row is None:
            return default
        return str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (self._key(key), value))

    def forget_meta(self, *keys: str) -> None:
        """Delete values; inside `writing`."""
        self.connection.executemany("DELETE FROM meta WHERE key = ?", [(self._key(key),) for key in keys])

    def _key(self, key: str) -> str:
        if key in _OF_CHECKOUT:
            return f"{key}:{self.checkout}"
        return key

    @property
    def revision(self) -> int:
        """A number that is another one after any file of the checkout came, went or changed."""
        return int(self.meta("revision", "0"))

    @property
    def outdated(self) -> bool:
        """Whether files of this checkout were parsed with an older parser."""
        sql = """SELECT 1 FROM main.versions AS v CROSS JOIN main.manifest AS m ON m.checkout = ? AND m.version = v.id
            WHERE v.parser < ? LIMIT 1"""
        return self.connection.execute(sql, (self.checkout, PARSER)).fetchone() is not None

    def put(self, file: PreparedFile) -> int:
        """Let the checkout hold this version of a file in place of the one before; inside `writing`.

        The version is written unless the index has it already, from another checkout or from earlier.
        """
        number = self.find_version(file.path, file.hash)
        if number is None:
            number = self._write_version(file)
        self._hold(number, file)
        return number

    def hold(self, file: PreparedFile) -> bool:
        """The same for a file of which only the hash is known; False when the version has gone meanwhile."""
        number = self.find_version(file.path, file.hash)
        if number is None:
            return False
        self._hold(number, file)
        return True

    def find_version(self, path: str, digest: bytes) -> int | None:
        """The id of a version that this parser, or a newer one, has read."""
        if not digest:
            return None
        sql = "SELECT id FROM main.versions WHERE path = ? AND hash = ? AND parser >= ? ORDER BY id DESC"
        row = self.connection.execute(sql, (path, digest, PARSER)).fetchone()
        if row is None:
            return None
        return int(row[0])

    def _hold(self, number: int, file: PreparedFile) -> None:
        self.drop([file.path])
        self._changed = True
        self.connection.execute(
            "INSERT INTO main.manifest VALUES(?,?,?,?,?)",
            (self.checkout, number, file.mtime_ns, file.ctime_ns - file.mtime_ns, is_racy(file)),
        )

    def _write_version(self, file: PreparedFile) -> int:
        execute = self.connection.execute
        cursor = execute(
            "INSERT INTO main.versions VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                *(file.path, file.language, file.size, file.hash, file.lines, file.file_class, file.state),
                *(file.reason, file.package, file.faults, len(file.definitions), PARSER),
            ),
        )
        number = int(cursor.lastrowid or 0)
        if file.definitions:
            many = self.connection.executemany
            many("INSERT INTO main.symbols VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", _symbol_rows(number, file))
        if file.refs:
            execute("INSERT INTO main.refs VALUES(?,?)", (number, file.refs))
        if file.imports:
            self.connection.executemany(
                "INSERT INTO main.imports VALUES(?,?,?,?,?,?,?)",
                [
                    (number, at, item.module, item.line, item.name, item.alias, item.exported)
                    for at, item in enumerate(file.imports)
                ],
            )
        if file.exports:
            self.connection.executemany(
                "INSERT OR IGNORE INTO main.exports VALUES(?,?)", [(number, name) for name in file.exports]
            )
        self.put_words(number, file.mentioned, file.identifiers, file.words)
        return number

    def copy_version(self, number: int, path: str, file_class: str) -> int:
        """The same contents at another path, without full-text rows; inside `writing`. Returns the new version."""
        execute = self.connection.execute
        cursor = execute(
            """INSERT INTO main.versions SELECT NULL, ?, language, size, hash, lines, ?, state, reason, package, faults,
            defined, parser FROM main.versions WHERE id = ?""",
            (path, file_class, number),
        )
        new = int(cursor.lastrowid or 0)
        shift = symbol_id(new, FILE) - symbol_id(number, FILE)
        execute(
            """INSERT INTO main.symbols SELECT id + ?, name, qualified, kind, start, end, line, signature, doc,
            parent + ?, visibility, modifiers, bases, test FROM main.symbols WHERE id BETWEEN ? AND ?""",
            (shift, shift, *symbols_of(number)),
        )
        execute("INSERT INTO main.refs SELECT ?, packed FROM main.refs WHERE file = ?", (new, number))
        execute(
            """INSERT INTO main.imports SELECT ?, position, module, line, name, alias, exported FROM main.imports
            WHERE file = ?""",
            (new, number),
        )
        execute("INSERT INTO main.exports SELECT ?, name FROM main.exports WHERE file = ?", (new, number))
        return new

    def put_words(self, number: int, mentioned: str, identifiers: str, words: Iterable[WordRow]) -> None:
        """Write the full-text rows of a file; inside `writing`."""
        execute = self.connection.execute
        if mentioned:
            execute("INSERT INTO mentions(rowid, names) VALUES(?,?)", (number, mentioned))
        if identifiers:
            execute("INSERT INTO texts(rowid, identifiers) VALUES(?,?)", (number, identifiers))
        self.connection.executemany(
            "INSERT INTO words(rowid, body, name, path, signature, doc) VALUES(?,?,?,?,?,?)",
            [(symbol_id(number, row[0]), *row[1:]) for row in words],
        )

    def drop(self, paths: Iterable[str]) -> int:
        """Let the checkout hold these files no more; inside `writing`. Their versions stay, for they may come back."""
        gone = 0
        for path in paths:
            row = self.connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
            if row is not None:
                self.connection.execute(
                    "DELETE FROM main.manifest WHERE checkout = ? AND version = ?", (self.checkout, *row)
                )
                gone += 1
        if gone:
            self._changed = True
            self.set_meta("left", str(int(self.meta("left", "0")) + gone))
        return gone

    def forget_checkout(self) -> None:
        """Let the checkout hold nothing, as if its folder had never been indexed; inside `writing`."""
        self.connection.execute("DELETE FROM main.manifest WHERE checkout = ?", (self.checkout,))
        self.connection.execute("DELETE FROM main.checkouts WHERE id = ?", (self.checkout,))
        self.connection.execute("DELETE FROM main.meta WHERE key LIKE ?", (f"%:{self.checkout}",))

    def erase(self, paths: Iterable[str]) -> None:
        """Delete all versions of files, whoever holds them; inside `writing`."""
        for path in paths:
            rows = self.connection.execute("SELECT id FROM main.versions WHERE path = ?", (path,)).fetchall()
            for (number,) in rows:
                self.release_version(number)

    def release_version(self, number: int) -> None:
        """Delete a version, whoever holds it: they find the file missing at their next look. Inside `writing`."""
        for (checkout,) in self.connection.execute("SELECT id FROM main.checkouts").fetchall():
            self.connection.execute(
                "DELETE FROM main.manifest WHERE checkout = ? AND version = ?", (checkout, number)
            )
        self.delete_version(number)
        self._changed = True

    def unheld_versions(self) -> list[int]:
        """The versions that no checkout holds, the oldest first."""
        sql = "SELECT id FROM main.versions WHERE id NOT IN (SELECT version FROM main.manifest) ORDER BY id"
        return [int(row[0]) for row in self.connection.execute(sql)]

    def delete_version(self, number: int) -> None:
        """Delete a version that nobody holds; inside `writing`. Its full-text rows stay behind, dead."""
        self.connection.execute("DELETE FROM main.versions WHERE id = ?", (number,))
        self.connection.execute("DELETE FROM main.symbols WHERE id BETWEEN ? AND ?", symbols_of(number))
        for table in BY_FILE:
            self.connection.execute(f"DELETE FROM main.{table} WHERE file = ?", (number,))
        self.set_meta("dead", str(int(self.meta("dead", "0")) + 1))

    def all_versions(self) -> Iterator[StoredVersion]:
        """Every version with a checkout that holds it, in the order of their ids."""
        sql = """SELECT v.id, v.path, v.hash, v.class, v.state, min(c.root) FROM main.versions AS v
            LEFT JOIN main.manifest AS m ON m.version = v.id LEFT JOIN main.checkouts AS c ON c.id = m.checkout
            GROUP BY v.id ORDER BY v.id"""
        for row in self.connection.execute(sql).fetchall():
            yield StoredVersion._make(row)

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
        row = self.connection.execute("SELECT id FROM files WHERE path = ?", (file.path,)).fetchone()
        if row is None:
            return
        self.connection.execute(
            "UPDATE main.manifest SET mtime_ns = ?, ctime_after = ?, racy = ? WHERE checkout = ? AND version = ?",
            (file.mtime_ns, file.ctime_ns - file.mtime_ns, is_racy(file), self.checkout, *row),
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

    def symbols_of_version(self, number: int) -> list[Symbol]:
        """The same of a version that another checkout may hold."""
        sql = "SELECT * FROM main.symbols WHERE id BETWEEN ? AND ? ORDER BY id"
        return [Symbol._make(row) for row in self.connection.execute(sql, symbols_of(number))]

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

    def names_containing(self, folded: str, most: int) -> list[str]:
        """Folded names that hold this text and more, sorted."""
        return self._names.find_containing(folded, self.revision, most)

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

    def packed_references_of_version(self, number: int) -> bytes:
        """The same of a version that another checkout may hold."""
        row = self.connection.execute("SELECT packed FROM main.refs WHERE file = ?", (number,)).fetchone()
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
            state.update(repr((file.path, file.language, file.hash, file.lines, *file[9:14])).encode())
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
