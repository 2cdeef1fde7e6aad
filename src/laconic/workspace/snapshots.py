"""The versions of files that agents have read, and which lines they were shown: what edits are checked against.

One SQLite file per workspace in the cache folder. Losing it is harmless: an edit of a file that did not change still
works, and any other asks for a fresh read.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from laconic.edits.resolve import ShownVersion
from laconic.edits.source import SourceText, tag_of
from laconic.errors import WorkspaceError
from laconic.records import Span

_FILE: Final = "snapshots.sqlite"
_VERSIONS: Final = 8  # kept per file
_TOTAL: Final = 64_000_000  # bytes kept in all, compressed
_LARGEST: Final = 4_000_000  # characters of one file that are worth keeping
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS snapshot (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL, tag TEXT NOT NULL, shown TEXT NOT NULL, text BLOB NOT NULL,
  UNIQUE (path, tag)
)
"""


class Snapshots:
    """Remembers what was read. One object per process; several processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._rows = _open(folder / _FILE)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode not in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
                raise WorkspaceError(
                    f"{folder / _FILE} cannot be used: {error}.", "Free disk space, or release its lock."
                ) from None
            for suffix in ("-wal", "-shm", ""):
                (folder / f"{_FILE}{suffix}").unlink(missing_ok=True)
            self._rows = _open(folder / _FILE)

    def close(self) -> None:
        self._rows.close()

    def remember(self, path: str, source: SourceText, shown: Sequence[Span]) -> None:
        """Note that these lines of this version of a file were shown."""
        text = source.text
        if len(text) > _LARGEST:
            return
        tag = tag_of(text)
        blob = zlib.compress(text.encode("utf-8", "surrogateescape"), 1)
        self._rows.execute("BEGIN IMMEDIATE")
        known = self._rows.execute("SELECT shown FROM snapshot WHERE path = ? AND tag = ?", (path, tag)).fetchone()
        spans = merge_spans([*(_spans(known[0]) if known else ()), *shown])
        written = " ".join(f"{span.start}-{span.end}" for span in spans)
        self._rows.execute(
            "REPLACE INTO snapshot (number, path, tag, shown, text)"
            " VALUES ((SELECT coalesce(max(number), 0) + 1 FROM snapshot), ?, ?, ?, ?)",
            (path, tag, written, blob),
        )
        self._prune(path)
        self._rows.execute("COMMIT")

    def versions(self, path: str) -> dict[str, ShownVersion]:
        """The versions of a file that were read, by tag."""
        rows = self._rows.execute("SELECT tag, shown, text FROM snapshot WHERE path = ?", (path,))
        found: dict[str, ShownVersion] = {}
        for tag, shown, blob in rows:
            found[tag] = ShownVersion(_lines(blob), _spans(shown))
        return found

    def paths(self, tag: str) -> list[str]:
        """The files that were read with this tag; the latest first."""
        rows = self._rows.execute("SELECT path FROM snapshot WHERE tag = ? ORDER BY number DESC", (tag,))
        found: list[str] = []
        for (path,) in rows:
            found.append(str(path))
        return found

    def _prune(self, path: str) -> None:
        self._rows.execute(
            "DELETE FROM snapshot WHERE path = ? AND number NOT IN"
            " (SELECT number FROM snapshot WHERE path = ? ORDER BY number DESC LIMIT ?)",
            (path, path, _VERSIONS),
        )
        total = self._rows.execute("SELECT coalesce(sum(length(text)), 0) FROM snapshot").fetchone()[0]
        if total > _TOTAL:
            middle = (
                "(SELECT number FROM snapshot ORDER BY number LIMIT 1 OFFSET (SELECT count(*) / 2 FROM snapshot))"
            )
            self._rows.execute(f"DELETE FROM snapshot WHERE number < {middle}")


def _open(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    try:
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = NORMAL")
        rows.execute(_SCHEMA)
        rows.execute("SELECT max(number) FROM snapshot").fetchone()
    except BaseException:
        rows.close()
        raise
    return rows


def merge_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans in order, joined where they touch."""
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if result and span.start <= result[-1].end + 1:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return tuple(result)


def _spans(text: str) -> tuple[Span, ...]:
    parts = (part.split("-") for part in text.split())
    return tuple(Span(int(start), int(end)) for start, end in parts)


def _lines(blob: bytes) -> tuple[str, ...]:
    pieces = tuple(zlib.decompress(blob).decode("utf-8", "surrogateescape").split("\n"))
    return SourceText(pieces, ()).lines
