"""What single lines of code are worth for a task in words: how likely it is that they have to be read or changed.

The worth is a product of powers, fitted as a Poisson regression to recorded changes (each half of them predicted from
the other): how well the function and its file rank, how long they are, and how much the line and those around it say.
What a line says itself counts more than the regression has it: lines are chosen in windows, where the best ones decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from laconic.index.search.ranking import Ranked
from laconic.index.search.rarity import Rarity
from laconic.index.search.terms import stem, terms
from laconic.index.store import Store, Symbol
from laconic.index.words import split

TYPES: Final = frozenset({"class", "interface", "struct", "enum", "trait", "module", "impl", "namespace", "object"})
_CALLABLE: Final = frozenset({"function", "method", "constructor", "macro"})
_KINDS: Final = {"constant": 5.3, "variable": 5.3, "field": 2.2}
_ASKED: Final = 200  # words of a task that are looked up
_TELLING: Final = 8  # words that a line cannot say more than
_WIDEST: Final = 400  # characters of a line that are read
_FUNCTIONS: Final = 80  # symbols whose lines are weighed
_FILES: Final = 12  # files whose lines outside of functions are weighed
_LONGEST: Final = 5_000  # lines of a file that are weighed
_HEAD: Final = 150  # lines in which imports stand
_LEAST: Final = 0.05  # of the best score
_IMPORT: Final = re.compile(
    r"\s*(?:import\b|from\b.*\bimport\b|use\b|pub use\b|require|const .*= require|#include|package\b|\} from\b"
    r"|export .* from)"
)

Place = tuple[str, int]  # path and line


class Wanted:
    """The words of a task. Call it with lines: each gets a number from 0, which has nothing to do with it, upwards."""

    def __init__(self, store: Store, task: str) -> None:
        self._told: dict[str, float] = {}
        rarity = Rarity(store)
        for word in [term.word for term in terms(task)[:_ASKED]]:
            if count := rarity.count(word):
                self._told[stem(word)] = max(rarity.told(count), self._told.get(stem(word), 0.0))
        self._most = sum(sorted(self._told.values())[-_TELLING:]) or 1.0

    def __call__(self, lines: Sequence[str]) -> list[float]:
        return [self._share(line) for line in lines]

    def _share(self, line: str) -> float:
        held = {stem(word) for word in split(line[:_WIDEST]).split()}
        return sum(self._told[word] for word in held & self._told.keys()) / self._most


def weighed(
    ranked: Sequence[Ranked],
    wanted: Wanted,
    lines_of: Callable[[str], Sequence[str]],
    symbols_in: Callable[[str], Sequence[Symbol]],
) -> dict[Place, float]:
    """What each line of the best functions, and of the best files outside of functions, is worth."""
    best = ranked[0].score or 1.0
    first: dict[str, float] = {}
    for row in ranked:
        first.setdefault(row.path, max(row.score / best, _LEAST))
    files = {path: _File(rank, score, lines_of(path), wanted) for rank, (path, score) in enumerate(first.items())}
    worth: dict[Place, float] = {}
    for rank, row in enumerate(ranked[:_FUNCTIONS]):
        if row.symbol is not None and row.symbol.kind not in TYPES:
            prior = (rank + 3) ** -1.3 * max(row.score / best, _LEAST) ** 0.55
            for line, value in files[row.path].function(row.symbol):
                worth.setdefault((row.path, line), prior * value)
    for path in list(first)[:_FILES]:
        for line, value in files[path].outside(symbols_in(path)):
            worth.setdefault((path, line), value)
    return worth


class _File:
    """The lines of one file with what they say of the task."""

    def __init__(self, rank: int, score: float, lines: Sequence[str], wanted: Wanted) -> None:
        self._rank = rank
        self._score = score
        self._all = lines
        self._wanted = wanted
        self._said: list[float] = []

    def _told(self) -> list[float]:
        if not self._said:
            self._said = [0.0, 0.0, 0.0, *self._wanted(self._all[:_LONGEST]), 0.0, 0.0, 0.0]
        return self._said

    def function(self, symbol: Symbol) -> Iterator[tuple[int, float]]:
        """The lines of a function; those of a constant or a field too."""
        told = self._told()
        last = min(symbol.end, len(told) - 6)
        if last < symbol.start:
            return
        own = sum(told[symbol.start + 2 : last + 3]) / (last - symbol.start + 1)
        common = 5.6 * (self._rank + 1) ** -0.35 * self._score**-0.45 * (len(self._all) + 20) ** -0.3
        common *= (last - symbol.start + 2) ** -0.6 * (0.02 + own) ** -0.35 * _KINDS.get(symbol.kind, 1.0)
        for line in range(symbol.start, last + 1):
            at = line + 2
            yield line, common * (0.05 + told[at]) ** 0.5 * (0.2 + sum(told[at - 3 : at + 4])) ** 1.4

    def outside(self, symbols: Sequence[Symbol]) -> Iterator[tuple[int, float]]:
        """Imports, constants and all else that stands outside of functions."""
        told = self._told()
        inside: set[int] = set()
        for symbol in symbols:
            if symbol.kind in _CALLABLE:
                inside.update(range(symbol.start, symbol.end + 1))
        imports = [number for number, line in enumerate(self._all[:_HEAD], 1) if _IMPORT.match(line)]
        last, known = max(imports, default=0), set(imports)
        common = 6.6 * (self._rank + 1) ** -1.3 * self._score**1.65 * (len(self._all) + 20) ** -0.85
        for line in range(1, len(told) - 5):
            if line not in inside:
                at = line + 2
                value = (0.05 + told[at]) ** 0.65 * (0.05 + max(told[at - 1], told[at + 1])) ** 0.5
                value *= 2.0 if line in known else 1.0
                yield line, common * value * (2.0 if last - 3 <= line <= last + 5 else 1.0)
