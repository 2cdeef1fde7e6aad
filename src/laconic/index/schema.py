"""The tables of an index, and how ids are made. Nothing here opens a file.

files     one row per *version* of a file. A changed file gets a new id (ids are never used twice), so nothing that
          pointed at the old version can be taken for the new one. `class`: source, test, vendored, generated,
          minified, doc, config, data. `state`: parsed (symbols and references are in), text (no grammar: only its
          text and words), skipped or failed (with `reason`).
symbols   id = symbol_id(file, position of the definition in the file); `file_of(id)` gives the file back, and all
          symbols of a file are one range of ids. `folded` is the name in small letters without underscores: one
          index finds any naming style; compare `name` for exactness.
refs      one packed blob per file with all its references: see `packed.py`.
mentions  full-text table, rowid = file id: the names that a file refers to. A name is first looked up here, then
          only in the blobs of those files (`Store.mentions`).
imports, exports   as the file writes them.
texts     full-text table of trigrams, rowid = file id: candidates for substring and regex search. Only trigrams
          within runs of letters, digits and underscores are in it: a third of the work, and nearly as selective.
words     full-text table, rowid = symbol id, or symbol_id(file, FILE) for what stands outside all definitions:
          split words of body, name, path, signature and documentation, for ranked search. Weights of bm25 go in
          this order; the longest column is first because that is the smallest on disk. Files of class `data`
          have no body.
meta      progress of a running build, counts; `parser`: the PARSER that files are parsed with; `older`: files up to
          this id were parsed with a smaller one, and are parsed again with the next build.

The full-text tables are contentless and only ever added to: rows of ids that are no longer in `files` are dead.
Always join with `files` or `symbols`. The index is rebuilt when too many are dead.
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
    """CREATE TABLE files(
        id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
        size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, checked_ns INTEGER NOT NULL,
        hash BLOB NOT NULL, lines INTEGER NOT NULL, class TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
        package TEXT NOT NULL, faults INTEGER NOT NULL)""",
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
)

# Any change of a table is another version: an index of another version is not read but built anew. The version is part
# of the file's name (`catalog.place`), so that the old file stays for programs that can read it until it is abandoned.
VERSION: Final = crc32(repr(STATEMENTS).encode()) & 0x7FFFFFFF or 1

# Raise it when the same bytes of a file give other rows than before: a parser sees more, words are split otherwise. An
# index that was made with a smaller number stays in use while its files are parsed again, one after the other.
PARSER: Final = 3

# Tables whose rows go with their file, and how they name it.
BY_FILE: Final = ("refs", "imports", "exports")
FULL_TEXT: Final = ("mentions", "texts", "words")


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
