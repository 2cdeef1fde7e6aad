"""Files as they are read for a task: each line with what it says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from laconic.index.search.task_query import TaskQuery, split_stems

_WIDEST: Final = 400  # characters of a line that are read


Features = dict[str, float]  # what speaks for something, or against it, by name


class LineEvidence(NamedTuple):
    """What one line says of a task."""

    words: frozenset[str]
    worth: float = 0.0  # of the words that stand in it
    rare: float = 0.0  # how rare these are, as a share of what a line can say at most
    title: float = 0.0  # the same for words of the title
    pairs: int = 0  # words that stand side by side in the title
    more_pairs: int = 0  # or in the rest of the task


_NOTHING: Final = LineEvidence(frozenset())


class FileEvidence:
    """One file. Lines are numbered from 1, and read when they are asked for."""

    def __init__(self, path: str, lines: Sequence[str], query: TaskQuery) -> None:
        self.path = path
        self.lines = [line[:_WIDEST] for line in lines]
        self.query = query
        self._lines: dict[int, LineEvidence] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, number: int) -> LineEvidence:
        if not 1 <= number <= len(self.lines):
            return _NOTHING
        if number not in self._lines:
            self._lines[number] = _read_line(self.lines[number - 1], self.query)
        return self._lines[number]


class TaskFiles:
    """The files of a task, each opened once."""

    def __init__(self, query: TaskQuery, lines_of: Callable[[str], Sequence[str]]) -> None:
        self.query = query
        self._lines_of = lines_of
        self._files: dict[str, FileEvidence] = {}

    def __getitem__(self, path: str) -> FileEvidence:
        if path not in self._files:
            self._files[path] = FileEvidence(path, self._lines_of(path), self.query)
        return self._files[path]


def _read_line(line: str, query: TaskQuery) -> LineEvidence:
    words = _line_stems(line)
    held = frozenset(words)
    found = []
    for word in held:
        if word in query.words:
            found.append(query.words[word])
    if not found:
        return LineEvidence(held)
    pairs = set(pairwise(words))
    return LineEvidence(
        words=held,
        worth=math.fsum(word.worth for word in found),  # whose order is not always the same
        rare=math.fsum(word.rare for word in found) / query.rarest,
        title=math.fsum(word.rare for word in found if word.title) / query.rarest,
        pairs=len(pairs & query.pairs),
        more_pairs=len(pairs & query.more_pairs),
    )


@lru_cache(maxsize=50_000)
def _line_stems(line: str) -> tuple[str, ...]:
    return tuple(split_stems(line))
