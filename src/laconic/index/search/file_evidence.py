"""Files as they are read for a task: each line with what it says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from laconic.index.search.task_query import Asked, stems

_WIDEST: Final = 400  # characters of a line that are read


Evidence = dict[str, float]  # what speaks for something, or against it, by name


class Said(NamedTuple):
    """What one line says of a task."""

    words: frozenset[str]
    worth: float = 0.0  # of the words that stand in it
    rare: float = 0.0  # how rare these are, as a share of what a line can say at most
    title: float = 0.0  # the same for words of the title
    pairs: int = 0  # words that stand side by side in the title
    more_pairs: int = 0  # or in the rest of the task


_NOTHING: Final = Said(frozenset())


class Page:
    """One file. Lines are numbered from 1, and read when they are asked for."""

    def __init__(self, path: str, lines: Sequence[str], asked: Asked) -> None:
        self.path = path
        self.lines = [line[:_WIDEST] for line in lines]
        self.asked = asked
        self._said: dict[int, Said] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, number: int) -> Said:
        if not 1 <= number <= len(self.lines):
            return _NOTHING
        if number not in self._said:
            self._said[number] = _said(self.lines[number - 1], self.asked)
        return self._said[number]


class Pages:
    """The files of a task, each opened once."""

    def __init__(self, asked: Asked, lines_of: Callable[[str], Sequence[str]]) -> None:
        self.asked = asked
        self._lines_of = lines_of
        self._pages: dict[str, Page] = {}

    def __getitem__(self, path: str) -> Page:
        if path not in self._pages:
            self._pages[path] = Page(path, self._lines_of(path), self.asked)
        return self._pages[path]


def _said(line: str, asked: Asked) -> Said:
    words = _stems(line)
    held = frozenset(words)
    found = [asked.words[word] for word in held if word in asked.words]
    if not found:
        return Said(held)
    pairs = set(pairwise(words))
    return Said(
        held,
        math.fsum(word.worth for word in found),  # whose order is not always the same
        math.fsum(word.rare for word in found) / asked.rarest,
        math.fsum(word.rare for word in found if word.title) / asked.rarest,
        len(pairs & asked.pairs),
        len(pairs & asked.more_pairs),
    )


@lru_cache(maxsize=50_000)
def _stems(line: str) -> tuple[str, ...]:
    return tuple(stems(line))
