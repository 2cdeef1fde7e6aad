"""What one request decides, written together: bytes to the archive, then decisions to the ledger, once each.

Until `finish` nothing is on the disk. It does no I/O of its own: archive and store are passed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from laconic.context.ledger import Decision, Recap, Store
from laconic.errors import ArchiveUnavailable
from laconic.records import Original


class Archive(Protocol):
    """Keeps exact bytes; what `put_all` returned references for is on the disk."""

    def reference(self, original: Original) -> str:
        """The reference that these bytes will have."""

    def put_all(self, originals: Sequence[Original]) -> list[str]:
        """All of them or none."""


class Writing:
    """Gathers what is to be kept. What cannot be written is refused when the request is looked at once more."""

    def __init__(self, store: Store, archive: Archive) -> None:
        self._store = store
        self._archive = archive
        self._originals: dict[str, Original] = {}
        self._decisions: list[Decision] = []
        self._recaps: list[Recap] = []
        self._session = ""
        self._archive_fails = self._ledger_fails = False

    def begin(self) -> None:
        """A new request: nothing is pending, and what failed before may work again."""
        self.discard()
        self._archive_fails = self._ledger_fails = False

    def keep(self, original: Original) -> str:
        """The reference of bytes that are archived before any decision of this request is written."""
        if self._archive_fails:
            raise _not_now()
        ref = self._archive.reference(original)
        if self._originals.setdefault(ref, original).data != original.data:
            raise _not_now()  # two contents that would have the same reference; notes may differ
        return ref

    def append(self, session: str, decisions: Sequence[Decision], recaps: Sequence[Recap]) -> None:
        """Decisions of this request, in order."""
        if self._ledger_fails:
            raise _not_now()
        self._session = session
        self._decisions += decisions
        self._recaps += recaps

    def finish(self) -> bool:
        """Write it down; bytes first, so that no decision names what is not there. False: decide again without it."""
        originals, decisions, recaps = self._originals, self._decisions, self._recaps
        self.discard()
        if not decisions and not recaps:
            return True  # nobody refers to the bytes
        try:
            if originals and self._archive.put_all(list(originals.values())) != list(originals):
                raise _not_now()  # another process took a reference in between
        except ArchiveUnavailable:
            self._archive_fails = True
            return False
        try:
            self._store.append(self._session, decisions, recaps)
        except ArchiveUnavailable:
            self._ledger_fails = True
            return False
        return True

    def discard(self) -> None:
        """Forget what is pending."""
        self._originals, self._decisions, self._recaps = {}, [], []


def _not_now() -> ArchiveUnavailable:
    return ArchiveUnavailable("It cannot be kept now.", "Free some disk; the next request tries again.")
