"""The tables of an index, and how ids are made. Nothing here opens a file.

One index serves all checkouts of a repository: work trees, clones, branches. A version of a file is parsed once.

versions  one row per version of a file: a path with certain bytes. Ids are never used twice, so nothing that pointed at
          an old version can be taken for a new one. `class`: source, test, vendored, generated, minified, doc,
          config, data. `state`: parsed (symbols and references are in), text (no grammar: only its text and words),
          skipped or failed (with `reason`). `parser`: the PARSER that read it. `defined`: how many symbols it has.
checkouts the folders that the index serves.
manifest  which version of each file a checkout holds, and the times by which a change is noticed. `ctime_after` counts
          from `mtime_ns` (they are mostly equal, and small numbers are short); `racy`: it was looked at so soon
          after it was written that a later write may carry the same time.
files     a view: the versions of one checkout, with their times.
symbols   id = symbol_id(file, position of the definition in the file); `file_of(id)` gives the file back, and all
          symbols of a file are one range of ids. `folded` is the name in small letters without underscores: one
          index finds any naming style; compare `name` for exactness.
refs      one packed blob per file with all its references: see `reference_blobs.py`.
mentions  full-text table, rowid = file id: the names that a file refers to. A name is first looked up here, then
          only in the blobs of those files (`Store.mentions`).
imports, exports   as the file writes them.
texts     full-text table of trigrams, rowid = file id: candidates for substring and regex search. Only trigrams
          within runs of letters, digits and underscores are in it: a third of the work, and nearly as selective.
words     full-text table, rowid = symbol id, or symbol_id(file, FILE) for what stands outside all definitions:
          split words of body, name, path, signature and documentation, for ranked search. Weights of bm25 go in
          this order; the longest column is first because that is the smallest on disk. Files of class `data`
          have no body.
meta      progress of a running build, counts. What is said of one checkout has its number in the key.

Every connection sees the code of one checkout only: temporary views (`views`) stand before the tables of the same name,
which are written to as `main.symbols` and so on. The full-text tables are contentless and only ever added to: they hold
rows of other checkouts and of versions that are gone. Always join with `files` or `symbols`.
"""

from __future__ import annotations

from typing import Final
from zlib import crc32

SHIFT: Final = 16  # a file has fewer than 65,000 definitions: what is beyond is cut
FILE: Final = -1  # the position that stands for the file itself

# Separators are white space only: names in some languages hold `-`, `?`, `$` and the like.
_NAMES: Final = "unicode61 remove_diacritics 0 categories ''L* N* P* S* M* C*''"

