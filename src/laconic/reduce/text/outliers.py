"""What stands out among many of the same shape: numbers in lines, values in rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import median
from typing import Final

_NUMBER: Final = re.compile(
    r"(?<![\w.:/-])\d+(?:\.\d+)?(?![\w.:/-]|\.\d)|(?<==)\d+(?:\.\d+)?|\d+(?:\.\d+)?(?=ms\b|s\b|[KMG]?B\b|%)"
)
_FAR: Final = 8.0  # times the usual distance from the median
_MOST: Final = 2
_ROWS: Final = 12  # from which a value can be rare
_KINDS: Final = 12  # different values of a column that says of which kind a row is
_KINDS_SHARE: Final = 0.25  # of the rows
_RARE_SHARE: Final = 0.03  # of the rows


def outliers(lines: Sequence[str]) -> set[int]:
    """Positions of the few lines whose number at some place is far from that of the others."""
    columns: dict[int, list[tuple[float, int]]] = {}
    for position, line in enumerate(lines):
        for place, found in enumerate(_NUMBER.finditer(line)):
            columns.setdefault(place, []).append((float(found.group()), position))
    far: set[int] = set()
    for values in columns.values():
        if len(values) * 2 < len(lines):
            continue
        middle = median(value for value, _ in values)
        spread = median(abs(value - middle) for value, _ in values) or max(abs(middle) / 10, 0.5)
        strange = []
        for v, p in values:
            if abs(v - middle) > _FAR * spread:
                strange.append((abs(v - middle), p))
        if strange and len(strange) <= max(_MOST, len(values) // 50):
            for _, position in sorted(strange, reverse=True)[:_MOST]:
                far.add(position)
    return far


def find_odd_rows(columns: Sequence[Sequence[Hashable]]) -> set[int]:
    """Positions of the few rows with a value that hardly any other row has, in a column of few different values."""
    odd: set[int] = set()
    for values in columns:
        if len(values) < _ROWS:
            continue
        counts = Counter(values)
        if not 1 < len(counts) <= min(_KINDS, _KINDS_SHARE * len(values)):
            continue
        rare = {value for value, count in counts.items() if count <= max(_MOST, _RARE_SHARE * len(values))}
        few = [position for position, value in enumerate(values) if value in rare]
        if len(few) <= max(2 * _MOST, 2 * _RARE_SHARE * len(values)):
            odd.update(few)
    return odd
