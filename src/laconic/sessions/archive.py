"""An archive of exact bytes that were left out of a conversation or a view, found again by a short reference.

Shared by any number of processes. What `put` returned is on the disk.
It knows sessions and tasks as labels, never as paths, and nothing about what the bytes mean.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from laconic.config import Settings
from laconic.errors import ArchiveUnavailable, RecallFailed, UsageError
from laconic.records import ArchivedOriginal
from laconic.reduce.pattern import find_lines
from laconic.sessions.store import StoreConnection, StorePlace, find_place, open_store

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # no letters that are mistaken for others
_SIZE: Final = 8  # letters of a reference; longer when two contents collide
_SEARCHING: Final = 3.0  # seconds for a pattern
FILE: Final = "archive.sqlite"  # in the cache folder
_DAY: Final = 86_400.0
_SLACK: Final = 8_000_000  # packed bytes below the limit at which a removal ends
_ASKED: Final = 500  # references in one question
_ALL: Final = "all"  # the limit is one number for everybody, and so are references
_ADDED: Final = "INSERT INTO entry VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"
_AT_ONCE: Final = 100  # entries that are too old, and that one `put_all` removes at most
_STEPS: Final = (
    """
CREATE TABLE IF NOT EXISTS entry (
  ref TEXT PRIMARY KEY, session TEXT NOT NULL, task TEXT NOT NULL, note TEXT NOT NULL, stored REAL NOT NULL,
  size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entry_session ON entry (session, task, stored);
CREATE INDEX IF NOT EXISTS entry_stored ON entry (stored)
""",
    """
CREATE TABLE state (packed INTEGER NOT NULL, epoch INTEGER NOT NULL);
INSERT INTO state SELECT COALESCE(SUM(packed), 0), abs(random() % 1000000000000) FROM entry
""",
)


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """What is known about archived bytes without reading them."""

    ref: str
    session: str
    task: str
    note: str
    stored: float
    size: int


class Archive:
    """Puts bytes away and gives them back.

    `limit` bounds the packed bytes, and `days` the age of what nobody put again: the oldest go first.
    """

    def __init__(
        self, place: StorePlace, limit: int, now: Callable[[], float] = time.time, *, days: float = 0
    ) -> None:
        self._file = open_store(place, _STEPS, "archive")
        self._limit = limit
        self._days = days  # 0: of any age
        self._now = now
        self._epoch = 0

    @classmethod
    def of(cls, settings: Settings) -> Archive:
        """The user's archive."""
        limit = settings.number("archive.limit_mb") * 1_000_000
        return cls(find_place(settings, FILE), limit, days=settings.number("archive.days"))

    @property
    def faults(self) -> Counter[str]:
        """How often the file could not be used, by what was wrong."""
        return self._file.faults

    @property
    def epoch(self) -> int:
        """Another number whenever entries were removed, by any process, or the file was replaced.

        While the file cannot be read it stays what it was.
        """
        with suppress(ArchiveUnavailable):
            query = "SELECT epoch FROM state"
            (self._epoch,) = self._file.read(lambda base: base.execute(query).fetchone())
        return self._epoch

    def missing(self, refs: Iterable[str]) -> set[str]:
        """Those of the references under which nothing is kept."""
        wanted = sorted(refs)

        def work(base: StoreConnection) -> set[str]:
            found: set[str] = set()
            for start in range(0, len(wanted), _ASKED):
                some = wanted[start : start + _ASKED]
                query = f"SELECT ref FROM entry WHERE ref IN ({_marks(some)})"
                found.update(ref for (ref,) in base.execute(query, some).fetchall())
            return found

        return set(wanted) - self._file.read(work)

    @property
    def is_away(self) -> bool:
        """Whether a shared store cannot be reached at the moment."""
        return self._file.is_away

    def close(self) -> None:
        self._file.close()

    def put(self, session: str, task: str, data: bytes, note: str = "") -> str:
        """Store bytes and return their reference. The same bytes of the same session and task have the same one."""
        return self.put_all([ArchivedOriginal(session, task, data, note)])[0]

    def put_all(self, originals: Sequence[ArchivedOriginal]) -> list[str]:
        """Store all of them or none, in one transaction; their references in the same order."""
        packed = [zlib.compress(one.data, 3) for one in originals]
        now = self._now()

        def work(base: StoreConnection) -> list[str]:
            refs: list[str] = []
            added = 0
            for one, small in zip(originals, packed, strict=True):
                ref = _free_reference(base, one)
                row = (ref, one.session, one.task, one.note, now, len(one.data), len(small), small)
                if base.execute(_ADDED, row).rowcount:
                    added += len(small)
                else:
                    base.execute("UPDATE entry SET stored=? WHERE ref=?", (now, ref))
                refs.append(ref)
            base.execute("UPDATE state SET packed=packed+?", (added,))
            self._bound(base, refs)
            return refs

        return self._file.write(work, alone=_ALL)

    def reference(self, original: ArchivedOriginal) -> str:
        """What `put_all` would return for it now. Nothing is stored."""
        return self._file.read(lambda base: _free_reference(base, original))

    def get(self, ref: str) -> bytes:
        """The bytes that were put, exactly."""
        query = "SELECT data FROM entry WHERE ref=?"
        row = self._file.read(lambda base: base.execute(query, (ref,)).fetchone())
        if row is None:
            raise _nothing(ref)
        try:
            return zlib.decompress(row[0])
        except zlib.error:
            self._file.faults["damaged row"] += 1
            raise RecallFailed(
                f"The archived content of {ref!r} is damaged.", "Repeat the command or call that it came from."
            ) from None

    def lines(self, ref: str, first: int, last: int) -> list[str]:
        """Lines of the stored text, 1-based, both ends included."""
        return self._text(ref)[max(0, first - 1) : last]

    def matching(self, ref: str, pattern: str) -> list[tuple[int, str]]:
        """Numbered lines of the stored text that a regular expression finds; of a very long one what is around it."""
        try:
            return find_lines(self._text(ref), pattern, _SEARCHING)
        except UsageError as error:
            raise RecallFailed(error.problem, error.fix) from None
        except TimeoutError:
            raise RecallFailed(f"{pattern!r} takes too long on {ref}.", "Simplify it, or recall lines.") from None

    def search(
        self, pattern: str, session: str | None = None, task: str | None = None, most: int = 200
    ) -> list[tuple[ArchiveEntry, int, str]]:
        """Numbered lines of what is kept that a regular expression finds, the newest texts first."""
        until = time.monotonic() + _SEARCHING
        found: list[tuple[ArchiveEntry, int, str]] = []
        for entry in reversed(self.entries(session, task)):
            if time.monotonic() > until:
                raise RecallFailed(
                    f"{pattern!r} takes too long on all of it.", "Name a session, a task or a reference."
                )
            for number, line in self.matching(entry.ref, pattern):
                found.append((entry, number, line))
                if len(found) >= most:
                    return found
        return found

    def entries(self, session: str | None = None, task: str | None = None) -> list[ArchiveEntry]:
        """What is kept, oldest first."""
        where, values = ["1=1"], []
        for column, value in (("session", session), ("task", task)):
            if value is not None:
                where.append(f"{column}=?")
                values.append(value)
        columns = "ref, session, task, note, stored, size"
        query = f"SELECT {columns} FROM entry WHERE {' AND '.join(where)} ORDER BY stored, ref"
        return [ArchiveEntry(*row) for row in self._file.read(lambda base: base.execute(query, values).fetchall())]

    def entry(self, ref: str) -> ArchiveEntry:
        """What is known about one reference."""
        query = "SELECT ref, session, task, note, stored, size FROM entry WHERE ref=?"
        row = self._file.read(lambda base: base.execute(query, (ref,)).fetchone())
        if row is None:
            raise _nothing(ref)
        return ArchiveEntry(*row)

    def remove(self, sessions: Iterable[str] = (), before: float | None = None) -> int:
        """Forget what these sessions put, and what was put before a moment, so that nothing of it is left in the file.

        Returns how many entries went.
        """
        names = sorted(set(sessions))
        moment = float("-inf") if before is None else before

        def work(base: StoreConnection) -> int:
            gone = dict(base.execute("SELECT ref, packed FROM entry WHERE stored < ?", (moment,)).fetchall())
            for name in names:
                gone.update(base.execute("SELECT ref, packed FROM entry WHERE session=?", (name,)).fetchall())
            return _remove(base, list(gone.items()))

        return self._file.erase(work)

    def _text(self, ref: str) -> list[str]:
        return self.get(ref).decode("utf-8", "replace").split("\n")

    def _bound(self, base: StoreConnection, newest: Collection[str]) -> None:
        """Remove the oldest until the rest is within the limit; what was just put always stays."""
        (total,) = base.execute("SELECT packed FROM state").fetchone()
        gone: list[tuple[str, int]] = []
        if self._days:
            query = "SELECT ref, packed FROM entry WHERE stored < ? ORDER BY stored LIMIT ?"
            gone = base.execute(query, (self._now() - self._days * _DAY, _AT_ONCE)).fetchall()
            total -= sum(packed for _, packed in gone)
        if total > self._limit:
            # A little more than needed, so that not every `put_all` removes something.
            aim = self._limit - min(_SLACK, self._limit // 10)
            kept = {*newest, *(ref for ref, _ in gone)}
            for ref, packed in base.execute("SELECT ref, packed FROM entry ORDER BY stored, ref"):
                if total <= aim:
                    break
                if ref not in kept:
                    gone.append((ref, packed))
                    total -= packed
        _remove(base, gone)


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _remove(base: StoreConnection, entries: Sequence[tuple[str, int]]) -> int:
    if entries:
        base.executemany("DELETE FROM entry WHERE ref=?", [(ref,) for ref, _ in entries])
        freed = sum(packed for _, packed in entries)
        base.execute("UPDATE state SET packed=packed-?, epoch=epoch+1", (freed,))
    return len(entries)


def _free_reference(base: StoreConnection, one: ArchivedOriginal) -> str:
    """The shortest reference of this content that no other content has."""
    letters = _letters(blake2b(_key(one.session, one.task) + one.data, digest_size=16).digest())
    query = "SELECT CASE WHEN session=? AND task=? AND size=? THEN data END FROM entry WHERE ref=?"
    for size in range(_SIZE, len(letters) + 1):
        ref = letters[:size]
        row = base.execute(query, (one.session, one.task, len(one.data), ref)).fetchone()
        if row is None or (row[0] is not None and _holds(row[0], one.data)):
            return ref
    raise ArchiveUnavailable("Two contents have the same reference.", "Store it under another task.")


def _holds(packed: bytes, data: bytes) -> bool:
    try:
        return zlib.decompress(packed) == data
    except zlib.error:  # damaged: the bytes get another reference
        return False


def _nothing(ref: str) -> RecallFailed:
    return RecallFailed(
        f"Nothing is archived under {ref!r}.",
        "It was never stored, or it has expired. Repeat the command or call that it came from.",
    )


def _key(session: str, task: str) -> bytes:
    return b"\x00".join(text.encode("utf-8", "surrogatepass") for text in (session, task)) + b"\x00"


def _letters(digest: bytes) -> str:
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(0, len(digest) * 8, 5))
