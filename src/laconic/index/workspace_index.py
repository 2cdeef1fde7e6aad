"""The index of one workspace as tools use it: open it, let it be fresh, query it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from laconic.index import catalog
from laconic.index.build import Outcome, Progress, build
from laconic.index.fresh import SMALL, Freshness
from laconic.index.preparing import Parsing, Preparer
from laconic.index.store import Store


class Index:
    """An open workspace. Call `refresh` before a query and `ensure` with the paths of its answer.

    `store.connection` may be queried freely from the thread that opened it.
    """

    def __init__(self, root: Path, store: Store, preparer: Preparer) -> None:
        self.root = root
        self.store = store
        self._preparer = preparer
        self._fresh = Freshness(store, root, preparer)
        self._builder: threading.Thread | None = None

    @classmethod
    def open(cls, root: Path, cache: Path, preparer: Preparer | None = None) -> Index:
        """Open the index of a workspace, empty if there is none yet."""
        root = root.resolve()
        return cls(root, Store.open(catalog.place(cache, root)), preparer or Parsing())

    def close(self) -> None:
        if self._builder is not None:
            self._builder.join()
        self.store.close()

    def build(self, progress: Progress | None = None, *, seconds: float = 0.0) -> Outcome:
        """Make everything fresh now; says `locked` when another process is at it."""
        return build(self.store, self.root, self._preparer, progress or (lambda done, total: None), seconds=seconds)

    def build_behind(self) -> None:
        """Build in a thread with a connection of its own, while queries go on."""
        if self._builder is not None and self._builder.is_alive():
            return
        self._builder = threading.Thread(target=self._build_alone, name="laconic-build", daemon=True)
        self._builder.start()

    def refresh(self) -> str:
        """Bring in what changed. Returns what the answer must say: empty, or how far a running build is."""
        if self.building:
            return self._said()
        changes = self._fresh.sweep()
        if changes:
            if len(changes) > SMALL or not self.store.meta("built"):
                self.build_behind()
                return self._said()
            self._fresh.bring_in(changes)
        return ""

    def ensure(self, paths: Iterable[str]) -> bool:
        """Check the files that an answer quotes; True when one had changed and the answer must be made again."""
        return self._fresh.ensure(paths)

    @property
    def building(self) -> bool:
        """Whether a build of this process is under way."""
        return self._builder is not None and self._builder.is_alive()

    def statistics(self) -> catalog.Statistics:
        return catalog.statistics(self.root, self.store.path)

    def _said(self) -> str:
        return f"index is being built: {self.store.meta('building') or 'starting'}"

    def _build_alone(self) -> None:
        store = Store.open(self.store.path)
        try:
            build(store, self.root, self._preparer, lambda done, total: None)
        finally:
            store.close()
