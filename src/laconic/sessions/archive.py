"""An archive of exact bytes that were left out of a conversation or a view, found again by a short reference.

One SQLite file, readable by its owner only, shared by any number of processes. What `put` returned is on the disk.
It knows sessions and tasks as labels, never as paths, and nothing about what the bytes mean.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from laconic.config import Settings
from laconic.errors import ArchiveUnavailable, RecallFailed, UsageError
from laconic.records import Original
from laconic.reduce.pattern import compiled
from laconic.sessions.owned import transaction

REFERENCE: Final = re.compile(r"^[0-9a-z]{8,16}$")
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # no letters that are mistaken for others
_SIZE: Final = 8  # letters of a reference; longer when two contents collide
_SEARCHING: Final = 3.0  # seconds for a pattern
_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS entry (
  ref TEXT PRIMARY KEY, session TEXT NOT NULL, task TEXT NOT NULL, note TEXT NOT NULL, stored REAL NOT NULL,
  size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entry_session ON entry (session, task, stored);
CREATE INDEX IF NOT EXISTS entry_stored ON entry (stored)
""",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known about archived bytes without reading them."""

    ref: str
    session: str
    task: str
    note: str
    stored: float
    size: int


class Archive:
    """Puts bytes away and gives them back. `limit` bounds the packed bytes: the oldest go first."""

    def __init__(self, path: Path, limit: int, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._limit = limit
        self._now = now

    @classmethod
    def of(cls, settings: Settings) -> Archive:
        """The user's archive."""
        return cls(settings.cache_dir() / "archive.sqlite", settings.number("archive.limit_mb") * 1_000_000)

    def put(self, session: str, task: str, data: bytes, note: str = "") -> str:
        """Store bytes and return their reference. The same bytes of the same session and task have the same one."""
        return self.put_all([Original(session, task, data, note)])[0]

    def put_all(self, originals: Sequence[Original]) -> list[str]:
        """Store all of them or none, in one transaction; their references in the same order."""
        packed = [zlib.compress(one.data, 3) for one in originals]
        refs: list[str] = []
        with self._open() as base:
            for one, small in zip(originals, packed, strict=True):
                refs.append(self._free_reference(base, one))
                base.execute(
                    "INSERT INTO entry VALUES (?,?,?,?,?,?,?,?) ON CONFLICT(ref) DO UPDATE SET stored=excluded.stored",
                    (refs[-1], one.session, one.task, one.note, self._now(), len(one.data), len(small), small),
                )
            self._bound(base, refs)
        return refs

    @property
    def epoch(self) -> int:
        """A number that changes whenever something was removed."""
        with self._open() as base:
            return int(base.execute("SELECT COUNT(*) FROM entry").fetchone()[0])

    def missing(self, refs: Collection[str]) -> set[str]:
        """Those of these references that nothing is kept under."""
        with self._open() as base:
            found = "SELECT ref FROM entry WHERE ref IN (SELECT value FROM json_each(?))"
            rows = base.execute(found, (json.dumps(sorted(refs)),)).fetchall()
        return set(refs) - {ref for (ref,) in rows}

    def reference(self, original: Original) -> str:
        """What `put_all` would return for it now. Nothing is stored."""
        with self._open() as base:
            return self._free_reference(base, original)

    def get(self, ref: str) -> bytes:
        """The bytes that were put, exactly."""
        with self._open() as base:
            row = base.execute("SELECT data FROM entry WHERE ref=?", (ref,)).fetchone()
        if row is None:
            raise _nothing(ref)
        return zlib.decompress(row[0])

    def lines(self, ref: str, first: int, last: int) -> list[str]:
        """Lines of the stored text, 1-based, both ends included."""
        return self._text(ref)[max(0, first - 1) : last]

    def matching(self, ref: str, pattern: str) -> list[tuple[int, str]]:
        """Numbered lines of the stored text that a regular expression finds."""
        try:
            rule = compiled(pattern)
        except UsageError as error:
            raise RecallFailed(error.problem, error.fix) from None
        until = time.monotonic() + _SEARCHING
        try:
            return [
                (number, line)
                for number, line in enumerate(self._text(ref), 1)
                if rule.search(line, timeout=min(0.4, max(0.001, until - time.monotonic())))
            ]
        except TimeoutError:
            raise RecallFailed(f"{pattern!r} takes too long on {ref}.", "Simplify it, or recall lines.") from None

    def entries(self, session: str | None = None, task: str | None = None) -> list[Entry]:
        """What is kept, oldest first."""
        where, values = ["1"], []
        for column, value in (("session", session), ("task", task)):
            if value is not None:
                where.append(f"{column}=?")
                values.append(value)
        columns = "ref, session, task, note, stored, size"
        query = f"SELECT {columns} FROM entry WHERE {' AND '.join(where)} ORDER BY stored, ref"
        with self._open() as base:
            return [Entry(*row) for row in base.execute(query, values)]

    def entry(self, ref: str) -> Entry:
        """What is known about one reference."""
        with self._open() as base:
            query = "SELECT ref, session, task, note, stored, size FROM entry WHERE ref=?"
            row = base.execute(query, (ref,)).fetchone()
        if row is None:
            raise _nothing(ref)
        return Entry(*row)

    def _text(self, ref: str) -> list[str]:
        return self.get(ref).decode("utf-8", "replace").split("\n")

    @staticmethod
    def _free_reference(base: sqlite3.Connection, one: Original) -> str:
        """The shortest reference of this content that no other content has."""
        letters = _letters(blake2b(_key(one.session, one.task) + one.data, digest_size=16).digest())
        head = (one.session, one.task, len(one.data))
        for size in range(_SIZE, len(letters) + 1):
            ref = letters[:size]
            row = base.execute("SELECT session, task, size, data FROM entry WHERE ref=?", (ref,)).fetchone()
            if row is None or (row[:3] == head and zlib.decompress(row[3]) == one.data):
                return ref
        raise ArchiveUnavailable("Two contents have the same reference.", "Store it under another task.")

    def _bound(self, base: sqlite3.Connection, newest: Collection[str]) -> None:
        """Remove the oldest until the rest is within the limit; what was just put always stays."""
        (total,) = base.execute("SELECT COALESCE(SUM(packed), 0) FROM entry").fetchone()
        if total <= self._limit:
            return
        for ref, packed in base.execute("SELECT ref, packed FROM entry ORDER BY stored, ref").fetchall():
            if total <= self._limit or ref in newest:
                continue
            base.execute("DELETE FROM entry WHERE ref=?", (ref,))
            total -= packed

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._path, _STEPS, "archive")


def _nothing(ref: str) -> RecallFailed:
    return RecallFailed(
        f"Nothing is kept under {ref!r}.", "It was never stored, or older than the archive holds: run it again."
    )


def _key(session: str, task: str) -> bytes:
    return b"\x00".join(text.encode("utf-8", "surrogatepass") for text in (session, task)) + b"\x00"


def _letters(digest: bytes) -> str:
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(0, len(digest) * 8, 5))
