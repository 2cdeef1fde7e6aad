"""Thin out very long texts before anything looks at them line by line: of lines alike but for numbers, a few stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.reduce.text.outliers import outliers
from laconic.reduce.text.parts import mark
from laconic.reduce.text.signals import template

_LONG: Final = 6_000  # lines; shorter texts are looked at whole
_EACH: Final = 4  # lines of one template that stay
_LOOKED_AT: Final = 5_000  # lines of one template in which outliers are looked for
_SHAPE: Final = 240  # characters that tell a template


def thin_lines(lines: Sequence[str]) -> list[tuple[str, int]]:
    """Lines with how many of their kind each stands for; a mark takes the place of what went."""
    if len(lines) <= _LONG:
        found: list[tuple[str, int]] = []
        for line in lines:
            found.append((line, 1))
        return found
    groups: dict[str, list[int]] = {}
    shapes: dict[str, str] = {}
    for index, line in enumerate(lines):
        short = line[:_SHAPE]
        shape = shapes.get(short)
        if shape is None:
            shape = template(short)
            if len(shapes) < _LONG:
                shapes[short] = shape
        groups.setdefault(shape, []).append(index)
    stay: dict[int, int] = {}
    for members in groups.values():
        few = len(members) <= _EACH * 2
        stay.update(dict.fromkeys(members if few else [*members[: _EACH - 1], members[-1]], 1))
        if not few:
            looked_at = members[:_LOOKED_AT]
            stay.update({looked_at[position]: 1 for position in outliers([lines[i] for i in looked_at])})
            stay[members[0]] = len(members) - _EACH + 1
    return _write_lines(lines, stay)


def _write_lines(lines: Sequence[str], stay: dict[int, int]) -> list[tuple[str, int]]:
    rows: list[tuple[str, int]] = []
    last = -1
    for index in sorted(stay):
        if gone := index - last - 1:
            rows.append((mark({"lines": gone}), 1))
        rows.append((lines[index], stay[index]))
        last = index
    if gone := len(lines) - last - 1:
        rows.append((mark({"lines": gone}), 1))
    return rows
