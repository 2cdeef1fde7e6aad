"""Logs: what every line begins with is said once, then as events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.build_and_test_output import output_parts
from laconic.reduce.text.parts import PLACE, TOP, TextPart, shift_parts, shorten

_LEADING: Final = 6  # words at the start of a line that may be the same everywhere
_SAMPLE: Final = 2_000
_MOST: Final = 0.98
_LONG: Final = 100  # lines of a log whose ends are shown
_END: Final = 300  # characters of such a line


def log_parts(lines: Sequence[str]) -> list[TextPart]:
    """Parts of a log; date, host and program that all lines share stand in a heading.

    The first and the last line of a long log with times stay as they are: they say from when to when it goes.
    """
    solid = []
    for line in lines:
        if line.strip():
            solid.append(line)
    if len(solid) > _LONG and signals.LOGGED.match(solid[0]) and signals.LOGGED.match(solid[-1]):
        first, *middle, last = solid
        ends = [TextPart(shorten(line, _END), PLACE) for line in (first, last)]
        return [ends[0], *shift_parts(_middle_parts(middle), 1), ends[1]]
    return _middle_parts(solid)


def _middle_parts(solid: Sequence[str]) -> list[TextPart]:
    constant = _constant_words(solid)
    sample = solid[:: len(solid) // _SAMPLE + 1]
    dense = sum(map(signals.is_error, sample)) * 4 > len(sample)
    if not constant:
        return output_parts(solid, log=True, dense=dense)
    said = " ".join(word for _, word in constant)
    places = []
    for place, _ in constant:
        places.append(place)
    parts = output_parts([_without(line, places, constant) for line in solid], log=True, dense=dense)
    return [TextPart(f"on every line: {said}", TOP, 0), *shift_parts(parts, 1)]


def _constant_words(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Leading words that (nearly) all lines share, with their places. A time differs, so it stays in the lines."""
    if len(lines) < 10:
        return []
    rows = []
    for line in lines[:: len(lines) // _SAMPLE + 1]:
        rows.append(line.split(" ", _LEADING)[:_LEADING])
    found: list[tuple[int, str]] = []
    for place in range(_LEADING):
        counts: dict[str, int] = {}
        for row in rows:
            if len(row) > place:
                counts[row[place]] = counts.get(row[place], 0) + 1
        if not counts:
            break
        word, count = max(counts.items(), key=lambda item: item[1])
        if word and count >= _MOST * len(rows) and not signals.is_error(word):
            found.append((place, word))
    bare = 0
    for row in rows:
        bare += len(row) <= len(found)
    if bare * 10 > len(rows):
        return []  # these lines say nothing else: they are repeats, and are counted
    if sum(len(word) for _, word in found) > 3:
        return found
    return []


def _without(line: str, places: Sequence[int], constant: Sequence[tuple[int, str]]) -> str:
    words = line.split(" ", _LEADING)
    if len(words) <= max(places) or any(words[place] != word for place, word in constant):
        return line
    return " ".join(word for place, word in enumerate(words) if place not in places)