STATEMENTS: Final = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    """CREATE TABLE versions(
        id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, language TEXT NOT NULL, size INTEGER NOT NULL,
        hash BLOB NOT NULL, lines INTEGER NOT NULL, class TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
        package TEXT NOT NULL, faults INTEGER NOT NULL, defined INTEGER NOT NULL, parser INTEGER NOT NULL)""",
    "CREATE INDEX versions_path ON versions(path)",
    "CREATE INDEX versions_parser ON versions(parser)",
    "CREATE TABLE checkouts(id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL UNIQUE)",
    """CREATE TABLE manifest(
        checkout INTEGER NOT NULL, version INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_after INTEGER NOT NULL,
        racy INTEGER NOT NULL, PRIMARY KEY(checkout, version)) WITHOUT ROWID""",
    """CREATE TABLE symbols(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL,
        folded TEXT AS (lower(replace(replace(name, '_', ''), '-', ''))) VIRTUAL,
        qualified TEXT NOT NULL, kind TEXT NOT NULL,
        start INTEGER NOT NULL, end INTEGER NOT NULL, line INTEGER NOT NULL, signature TEXT NOT NULL,
        doc TEXT NOT NULL, parent INTEGER, visibility TEXT NOT NULL, modifiers TEXT NOT NULL, bases TEXT NOT NULL,
        test INTEGER NOT NULL)""",
    "CREATE INDEX symbols_folded ON symbols(folded)",
    "CREATE INDEX symbols_bases ON symbols(bases, name, kind) WHERE bases != ''",  # who inherits
    "CREATE TABLE refs(file INTEGER PRIMARY KEY, packed BLOB NOT NULL)",
    """CREATE TABLE imports(
        file INTEGER NOT NULL, position INTEGER NOT NULL, module TEXT NOT NULL, line INTEGER NOT NULL,
        name TEXT NOT NULL, alias TEXT NOT NULL, exported INTEGER NOT NULL,
        PRIMARY KEY(file, position)) WITHOUT ROWID""",
    "CREATE TABLE exports(file INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY(file, name)) WITHOUT ROWID",
    f"""CREATE VIRTUAL TABLE mentions USING fts5(
        names, content='', detail=none, columnsize=0, tokenize='{_NAMES}')""",
    """CREATE VIRTUAL TABLE texts USING fts5(
        identifiers, content='', detail=none, columnsize=0, tokenize='trigram')""",
    """CREATE VIRTUAL TABLE words USING fts5(
        body, name, path, signature, doc, content='', tokenize='porter unicode61 remove_diacritics 2')""",
    # What the planner must know: a path has few versions, a checkout many files.
    "ANALYZE main.checkouts",
    "INSERT INTO sqlite_stat1 VALUES('versions', 'versions_path', '20000 2')",
    "INSERT INTO sqlite_stat1 VALUES('manifest', 'manifest', '100000 10000 1')",
)

# Any change of a table is another version: an index of another version is not read but built anew. The version is part
# of the file's name (`catalog.place`), so that the old file stays for programs that can read it until it is abandoned.
VERSION: Final = crc32(repr(STATEMENTS).encode()) & 0x7FFFFFFF or 1

# Raise it when the same bytes of a file give other rows than before: a parser sees more, words are split otherwise.
# Versions that were read with a smaller number stay in use while their files are parsed again, one after the other.
PARSER: Final = 8

# Tables whose rows go with their file, and how they name it.
BY_FILE: Final = ("refs", "imports", "exports")
FULL_TEXT: Final = ("mentions", "texts", "words")


def views(checkout: int) -> tuple[str, ...]:
    """What a connection must run to see the code of one checkout."""
    held = f"SELECT 1 FROM main.manifest AS m WHERE m.checkout = {checkout} AND m.version ="
    made = [
        f"""CREATE TEMP VIEW files AS SELECT v.id, v.path, v.language, v.size, m.mtime_ns,
        m.mtime_ns + m.ctime_after AS ctime_ns, m.racy, v.hash, v.lines, v.class, v.state, v.reason, v.package, v.faults,
        v.defined, v.parser
        FROM main.manifest AS m JOIN main.versions AS v ON v.id = m.version WHERE m.checkout = {checkout}""",
        f"CREATE TEMP VIEW symbols AS SELECT s.* FROM main.symbols AS s WHERE EXISTS({held} s.id >> {SHIFT})",
    ]
    for table in BY_FILE:
        made.append(f"CREATE TEMP VIEW {table} AS SELECT t.* FROM main.{table} AS t WHERE EXISTS({held} t.file)")
    return tuple(made)


def symbol_id(file: int, position: int) -> int:
    """The id of a definition by its position in its file; FILE gives the row that stands for the file itself."""
    return (file << SHIFT) + position + 1


def file_of(symbol: int) -> int:
    """The file that a symbol id belongs to."""
    return symbol >> SHIFT


def position_of(symbol: int) -> int:
    """The position of the definition in its file."""
    return (symbol & ((1 << SHIFT) - 1)) - 1


def symbols_of(file: int) -> tuple[int, int]:
    """First and last id that the symbols of a file can have."""
    return symbol_id(file, 0), symbol_id(file + 1, FILE) - 1
