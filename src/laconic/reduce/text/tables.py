"""Tables in columns: padding and frames go, then rows from the middle; what stands out and errors stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.delimited import find_names, split_cells
from laconic.reduce.text.outliers import find_extremes, find_odd_rows, outliers
from laconic.reduce.text.parts import KEY, NEAR, NOISE, RARE, TOP, TextPart, shorten

_PADDING: Final = re.compile(r"(?<=\S)(?: {3,}|\t+ *)(?=\S)")
_FRAME: Final = re.compile(r"^[\s|+│┃├┼┤┌┐└┘┬┴─━═╞╪╡╒╤╕╘╧╛+:-]+$")
_BARS: Final = re.compile(r"\s*[│┃|]\s*")
_GAP: Final = re.compile(r"\s{2,}|\s*[│┃|\t]\s*")
_SIGNS: Final = ",;"
_LONGEST: Final = 400  # characters of a row


def table_parts(lines: Sequence[str]) -> list[TextPart]:
    """One part per row."""
    solid = [line for line in lines if line.strip() and not _FRAME.match(line)]
    special = outliers(lines)
    odd, extremes, names = _find_telling_rows(solid)
    parts: list[TextPart] = []
    place = -1
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if _FRAME.match(line):
            parts.append(TextPart(line, NOISE, 0))
            continue
        place += 1
        worth = RARE
        if index in special or place in extremes:
            worth = NEAR
        elif signals.is_summary(line):
            worth = TOP
        elif signals.is_error(line) or place in odd:
            worth = KEY
        if not parts or place == names:
            worth = TOP
        parts.append(TextPart(shorten(_squeeze(line), _LONGEST), worth, what="rows"))
    return parts


def _find_telling_rows(lines: Sequence[str]) -> tuple[set[int], set[int], int]:
    """Rows with a rare value, rows with the lowest and the highest of a measure, and the row of names."""
    rows: list[list[str]] = []
    names = -1
    for sign in _SIGNS:
        names = find_names(lines, sign)
        if names >= 0:
            rows = [split_cells(line, sign) for line in lines]
            break
    else:
        names = max(find_names([_GAP.sub("\t", line.strip()) for line in lines], "\t"), -1)
        rows = [_GAP.split(line.strip(" |│┃")) for line in lines]
    places = list(range(names + 1, len(rows)))
    usual = max((len(rows[place]) for place in places), key=[len(row) for row in rows].count, default=0)
    places = [place for place in places if len(rows[place]) == usual]
    columns = list(zip(*(rows[place] for place in places), strict=True))
    odd = {places[found] for found in find_odd_rows(columns)}
    return odd, {places[found] for found in find_extremes(columns)}, names


def _squeeze(line: str) -> str:
    if line.count("|") + line.count("│") + line.count("┃") > 1:
        return _BARS.sub(" | ", line).strip(" |")
    return _PADDING.sub("  ", line)
