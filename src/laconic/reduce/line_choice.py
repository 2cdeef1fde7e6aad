"""Which lines of some files to show: those that are worth most for what they cost, each below its signature."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from laconic.records import Span

Place = tuple[str, int]  # path and line

_BREAK: Final = 10  # characters that a line costs beside its own
_MARK: Final = 4  # tokens of the line that says which lines are missing
_MISSES: Final = 12  # lines that do not fit, after which no more are tried
_WORD: Final = re.compile(r"\w")
_HOLE: Final = 4  # lines apart
_SMALL: Final = 40  # characters of the lines between
_AFTER: Final = 2  # lines without a word that are shown with the one before them
_BEFORE: Final = 1  # the same with the one after them


class CodeBlock(NamedTuple):
    """A definition, or what stands outside of all: no lines of it are shown without its signature."""

    path: str
    span: Span
    signature: tuple[int, ...] = ()
    title: str = ""  # what it is a part of


@dataclass(slots=True)
class ChosenLines:
    """The lines that are shown, by block."""

    lines: dict[CodeBlock, set[int]] = field(default_factory=dict)
    used: int = 0  # what they cost
    spared: int = 0  # what of it the reader has already

    def has(self, path: str, line: int) -> bool:
        return any(block.path == path and line in lines for block, lines in self.lines.items())


class LineChoice:
    """Takes lines in the order of their worth, as far as there is room."""

    def __init__(
        self,
        worth: Mapping[Place, float],
        block_of: Callable[[Place], CodeBlock],
        lines_of: Callable[[str], Sequence[str]],
        cost: Callable[[str], int],
        known: Callable[[str, int], bool],
    ) -> None:
        self._worth = worth
        self._block_of = block_of
        self._lines_of = lines_of
        self._cost = cost
        self._known = known
        self.chosen = ChosenLines()

    def take_block(self, block: CodeBlock, room: int) -> None:
        """The whole of a block where there is room for it, else its signature."""
        lines = []
        for line in range(block.span.start, block.span.end + 1):
            if not self._known(block.path, line):
                lines.append(line)
        if self._price(block, lines) > room:
            lines = []
            for line in block.signature:
                if not self._known(block.path, line):
                    lines.append(line)
        self._add(block, lines)

    def take(self, room: int) -> None:
        """The lines that are worth most, until the room is used up."""
        misses = 0
        for place in self._in_order():
            path, line = place
            if self.chosen.has(path, line):
                continue
            block = self._block_of(place)
            lines = [*self._missing_signature(block), line, *self._edges(place, block)]
            price = self._price(block, lines)
            if self.chosen.used + price > room:
                misses += 1
                if misses > _MISSES:
                    return
                continue
            if self._known(path, line):
                self.chosen.used += price
                self.chosen.spared += price
            else:
                self._add(block, lines)

    def _in_order(self) -> list[Place]:
        places = []
        for place in self._worth:
            if _WORD.search(self._line(place)):
                places.append(place)
        return sorted(places, key=lambda place: (-self._worth[place] / (len(self._line(place)) + 1 + _BREAK), place))

    def _line(self, place: Place) -> str:
        return self._lines_of(place[0])[place[1] - 1]

    def _missing_signature(self, block: CodeBlock) -> list[int]:
        have = self.chosen.lines.get(block, set())
        found: list[int] = []
        for line in block.signature:
            if line not in have and not self._known(block.path, line):
                found.append(line)
        return found

    def _price(self, block: CodeBlock, lines: Iterable[int]) -> int:
        """What some lines of a block add to what is chosen."""
        have = self.chosen.lines.get(block)
        fresh = []
        for line in lines:
            if have is None or line not in have:
                fresh.append(line)
        price = self._cost("".join(f"{self._line((block.path, line))}\n" for line in fresh))
        if have is None:
            price += _MARK + self._cost(block.title)
            if not any(other.path == block.path for other in self.chosen.lines):
                price += self._cost(f"{block.path}\n")
        around = have or set()
        beside = any(line - 1 in around or line + 1 in around for line in fresh)
        if beside:
            return price
        return price + _MARK

    def _add(self, block: CodeBlock, lines: Sequence[int]) -> None:
        self.chosen.used += self._price(block, lines)
        self.chosen.lines.setdefault(block, set()).update(lines)

    def _edges(self, place: Place, block: CodeBlock) -> Iterator[int]:
        """Brackets and empty lines beside a line. They cost next to nothing, and new code is often put there."""
        path, line = place
        lines = self._lines_of(path)
        for step, most in ((1, _AFTER), (-1, _BEFORE)):
            for number in range(line + step, line + step * (most + 1), step):
                if not 1 <= number <= len(lines) or _WORD.search(lines[number - 1]):
                    break
                if block.signature and not block.span.start <= number <= block.span.end:
                    break
                yield number


def join_runs(numbers: Iterable[int], lines: Sequence[str], hidden: Callable[[int], bool]) -> list[Span]:
    """Runs of lines; what is missing between two is shown too where that costs no more than to leave it out."""
    runs: list[Span] = []
    for number in sorted(numbers):
        if runs and _is_bridged(runs[-1].end, number, lines, hidden):
            runs[-1] = Span(runs[-1].start, number)
        else:
            runs.append(Span(number, number))
    return runs


def _is_bridged(before: int, after: int, lines: Sequence[str], hidden: Callable[[int], bool]) -> bool:
    between = range(before + 1, after)
    if after - before > _HOLE or any(map(hidden, between)):
        return False
    return sum(len(lines[line - 1].strip()) for line in between) <= _SMALL
