"""Questions about files: their paths, sizes and times, what they import and export."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from laconic.index.store.query_limits import limit_to
from laconic.index.store.store import Store
from laconic.records import Import

_MANY: Final = 500  # paths that are asked for one by one


class FileStamp(NamedTuple):
    """What tells whether a file changed."""

    path: str
    id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    racy: int
    hash: bytes
    reason: str
    parser: int


def read_stamps(store: Store, paths: Sequence[str] | None = None) -> Iterator[FileStamp]:
    """The stamps of all files, or of some."""
    sql = f"SELECT {', '.join(FileStamp._fields)} FROM files"
    if paths is None or len(paths) > _MANY:
        yield from map(FileStamp._make, store.connection.execute(sql).fetchall())
        return
    for path in paths:
        row = store.connection.execute(sql + " WHERE path = ?", (path,)).fetchone()
        if row is not None:
            yield FileStamp._make(row)


def read_paths(store: Store) -> list[str]:
    """The paths of all files, sorted."""
    return [path for (path,) in store.connection.execute("SELECT path FROM files ORDER BY path")]


def count_files(store: Store) -> int:
    return int(store.connection.execute("SELECT count(*) FROM files").fetchone()[0])


def read_versions(store: Store, paths: Sequence[str], parser: int) -> dict[str, set[bytes]]:
    """The hashes of all versions of files that this parser, or a newer one, has read: also what others hold."""
    sql = "SELECT path, hash FROM main.versions WHERE parser >= ? AND hash != x''"
    found: dict[str, set[bytes]] = {}
    if len(paths) > _MANY:
        rows: Iterable[tuple[str, bytes]] = store.connection.execute(sql, (parser,))
    else:
        sql += " AND path IN (SELECT value FROM json_each(?))"
        rows = store.connection.execute(sql, (parser, json.dumps(paths)))
    for path, digest in rows:
        found.setdefault(path, set()).add(digest)
    return found


class KnownContent(NamedTuple):
    """A version of a file by what it holds."""

    id: int
    path: str
    hash: bytes
    size: int


def find_contents(store: Store, sizes: Collection[int], parser: int) -> dict[bytes, KnownContent]:
    """Versions of these sizes that this parser has read, by their hash."""
    found: dict[bytes, KnownContent] = {}
    if not sizes:
        return found
    sql = """SELECT id, path, hash, size FROM main.versions WHERE parser = ? AND state IN ('parsed', 'text')
        AND size IN (SELECT value FROM json_each(?))"""
    for row in store.connection.execute(sql, (parser, json.dumps(sorted(sizes)))):
        content = KnownContent._make(row)
        found[content.hash] = content
    return found


def read_sources(store: Store) -> list[tuple[int, str, str, str, str]]:
    """Id, path, language, class and package of every file, sorted by path."""
    return store.connection.execute("SELECT id, path, language, class, package FROM files ORDER BY path").fetchall()


def find_files_with_words(
    store: Store, words: Sequence[str], inside: str | None, most: int
) -> list[tuple[int, str, str, int]]:
    """Id, path, class and lines of files whose path holds all the words."""
    conditions = " AND ".join("path LIKE ?" for _ in words)
    limit, more = limit_to(inside, "id")
    sql = f"SELECT id, path, class, lines FROM files WHERE {conditions}{limit} LIMIT {most}"
    return store.connection.execute(sql, (*(f"%{word}%" for word in words), *more)).fetchall()


def count_lines(store: Store, files: Collection[int]) -> dict[int, int]:
    """How many lines these files have."""
    sql = "SELECT id, lines FROM files WHERE id IN (SELECT value FROM json_each(?))"
    return dict(store.connection.execute(sql, (json.dumps(list(files)),)))


def read_lengths(store: Store, inside: str | None) -> Iterator[tuple[int, str, int]]:
    """Id, path and lines of files, sorted by path."""
    limit, more = limit_to(inside, "id")
    yield from store.connection.execute(f"SELECT id, path, lines FROM files WHERE 1{limit} ORDER BY path", more)


def find_text_candidates(store: Store, trigrams: str) -> list[tuple[int, str, str]]:
    """Id, path and class of files that may hold a text; without trigrams, of all that have any."""
    head = "SELECT files.id, files.path, files.class FROM "
    if not trigrams:
        return store.connection.execute(head + "files WHERE state != 'skipped' ORDER BY path").fetchall()
    sql = head + "texts JOIN files ON files.id = texts.rowid WHERE texts MATCH ? ORDER BY files.path"
    return store.connection.execute(sql, (trigrams,)).fetchall()


def read_imports(store: Store, file: int) -> list[Import]:
    """What a file imports, in its order."""
    sql = "SELECT module, line, name, alias, exported FROM imports WHERE file = ? ORDER BY position"
    found: list[Import] = []
    for module, line, name, alias, exported in store.connection.execute(sql, (file,)):
        found.append(Import(module=module, line=line, name=name, alias=alias, exported=bool(exported)))
    return found


def read_imported_modules(store: Store) -> list[tuple[str, str]]:
    """Every module that source files import, with the language that does."""
    sql = "SELECT DISTINCT f.language, i.module FROM imports i JOIN files f ON f.id = i.file WHERE i.module != ''"
    return store.connection.execute(sql).fetchall()


def find_renamed_imports(store: Store, name: str) -> list[tuple[int, Import]]:
    """Imports of a name under an alias, each with its file."""
    sql = "SELECT file, module, line, alias, exported FROM imports WHERE name = ? AND alias != ''"
    found: list[tuple[int, Import]] = []
    for file, module, line, alias, exported in store.connection.execute(sql, (name,)):
        found.append((int(file), Import(module=module, line=line, name=name, alias=alias, exported=bool(exported))))
    return found


def read_exports(store: Store, file: int) -> frozenset[str]:
    """The names that a file exports."""
    rows = store.connection.execute("SELECT name FROM exports WHERE file = ?", (file,))
    return frozenset(str(row[0]) for row in rows)


def read_exported_names(store: Store) -> list[tuple[str, str]]:
    """Path and name of all that source files list as exported, or that packages of Python import from their modules."""
    sql = "SELECT f.path, e.name FROM exports e JOIN files f ON f.id = e.file WHERE f.class = 'source'"
    found: list[tuple[str, str]] = store.connection.execute(sql).fetchall()
    sql = """SELECT f.path, CASE i.alias WHEN '' THEN i.name ELSE i.alias END FROM imports i JOIN files f ON f.id = i.file
        WHERE f.class = 'source' AND (f.path = '__init__.py' OR f.path LIKE '%/__init__.py') AND i.module LIKE '.%'"""
    found += store.connection.execute(sql)
    return found


def read_outermost_sources(store: Store, language: str) -> list[str]:
    """Source files of a language, those in the fewest folders first."""
    sql = """SELECT path FROM files WHERE class = 'source' AND language = ?
        ORDER BY length(path) - length(replace(path, '/', '')), path"""
    return [path for (path,) in store.connection.execute(sql, (language,))]
