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
_MEASURES: Final = 8  # columns of numbers in which the ends are looked for
_FEW_VALUES: Final = 8  # rows for each different value, at most: what hardly differs measures nothing
_NOTHING: Final = frozenset({"", "-", "none", "null", "nan", "n/a", "nil"})
_MEASURE: Final = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?) ?(?:%|[a-zA-Z]{1,3}\b|[KMGT]i?B?)?")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")


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


def find_odd_members(values: Sequence[object]) -> set[int]:
    """Positions of the few rows whose list holds something that hardly any other list holds, of few different things."""
    counts: Counter[str] = Counter()
    for value in values:
        if isinstance(value, list):
            counts.update({item for item in value if isinstance(item, str)})
    if len(values) < _ROWS or not 1 < len(counts) <= 2 * _KINDS:
        return set()
    rare = {item for item, count in counts.items() if count <= max(1, _RARE_SHARE * len(values))}
    found = {
        at for at, value in enumerate(values) if isinstance(value, list) and not rare.isdisjoint(map(str, value))
    }
    return found if len(found) <= 2 * _MOST else set()


def find_extremes(columns: Sequence[Sequence[object]]) -> set[int]:
    """Positions of the rows with the lowest and the highest value of each column of numbers or times."""
    ends: set[int] = set()
    measured = 0
    for values in columns:
        if measured == _MEASURES:
            break
        found = _read_measures(values)
        if len(found) < _ROWS or len(set(found.values())) * _FEW_VALUES < len(values):
            continue
        measured += 1
        ends.add(min(found, key=lambda position: found[position]))
        ends.add(max(found, key=lambda position: found[position]))
    return ends


def _read_measures(values: Sequence[object]) -> dict[int, float]:
    """The numbers of a column by their position; empty where it holds other things too."""
    found: dict[int, float] = {}
    for position, value in enumerate(values):
        if value is None or str(value).strip().lower() in _NOTHING:
            continue
        if isinstance(value, bool):
            return {}
        if isinstance(value, int | float):
            found[position] = float(value)
            continue
        number = _MEASURE.fullmatch(str(value).strip()) or _TIME.match(str(value))
        if number is None:
            return {}
        found[position] = _to_number(number)
    return found


def _to_number(found: re.Match[str]) -> float:
    """A number with its sign, or a time as the number that its digits make."""
    if found.re is _TIME:
        return float(re.sub(r"\D", "", found[0]))
    return float(found[1].replace(",", ""))
