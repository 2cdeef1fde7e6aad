"""Which lines of which files an answer of the code plane shows, and after how many characters of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

_SPAN: Final = re.compile(r"(\d+)(?:-(\d+))?(?: in [\w.$:<>#/-]+)?")
_ONE_LINE: Final = re.compile(r"(\d+)(?:-\d+)? (\S.*)")
_HEADER: Final = re.compile(r"\[(.+)#[0-9a-f]+ \d+ lines?\]")
_NUMBERED: Final = re.compile(r"(\d+)(?::\w+)?\t(.*)")
_GAP: Final = re.compile(r"\s*… (\d+)(?:-(\d+))?")


class Line(NamedTuple):
    """A line of a file that was printed."""

    path: str
    number: int
    text: str
    characters: int  # printed up to its end


def printed(answer: str, lines_of: Callable[[str], Sequence[str]]) -> Iterator[Line]:
    """The lines of `path` headings with `12-30 def ...`, of bodies below a bare `12-30`, and numbered ones of `read`."""
    path, at, end, characters = "", 0, 0, 0
    for text in answer.split("\n"):
        characters += len(text) + 1
        if lines_of(text) and not text[:1].isspace():
            path, at = text, 0
        elif header := _HEADER.fullmatch(text):
            path, at = header[1], 0
        elif numbered := _NUMBERED.fullmatch(text):
            yield Line(path, int(numbered[1]), numbered[2], characters)
            at = 0
        elif span := _SPAN.fullmatch(text):
            at, end = int(span[1]), int(span[2] or span[1])
        elif (one := _ONE_LINE.fullmatch(text)) and not text[:1].isspace():
            yield Line(path, int(one[1]), one[2], characters)
            at = 0
        elif at and (gap := _GAP.fullmatch(text)):
            at = int(gap[2] or gap[1]) + 1
        elif at:
            source = lines_of(path)
            found = next(
                (n for n in range(at, min(end, len(source)) + 1) if source[n - 1].rstrip() == text.rstrip()), 0
            )
            if found:
                yield Line(path, found, text, characters)
                at = found + 1
