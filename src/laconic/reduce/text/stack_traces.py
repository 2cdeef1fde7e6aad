"""Stack traces of several languages: the ends of a run of frames stay, code of our own before that of libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.parts import COMMON, DETAIL, NOISE, PLACE, RARE

_SOURCE_DEPTH: Final = 4  # a source line below a Python frame is indented by at least that
_FIRST: Final = 2
_LAST: Final = 2


def frame_worths(lines: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Line number -> worth and the line of its frame (itself for a frame), for all lines in runs of frames."""
    worths: dict[int, tuple[int, int]] = {}
    index = 0
    while index < len(lines):
        if not signals.FRAME.match(lines[index]):
            index += 1
            continue
        frames, index = _run(lines, index)
        own = []
        for n, (start, _) in enumerate(frames):
            if not signals.LIBRARY.search(lines[start]):
                own.append(n)
        for position, (start, end) in enumerate(frames):
            edge = position < _FIRST or position >= len(frames) - _LAST or position in own[:1] + own[-1:]
            if edge:
                worth = PLACE
            elif position in own:
                worth = DETAIL
            else:
                worth = COMMON
            if 0 < position < len(frames) - 1 and lines[start] == lines[frames[position - 1][0]]:
                worth = NOISE  # recursion: the same frame again and again
            worths[start] = worth, start
            for inner in range(start + 1, end):
                worths[inner] = _source_worth(lines[inner], worth), start
    return worths


def _run(lines: Sequence[str], start: int) -> tuple[list[tuple[int, int]], int]:
    """The frames of one run as ranges of lines, and where the run ends."""
    frames: list[tuple[int, int]] = []
    index = start
    while index < len(lines) and signals.FRAME.match(lines[index]):
        end = index + 1
        depth = len(lines[index]) - len(lines[index].lstrip())
        while end < len(lines) and end - index < 6 and _belongs(lines[end], depth):
            end += 1
        frames.append((index, end))
        index = end
    return frames, index


def _belongs(line: str, depth: int) -> bool:
    """A source line or carets below a frame."""
    if not line.strip() or signals.FRAME.match(line):
        return False
    inner = len(line) - len(line.lstrip())
    return inner >= max(depth + 1, _SOURCE_DEPTH) or signals.CARETS.match(line) is not None


def _source_worth(line: str, worth: int) -> int:
    if signals.CARETS.match(line):
        return NOISE
    if worth == PLACE:
        return PLACE
    return min(worth, RARE)
