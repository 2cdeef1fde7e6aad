"""A tool's text as rows: file listings lose their numbering, search listings their paths, lines stay verbatim.

Rows stand one to one for the lines of the text, so that a row can be left out, pointed to and recalled by its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from laconic.records import FoldedRows, Passage

_FEWEST: Final = 3  # rows that make a listing
_NUMBERED: Final = re.compile(r"\s*(\d{1,7})(?:→|\t)(.*)", re.S)
_TAGGED: Final = re.compile(r"\[.+#[0-9a-f]{6,64} \d+ lines?\]")
_FOUND: Final = re.compile(r"((?:\.{0,2}/)?[\w@.+~\-]+(?:/[\w@.+~\-\[\]()]+)*)([:-])(\d{1,7})\2(.*)", re.S)


def passage(text: str) -> Passage:
    """Read a text: a numbered listing, a search listing, or plain lines."""
    rows = text.split("\n")
    return _read_numbered(rows) or _read_found(rows) or Passage(tuple(rows))


def _read_numbered(rows: Sequence[str]) -> Passage | None:
    """`   12→code` and `12<tab>code`, ascending by one somewhere: real listings do, tables of figures do not."""
    if sum(1 for row in rows[:40] if row[:1] in " 0123456789") < _FEWEST:
        return None
    matches = []
    for row in rows:
        matches.append(_NUMBERED.fullmatch(row))
    numbers = tuple(int(match[1]) if match else -1 for match in matches)
    steps = 0
    for a, b in pairwise(numbers):
        if a >= 0 and b == a + 1:
            steps += 1
    if steps < _FEWEST - 1:
        return None
    lines = tuple(m[2] if m else row for m, row in zip(matches, rows, strict=True))
    return Passage(lines, numbers, tagged=any(row[:1] == "[" and _TAGGED.fullmatch(row) for row in rows))


def _read_found(rows: Sequence[str]) -> Passage | None:
    """`path:12:code` and `path-13-code` as grep and ripgrep print them."""
    if ":" not in rows[0] and "-" not in rows[0]:
        return None
    matches = []
    for row in rows:
        matches.append(_FOUND.fullmatch(row))
    matches = [m if m and ("/" in m[1] or "." in m[1]) else None for m in matches]
    if sum(m is not None for m in matches) < max(_FEWEST, len(rows) // 2):
        return None
    numbers = tuple(int(m[3]) if m else -1 for m in matches)
    return Passage(
        tuple(m[4] if m else row for m, row in zip(matches, rows, strict=True)),
        numbers,
        _name_files([m[1] if m else "" for m in matches], numbers),
        frozenset(place for place, m in enumerate(matches) if m and m[2] == ":"),
    )


def _name_files(paths: Sequence[str], numbers: Sequence[int]) -> tuple[str, ...]:
    """The file of each row. Claude Code shortens the paths of hits, and not those of the lines around them."""
    named: list[str] = []
    for place, path in enumerate(paths):
        follows = place > 0 and numbers[place - 1] >= 0 and numbers[place] == numbers[place - 1] + 1
        if follows and _is_same_file(named[-1], path):
            named.append(named[-1])
        else:
            named.append(path)
    return tuple(named)


def _is_same_file(one: str, other: str) -> bool:
    """Whether one path is the other from a folder above."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def leave_out_rows(runs: Iterable[FoldedRows], rows: Iterable[int]) -> tuple[FoldedRows, ...]:
    """The runs with these rows left out too; pointers keep what is left of them."""
    runs = tuple(runs)
    gone = set(rows)
    for run in runs:
        if not run.source:
            gone.update(range(run.first, run.last + 1))
    kept = []
    for first, last in _stretches(sorted(gone)):
        kept.append(FoldedRows(first, last))
    for run in runs:
        if run.source:
            stays = []
            for row in range(run.first, run.last + 1):
                if row not in gone:
                    stays.append(row)
            for first, last in _stretches(stays):
                kept.append(
                    FoldedRows(
                        first=first, last=last, source=run.source, row=run.row + first - run.first, label=run.label
                    )
                )
    return tuple(sorted(kept, key=lambda run: run.first))


def runs_within(runs: Iterable[FoldedRows], first: int, last: int) -> tuple[FoldedRows, ...]:
    """The parts of runs that lie between two rows, counted from the first of them."""
    found = []
    for run in runs:
        start, end = max(run.first, first), min(run.last, last)
        if start <= end:
            found.append(
                FoldedRows(
                    first=start - first,
                    last=end - first,
                    source=run.source,
                    row=run.row + start - run.first,
                    label=run.label,
                )
            )
    return tuple(found)


def _stretches(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring rows as ranges."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and row == found[-1][1] + 1:
            found[-1] = (found[-1][0], row)
        else:
            found.append((row, row))
    return found
