"""Rows of a tool's text for a model: numbers where they help, one line in the place of rows that are not shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.records import FoldedRows, Passage

_LIKE_A_NUMBER: Final = re.compile(r"\s*\d+\s*[→|:\t]")
_LIKE_A_SEPARATOR: Final = re.compile(r"\s*[:|]")
_EVERY: Final = 10  # a listing shows the numbers that this divides, and the first after each break


def passage_text(passage: Passage, runs: Sequence[FoldedRows] = (), note: str = "") -> str:
    """The rows in order; a run of others becomes one line."""
    out: list[str] = []
    after = _RowAbove()
    at = 0
    for run in runs:
        for row in range(at, run.first):
            _row(passage, row, after, out)
        out.append(_gap(passage, run))
        after.number = -2
        at = run.last + 1
    for row in range(at, len(passage)):
        _row(passage, row, after, out)
    if note:
        out.append(note)
    return "\n".join(out)


class _RowAbove:
    """What stands above the next row."""

    __slots__ = ("head", "number")

    def __init__(self) -> None:
        self.number = -2
        self.head = ""


def _row(passage: Passage, row: int, before: _RowAbove, out: list[str]) -> None:
    line = passage.lines[row]
    if passage.numbers:
        number = passage.numbers[row]
    else:
        number = -1
    if number < 0:
        if passage.heads and line == "--":  # the numbers show the break
            return
        out.append(line)
        before.number, before.head = -2, ""
        return
    head = ""
    if passage.heads:
        head = passage.heads[row]
    if head != before.head:
        out.append(head)
        before.head, before.number = head, -2
    if row in passage.hits:
        out.append(f"{number}:{line}")
    elif number == before.number + 1 and number % _EVERY and not passage.tagged and not _LIKE_A_NUMBER.match(line):
        out.append(line)
    elif _LIKE_A_SEPARATOR.match(line) and not passage.tagged:
        out.append(f"{number}→{line}")  # behind a tab it could be read as what ends the number
    else:
        out.append(f"{number}\t{line}")
    before.number = number


def _gap(passage: Passage, run: FoldedRows) -> str:
    count = run.last - run.first + 1
    named = ""
    if passage.numbers and not passage.heads:
        first, last = passage.numbers[run.first], passage.numbers[run.last]
        if first >= 0 and last - first == run.last - run.first:
            if last > first:
                named = f"{first}-{last}"
            else:
                named = str(first)
    if run.source:
        return f"[{named or _lines(count)}: {run.label}]"
    return f"[… {named or _lines(count)}]"


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"
