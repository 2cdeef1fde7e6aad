"""The index of one workspace as tools use it: open it, let it be fresh, query it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from laconic.errors import LaconicError
from laconic.index import catalog
from laconic.index.build import BuildResult, Progress, bring_in, build
from laconic.index.changes import StaleFiles
from laconic.index.freshness import Freshness
from laconic.index.parse_files import FileParser, FilePreparer
from laconic.index.parse_order import WantedFiles
from laconic.index.store import Store
from laconic.index.store.file_queries import read_stamps
from laconic.index.store.statistics import Statistics, read_statistics
from laconic.workspace.secrets import NO_EXCEPTIONS, SecretFiles

_MASS: Final = 1500  # changed files from which a query no longer waits for all of them
_PATIENCE: Final = 2.0  # seconds that a query waits for a build
_CALM: Final = 0.05  # seconds after a change for others to follow it


class Index:
    """An open workspace: call `refresh` before a query, and `ensure` with the paths that its answer quotes.

    `store` may be read from any thread; writing goes through a connection of its own.
    """

    def __init__(
        self, root: Path, store: Store, preparer: FilePreparer, secrets: SecretFiles, *, published: bool = False
    ) -> None:
        self.root = root
        self.store = store
        self._published = published  # a worker brings changes in; here it is only read
        if store.kept and not published:
            self._writer = Store.open(store.path, root)
        else:
            self._writer = store
        self._preparer = preparer
        self._secrets = secrets
        self._fresh = Freshness(store, root, secrets=secrets)
        self._turn = threading.RLock()  # one thread at a time looks and writes
        self._builder: threading.Thread | None = None
        self._starting = threading.Lock()  # of a builder: a query and the watcher may both want one
        self._watcher: threading.Thread | None = None
        self._trouble = ""
        self._wanted = WantedFiles()
        self._closing = threading.Event()

    @classmethod
    def open(
        cls,
        root: Path,
        cache: Path,
        preparer: FilePreparer | None = None,
        secrets: SecretFiles = NO_EXCEPTIONS,
        *,
        force: bool = False,
    ) -> Index:
        """Open the index of a workspace, empty if there is none yet; `force`: also of a folder that is no project."""
        root = root.resolve()
        return cls(root, Store.open(catalog.claim(cache, root, force=force), root), preparer or FileParser(), secrets)

    @classmethod
    def in_memory(cls, root: Path, secrets: SecretFiles = NO_EXCEPTIONS) -> Index:
        """An index that lives as long as this process, for when no folder takes one."""
        root = root.resolve()
        return cls(root, Store.in_memory(root), FileParser(), secrets)

    @property
    def trouble(self) -> str:
        """Why the last build failed."""
        return self._trouble

    def close(self) -> None:
        """Wait for a running build, then let go of everything."""
        self._closing.set()
        for thread in (self._builder, self._watcher):
            if thread is not None:
                thread.join()
        with self._turn:
            self._fresh.close()
            self._writer.close()
            self.store.close()  # a second time does nothing where both are one

    def build(self, progress: Progress | None = None, *, seconds: float = 0.0) -> BuildResult:
        """Make everything fresh now; the outcome is `locked` when another process is at it."""
        with self._turn:
            return build(
                self._writer,
                self.root,
                self._preparer,
                progress or (lambda done, total: None),
                secrets=self._secrets,
                seconds=seconds,
            )

    def prefer(self, texts: Iterable[str]) -> None:
        """Let a build, if one is running or begins, parse first what the words of a question name."""
        self._wanted.ask(texts)

    def refresh(self, patience: float = _PATIENCE) -> str:
        """Bring in what changed on disk. Returns what the answer must say: nothing, or that it may be incomplete."""
        if self._published:
            return ""
        builder = self._builder
        if builder is not None and builder.is_alive():
            builder.join(patience)
            return self._describe_progress()
        if not self.store.meta("built") or self.store.outdated:
            if self.store.kept:
                return self._build_behind(patience)
            return self._build_at_once()
        with self._turn:
            changes = self._fresh.changes()
            if len(changes) > _MASS and self.store.kept:
                return self._build_behind(patience)
            if self._bring_in(changes):
                return ""
            return "the index is being updated by another process"

    def ensure(self, paths: Iterable[str]) -> bool:
        """Check the files that an answer quotes; True when one had changed and the answer must be made again."""
        if self._published:
            return self._wait_for_worker(paths)
        with self._turn:
            changes = self._fresh.check_named(dict.fromkeys(paths))
            if changes:
                outcome = bring_in(self._writer, self.root, changes, self._preparer)
            else:
                outcome = BuildResult()
        return bool(outcome.written or outcome.removed)

    def _wait_for_worker(self, paths: Iterable[str]) -> bool:
        """Whether a worker is just writing some of these files; their new rows are then waited for."""
        until, named = time.monotonic() + _PATIENCE, list(dict.fromkeys(paths))
        waited = False
        while self._is_behind(named) and time.monotonic() < until:
            waited = True
            time.sleep(_CALM)
        return waited

    def _is_behind(self, paths: Sequence[str]) -> bool:
        """Whether the disk has other files than the rows say; a worker puts each in place at once, with a new time."""
        for stamp in read_stamps(self.store, paths):
            try:
                about = (self.root / stamp.path).stat()
            except OSError:
                return True
            if (about.st_size, about.st_mtime_ns) != (stamp.size, stamp.mtime_ns):
                return True
        return False

    def watch(self) -> None:
        """Bring changes in as they happen, in a thread, so that queries need not wait for them."""
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._watching, name="laconic-watch", daemon=True)
            self._watcher.start()

    def statistics(self) -> Statistics:
        return read_statistics(self.store, self.root)

    def _bring_in(self, changes: StaleFiles) -> bool:
        if changes and bring_in(self._writer, self.root, changes, self._preparer).locked:
            self._fresh.again()
            return False
        return True

    def _build_at_once(self) -> str:
        """Build while the query waits: an index in memory has one connection, which a thread would take from it."""
        self.build()
        return ""

    def _build_behind(self, patience: float) -> str:
        """Build in a thread while queries go on; wait a little, since a small workspace is soon done."""
        with self._starting:
            builder = self._builder
            if builder is None or not builder.is_alive():
                self._trouble = ""
                builder = threading.Thread(target=self._build_alone, name="laconic-build", daemon=True)
                builder.start()
                self._builder = builder
        builder.join(patience)
        return self._describe_progress()

    def _build_alone(self) -> None:
        try:
            store = Store.open(self.store.path, self.root)
            try:
                build(
                    store,
                    self.root,
                    self._preparer,
                    lambda done, total: None,
                    secrets=self._secrets,
                    wanted=self._wanted,
                )
            finally:
                store.close()
        except (LaconicError, sqlite3.Error, OSError) as error:  # nobody joins this thread to hear of it
            self._trouble = f"the index could not be built: {error}"

    def _describe_progress(self) -> str:
        """How far a build is, of this process or of another; nothing when the index is complete."""
        if self._trouble:
            return self._trouble
        if progress := self.store.meta("building"):
            return f"the index is being built: {progress} files"
        if not self.store.meta("built"):
            return "the index is being built"
        if self.store.outdated:
            return "files are being parsed again with a newer parser"
        return ""

    def _watching(self) -> None:
        while not self._closing.is_set():
            if self._fresh.wait(0.5):
                time.sleep(_CALM)
                with suppress(LaconicError, sqlite3.Error, OSError):  # the next query meets it too, and tells
                    self.refresh()
