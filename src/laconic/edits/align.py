"""Carry lines of an old version over to a new one, only where there is no doubt which line is meant.

Lines that stand once in both versions pin the two together. From every pin, equal lines are followed downwards and
upwards; a line that both directions claim differently is in doubt and carried nowhere. Hence the laws: a carried line
is unchanged; order is kept; and when the versions differ in one place, a line is carried to where it really went, and
a deleted one never.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of both versions between two certain places; the stops are excluded."""

    old: int
    old_stop: int
    new: int
    new_stop: int


def carry(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """For every old line the index of the same line in the new version, or NOWHERE."""
    carried = [NOWHERE] * len(old)
    waiting = [_Stretch(0, len(old), 0, len(new))]
    while waiting:
        inner = _follow(old, new, waiting.pop(), carried)
        if inner is None:
            continue
        pins = _pins(old, new, inner)
        o, n = inner.old, inner.new
        for a, b in pins:
            carried[a] = b
            waiting.append(_Stretch(o, a, n, b))
            o, n = a + 1, b + 1
        if pins:
            waiting.append(_Stretch(o, inner.old_stop, n, inner.new_stop))
    return carried


def _follow(old: Sequence[str], new: Sequence[str], part: _Stretch, carried: list[int]) -> _Stretch | None:
    """Carry the equal lines at both ends of a stretch; give back what is left between them, if anything."""
    shorter = min(part.old_stop - part.old, part.new_stop - part.new)
    down = 0
    while down < shorter and old[part.old + down] == new[part.new + down]:
        down += 1
    if down == part.old_stop - part.old == part.new_stop - part.new:
        carried[part.old : part.old_stop] = range(part.new, part.new_stop)
        return None
    up = 0
    while up < shorter and old[part.old_stop - 1 - up] == new[part.new_stop - 1 - up]:
        up += 1
    sure_down, sure_up = min(down, shorter - up), min(up, shorter - down)
    for i in range(max(sure_down, 0)):
        carried[part.old + i] = part.new + i
    for i in range(max(sure_up, 0)):
        carried[part.old_stop - 1 - i] = part.new_stop - 1 - i
    if down + up >= shorter:
        return None
    return _Stretch(part.old + down, part.old_stop - up, part.new + down, part.new_stop - up)


def _pins(old: Sequence[str], new: Sequence[str], part: _Stretch) -> list[tuple[int, int]]:
    """Telling lines that stand once on both sides, as far as their order leaves no choice."""
    once_old = _once(old, part.old, part.old_stop)
    once_new = _once(new, part.new, part.new_stop)
    pairs = []
    for line, a in once_old.items():
        if line in once_new:
            pairs.append((a, once_new[line]))
    pairs.sort()
    return _without_alternative(pairs)


def _once(lines: Sequence[str], start: int, stop: int) -> dict[str, int]:
    """Lines with a letter or digit that stand exactly once between start and stop, with their places."""
    counts = Counter(lines[i] for i in range(start, stop))
    found: dict[str, int] = {}
    for i in range(start, stop):
        if counts[lines[i]] == 1 and any(map(str.isalnum, lines[i])):
            found[lines[i]] = i
    return found


def _without_alternative(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs that are in every longest increasing sequence: what moved, or may have moved, is not among them."""
    before = _longest([b for _, b in pairs])
    after = _longest([-b for _, b in reversed(pairs)])[::-1]
    longest = max(before, default=0)
    on_path = []
    for i in range(len(pairs)):
        if before[i] + after[i] - 1 == longest:
            on_path.append(i)
    rivals = Counter(before[i] for i in on_path)
    found: list[tuple[int, int]] = []
    for i in on_path:
        if rivals[before[i]] == 1:
            found.append(pairs[i])
    return found


def _longest(values: list[int]) -> list[int]:
    """For every value the length of the longest increasing sequence that ends with it."""
    tails: list[int] = []
    lengths = []
    for value in values:
        place = bisect_left(tails, value)
        tails[place : place + 1] = [value]
        lengths.append(place + 1)
    return lengths
