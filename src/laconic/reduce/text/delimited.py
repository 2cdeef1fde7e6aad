"""Rows of values with a sign between them, below a row of names (CSV, TSV)."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Final

_SIGNS: Final = "\t,;|"
_FEWEST: Final = 5  # lines
_CELLS: Final = 3
_ALIKE: Final = 0.8  # of the lines that have as many cells as the first
_SAMPLE: Final = 400
_ABOVE: Final = 12  # lines that may be before the names
_NAME: Final = re.compile(r"[^\W\d][\w .,$%()/#-]{0,60}|#")


def delimiter_of(lines: Sequence[str]) -> str:
    """The sign between the values of lines that begin with a row of names; empty where that is not so."""
    for sign in _SIGNS:
        if find_names(lines, sign) == 0:
            return sign
    return ""


def find_names(lines: Sequence[str], sign: str) -> int:
    """The place of the line that names the columns, if most lines after it have as many cells; -1 without one."""
    for place, line in enumerate(lines[:_ABOVE]):
        if line.count(sign) + 1 < _CELLS or not _are_names(split_cells(line, sign)):
            continue
        rest = [one for one in lines[place + 1 : place + 1 + _SAMPLE] if one.strip()]
        wanted = len(split_cells(line, sign))
        alike = sum(1 for one in rest if abs(len(split_cells(one, sign)) - wanted) <= 1)
        if len(rest) >= _FEWEST and alike >= _ALIKE * len(rest):
            return place
    return -1


def split_cells(line: str, sign: str) -> list[str]:
    """The values of a row; quotes hold values together."""
    if '"' not in line:
        return line.split(sign)
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:
        return line.split(sign)


def _are_names(cells: Sequence[str]) -> bool:
    names = [cell.strip() for cell in cells]
    return len(set(names)) == len(names) and all(_NAME.fullmatch(name) for name in names)
