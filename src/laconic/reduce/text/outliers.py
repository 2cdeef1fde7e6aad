"""Numbers that stand out among lines of the same shape."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Final

_NUMBER: Final = re.compile(
    r"(?<![\w.:/-])\d+(?:\.\d+)?(?![\w.:/-]|\.\d)|(?<==)\d+(?:\.\d+)?|\d+(?:\.\d+)?(?=ms\b|s\b|[KMG]?B\b|%)"
)
_FAR: Final = 8.0  # times the usual distance from the median
_MOST: Final = 2


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
