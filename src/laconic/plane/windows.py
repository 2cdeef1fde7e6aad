"""Which lines to show: those that are worth most for what they cost, in windows that can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from laconic.index.search.line_scores import Place
from laconic.plane.source import clip_line
from laconic.records import Span

_BREAK: Final = 10  # characters that a line costs beside its own
_MARK: Final = 4  # tokens of the line that says where a window is
_WORD: Final = re.compile(r"\w")
_HOLE: Final = 4  # lines apart
_SMALL: Final = 40  # characters of the lines between
_AFTER: Final = 2  # lines without a word that are shown with the one before them
_BEFORE: Final = 1  # the same with the one after them


class Window(NamedTuple):
    """Lines of a file that are shown together."""

    path: str
    span: Span


class Choice:
    """Lines in the order of their worth, taken as far as there is room, round after round."""

    def __init__(
        self,
        worth: Mapping[Place, float],
        lines_of: Callable[[str], Sequence[str]],
        cost: Callable[[str], int],
        known: Callable[[str, int], bool],
    ) -> None:
        self._worth = worth
        self._lines_of = lines_of
        self._cost = cost
        self._known = known
        self._order = sorted(
            (place for place in worth if _WORD.search(self._line(place))),
            key=lambda place: (-worth[place] / (len(self._line(place)) + 1 + _BREAK), place),
        )
        self._at = 0
        self._taken: set[Place] = set()
        self.spared = 0  # what the lines would have cost that the reader has

    def _line(self, place: Place) -> str:
        return clip_line(self._lines_of(place[0])[place[1] - 1])

    def take(self, room: int) -> list[Window]:
        """The next windows that cost no more than the room, the best file first. Lines that are known are not shown,
        but take their room: the reader has them, and does not get more of less worth instead."""
        chosen: set[Place] = set()
        paths: set[str] = set()
        used = 0
        while self._at < len(self._order):
            place = self._order[self._at]
            path, line = place
            if place in self._taken:  # it was shown between two others
                self._at += 1
                continue
            known = self._known(path, line)
            if known:
                edges = []
            else:
                edges = [edge for edge in self._edges(place) if edge not in chosen]
            beside = ((path, line - 1) in chosen) + ((path, line + 1) in chosen)
            price = self._cost("".join(f"{self._line(each)}\n" for each in (place, *edges))) + _MARK * (1 - beside)
            price += 0 if path in paths else self._cost(f"{path}\n")
            if used + price > room:
                break
            used += price
            self._at += 1
            chosen.update((place, *edges))
            paths.add(path)
            if known:
                self.spared += price
        self._taken |= chosen
        shown: dict[str, list[int]] = {}
        for path, line in chosen:
            if not self._known(path, line):
                shown.setdefault(path, []).append(line)
        best = {path: max(self._worth.get((path, line), 0.0) for line in lines) for path, lines in shown.items()}
        order = sorted(shown, key=lambda path: (-best[path], path))
        windows = [window for path in order for window in self._windows(path, shown[path])]
        self._taken.update((path, line) for path, span in windows for line in range(span.start, span.end + 1))
        return windows

    def _edges(self, place: Place) -> Iterator[Place]:
        """Brackets and empty lines beside a line. They cost next to nothing, and new code is often put there."""
        path, line = place
        lines = self._lines_of(path)
        for step, most in ((1, _AFTER), (-1, _BEFORE)):
            for number in range(line + step, line + step * (most + 1), step):
                if not 1 <= number <= len(lines) or _WORD.search(lines[number - 1]) or (path, number) in self._taken:
                    break
                yield path, number

    def _windows(self, path: str, numbers: Iterable[int]) -> Iterator[Window]:
        """Runs of lines; what is missing between two is shown too where that costs no more than to leave it out."""
        start = end = 0
        for number in sorted(numbers):
            if end and (number == end + 1 or self._is_bridged(path, end, number)):
                end = number
                continue
            if end:
                yield Window(path, Span(start, end))
            start = end = number
        if end:
            yield Window(path, Span(start, end))

    def _is_bridged(self, path: str, before: int, after: int) -> bool:
        between = []
        for line in range(before + 1, after):
            between.append((path, line))
        if after - before > _HOLE or any(place in self._taken or self._known(*place) for place in between):
            return False
        return sum(len(self._line(place).strip()) for place in between) <= _SMALL
