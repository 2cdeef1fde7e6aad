"""Keep an index right while files change: what a query relies on is checked before it is answered.

`check` brings small changes in at once, in this process; it leaves a first build or a mass change to `build`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from laconic.index.build import Outcome, apply, lock_of
from laconic.index.changes import Changes, Known, compare, known
from laconic.index.preparing import Preparer
from laconic.index.store import Store
from laconic.workspace.listing import Listed, listing, look
from laconic.workspace.lock import held

SMALL: Final = 60  # files that are brought in before an answer; more are a build of their own
_WAIT: Final = 2.0  # seconds for another writer to finish a batch


def _silent(done: int, total: int) -> None:
    """Small changes show no progress."""


@dataclass(slots=True)
class Freshness:
    """Decides when to look at the disk, and writes what it finds."""

    store: Store
    root: Path
    preparer: Preparer
    pause: float = 0.5  # seconds between two looks at the whole workspace
    _looked: float = field(default=-1e9)

    def sweep(self, *, force: bool = False) -> Changes | None:
        """Compare the whole workspace with the index; None when the last look is recent enough."""
        now = time.monotonic()
        if not force and now - self._looked < self.pause:
            return None
        changes = compare(listing(self.root), known(self.store))
        self._looked = time.monotonic()
        return changes

    def bring_in(self, changes: Changes) -> Outcome:
        """Write changes now, unless another process is at it."""
        with held(lock_of(self.store), seconds=_WAIT) as got:
            if not got:
                return Outcome(locked=True)
            return apply(self.store, self.root, changes, known(self.store), self.preparer, progress=_silent)

    def ensure(self, paths: Iterable[str]) -> bool:
        """Re-read those of the named files that changed; True when one did, and the answer must be made again."""
        items: list[Listed] = []
        gone: list[str] = []
        for path in dict.fromkeys(paths):
            before = self._known(path)
            now = look(self.root, path)
            if now is None:
                gone += [path] if before else []
            elif before is None or not before.same(now):
                items.append(now)
        if not items and not gone:
            return False
        outcome = self.bring_in(Changes(tuple(items), tuple(gone)))
        return bool(outcome.written or outcome.removed)

    def _known(self, path: str) -> Known | None:
        row = self.store.connection.execute(
            "SELECT size, mtime_ns, ctime_ns, checked_ns, hash, reason FROM files WHERE path = ?", (path,)
        ).fetchone()
        return None if row is None else Known._make(row)
