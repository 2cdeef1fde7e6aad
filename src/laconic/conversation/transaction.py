"""Write what one request decides: first the bytes to the archive, then the event to the ledger, once each.

Until `finish` nothing is on the disk. It does no I/O of its own: archive and store are passed in.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from laconic.conversation.ledger import Branch, Decision, LedgerEntry, LedgerStore, Receipt, Removal
from laconic.errors import ArchiveUnavailable
from laconic.records import ArchivedOriginal


class ArchiveStore(Protocol):
    """Keeps exact bytes; what `put_all` returned references for is on the disk."""

    def reference(self, original: ArchivedOriginal) -> str:
        """The reference that these bytes will have."""

    def put_all(self, originals: Sequence[ArchivedOriginal]) -> list[str]:
        """All of them or none."""

    @property
    def epoch(self) -> int:
        """A number that changes whenever something was removed."""

    def missing(self, refs: Collection[str]) -> set[str]:
        """Those of these references that nothing is kept under."""


class LedgerTransaction:
    """Gathers what is to be kept. What cannot be written is refused when the request is looked at once more."""

    def __init__(self, store: LedgerStore, archive: ArchiveStore) -> None:
        self._store = store
        self._archive = archive
        self._originals: dict[str, ArchivedOriginal] = {}
        self._decisions: list[Decision] = []
        self._removals: list[Removal] = []
        self._archive_fails = self._ledger_fails = self._refused = False

    @property
    def archive(self) -> ArchiveStore:
        return self._archive

    @property
    def pending(self) -> bool:
        """Whether this request decided anything."""
        return bool(self._decisions or self._removals)

    @property
    def refs(self) -> set[str]:
        """What will be in the archive."""
        return set(self._originals)

    @property
    def refused(self) -> bool:
        """Whether something of this request could not be kept: it was decided without it."""
        return self._refused or self._archive_fails or self._ledger_fails

    def begin(self) -> None:
        """A new request: nothing is pending, and what failed before may work again."""
        self.discard()
        self._archive_fails = self._ledger_fails = self._refused = False

    def keep(self, original: ArchivedOriginal) -> Receipt:
        """The receipt for bytes that are archived before any decision of this request is written."""
        if self._archive_fails:
            raise _not_now()
        try:
            ref = self._archive.reference(original)
            if self._originals.setdefault(ref, original).data != original.data:
                raise _not_now()  # two contents that would have the same reference; notes may differ
        except ArchiveUnavailable:
            self._refused = True
            raise
        return Receipt(ref)

    def append(self, decisions: Sequence[Decision], removals: Sequence[Removal]) -> None:
        """Decisions of this request, in order."""
        if self._ledger_fails:
            raise _not_now()
        self._decisions += decisions
        self._removals += removals

    def finish(self, session: str, known: int, branch: Branch) -> LedgerEntry | None:
        """Write it down; bytes first, so that no decision names what is not there.

        What cannot be written raises `ArchiveUnavailable`: then decide again, without it. That a branch went on is
        worth no second look: a later request writes it.
        """
        originals, decisions, removals = self._originals, self._decisions, self._removals
        self.discard()
        if not decisions and not removals:
            if not self._ledger_fails:
                self._store.record(session, known, None, branch)
            return None
        event = LedgerEntry(
            branch=branch.id,
            at=branch.tip,
            count=branch.count,
            decisions=tuple(decisions),
            removals=tuple(removals),
        )
        try:
            if originals and self._archive.put_all(list(originals.values())) != list(originals):
                raise _not_now()  # another process took a reference in between
        except ArchiveUnavailable:
            self._archive_fails = True
            raise
        try:
            self._store.record(session, known, event, branch)
        except ArchiveUnavailable:
            self._ledger_fails = True
            raise
        return event

    def discard(self) -> None:
        """Forget what is pending."""
        self._originals, self._decisions, self._removals = {}, [], []


def _not_now() -> ArchiveUnavailable:
    return ArchiveUnavailable(
        "The archive cannot be written now.", "Free some disk space; the next request tries again."
    )
