"""Find out what changed on disk since indexing: by watching where the system supports it, else by scanning.

It writes nothing. The first look costs one listing of the workspace; later ones next to nothing while it is quiet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from laconic.index.changes import StaleFiles, is_same, read_known_files
from laconic.index.folder_states import look_at_folders
from laconic.index.store import Store
from laconic.index.store.file_queries import FileStamp, read_paths
from laconic.workspace.folder_watch import FolderWatch, WatchEvents, folders_of
from laconic.workspace.listing import ListedFile, look
from laconic.workspace.secrets import NO_EXCEPTIONS, SecretFiles

_NOTHING: Final = StaleFiles((), ())
_OFTEN: Final = 0.3  # seconds between two looks when nobody tells us
_SELDOM: Final = 30.0  # between two looks when the system tells us: some file systems do not tell all
_SHARE: Final = 10.0  # looking may take at most one tenth of the time


class Freshness:
    """What has to be brought in before a query may be answered."""

    def __init__(
        self,
        store: Store,
        root: Path,
        clock: Callable[[], float] = time.monotonic,
        *,
        listen: bool = True,
        secrets: SecretFiles = NO_EXCEPTIONS,
    ) -> None:
        self._store = store
        self._root = root
        self._clock = clock
        self._watch: FolderWatch | None = None
        self._ignored: frozenset[str] = frozenset()
        self._next = 0.0  # when to look at everything again
        self._looks = 0
        self._listens = listen
        self._secrets = secrets

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def changes(self) -> StaleFiles:
        """All changes that are known or due to be looked for."""
        heard = self._take_events()
        if heard.lost or self._clock() >= self._next:
            return self._look(heard)
        paths = heard.paths - self._ignored
        if not paths:
            return _NOTHING
        found = self.check_named(paths)
        if any(_decides(item.path) or self._find_known(item.path) is None for item in found.suspects):
            return self._look(heard)  # a new file may be one that git ignores
        return found

    def again(self) -> None:
        """Look at everything with the next question: what was found could not be brought in."""
        self._next = 0.0

    def wait(self, seconds: float) -> bool:
        """Wait until the system tells of a change; False after the time given."""
        if self._watch is None:
            time.sleep(seconds)
            return True
        return self._watch.wait(seconds)

    def check_named(self, paths: Iterable[str]) -> StaleFiles:
        """Those of the named files that changed, by size and times."""
        suspects: list[ListedFile] = []
        gone: list[str] = []
        for path in paths:
            before = self._find_known(path)
            now = look(self._root, path, self._secrets)
            if now is None:
                gone += [path] if before else []
            elif before is None or not is_same(before, now):
                suspects.append(now)
        return StaleFiles(tuple(suspects), tuple(gone))

    def _take_events(self) -> WatchEvents:
        if self._watch is None:
            return WatchEvents(frozenset(), False)
        return self._watch.take_events()

    def _look(self, heard: WatchEvents) -> StaleFiles:
        started = self._clock()
        self._looks += 1
        if self._listens and (heard.lost or self._looks == 2):  # a command that ends at once asks only once
            self._listen_anew()
        found = look_at_folders(self._store, self._root, self._secrets, time.time_ns())
        news = self._listen(f"{folder}/" for folder in found.folders)
        self._ignored = self._find_ignored(self._ignored | heard.paths, found.changes)
        pause = max(_SELDOM if self._watch else _OFTEN, (self._clock() - started) * _SHARE)
        # A folder that was not yet watched may have changed between listing and watching.
        if news or (self._listens and self._looks == 1):
            self._next = 0.0
        else:
            self._next = self._clock() + pause
        return found.changes

    def _find_ignored(self, heard: frozenset[str], changes: StaleFiles) -> frozenset[str]:
        """Those of the files that the system told of that the workspace does not have."""
        new = {item.path for item in changes.suspects}
        return frozenset(heard - new - read_known_files(self._store, sorted(heard)).keys())

    def _listen_anew(self) -> None:
        """Folders that were moved are still heard under their old names: begin again."""
        self.close()
        self._watch = FolderWatch.open(self._root)
        self._listens = self._watch is not None
        self._listen(read_paths(self._store))

    def _listen(self, paths: Iterable[str]) -> bool:
        if self._watch is None:
            return False
        added = self._watch.add(sorted(folders_of(paths)))
        if added is None:  # the system watches no more: look instead
            self.close()
            self._listens = False
        return bool(added)

    def _find_known(self, path: str) -> FileStamp | None:
        return read_known_files(self._store, [path]).get(path)


def _decides(path: str) -> bool:
    """Whether a file says which others belong to the workspace."""
    return path.rpartition("/")[2] in {".gitignore", ".ignore"}
