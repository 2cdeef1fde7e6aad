"""The order in which a build parses files: what somebody is asking about comes first, then code, then the rest."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from laconic.index.file_class_weights import READ_FIRST
from laconic.index.parse_files import ParseJob
from laconic.workspace.file_classes import class_of
from laconic.workspace.listing import ListedFile

_WORD: Final = re.compile(r"[\w.@+~-]+(?:[/\\][\w.@+~-]+)*")
_SHORTEST: Final = 3  # characters of a word that may name a file
_MOST: Final = 300  # files that one question moves forward


class WantedFiles:
    """What questions named while a build was running. Any thread may ask; the build takes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: set[str] = set()
        self._new = False

    def ask(self, texts: Iterable[str]) -> None:
        """Note the words of a question that may name files."""
        found: set[str] = set()
        for text in texts:
            for word in _WORD.findall(text):
                if len(word) >= _SHORTEST:
                    found.add(word.replace("\\", "/").strip("/").lower())
        with self._lock:
            self._new = self._new or not found <= self._words
            self._words = found

    def take(self) -> frozenset[str]:
        """The words since the last call; nothing new: none."""
        if not self._new:
            return frozenset()
        with self._lock:
            self._new = False
            return frozenset(self._words)


def sort_suspects(suspects: list[ListedFile]) -> None:
    """Whoever asks during a first build asks for code: it comes before what is written about it."""
    suspects.sort(key=lambda item: (READ_FIRST.get(class_of(item.path), 2), item.path))


class ParseOrder(Collection[ParseJob]):
    """The jobs of a build, those first that are wanted at the moment when the next one is taken."""

    def __init__(self, jobs: Iterable[ParseJob], wanted: WantedFiles) -> None:
        self._left: dict[str, ParseJob] = {}
        for job in jobs:
            self._left[job.item.path] = job
        self._wanted = wanted
        self.urgent: set[str] = set()  # paths that somebody waits for

    def __len__(self) -> int:
        return len(self._left)

    def __contains__(self, job: object) -> bool:
        return isinstance(job, ParseJob) and job.item.path in self._left

    def __iter__(self) -> Iterator[ParseJob]:
        """Each job once; it is gone afterwards."""
        for path in list(self._left):
            for first in self._find_wanted():
                yield self._left.pop(first)
            if path in self._left:
                yield self._left.pop(path)

    def _find_wanted(self) -> list[str]:
        words = self._wanted.take()
        if not words:
            return []
        found: list[tuple[int, str]] = []
        for path in self._left:
            if (rank := _rank(path.lower(), words)) >= 0:
                found.append((rank, path))
        found.sort()
        first = [path for _, path in found[:_MOST]]
        self.urgent.update(first)
        return first


def _rank(path: str, words: frozenset[str]) -> int:
    """How well a path is named by one of the words, 0 is best; -1: not at all."""
    if path in words:
        return 0
    folder, _, name = path.rpartition("/")
    if name in words:
        return 1
    if name.partition(".")[0] in words:
        return 2
    while folder:
        if folder in words:
            return 3
        folder = folder.rpartition("/")[0]
    return -1
