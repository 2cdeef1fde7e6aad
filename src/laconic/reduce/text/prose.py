"""Plain prose, and whatever nothing else recognises: whole without a budget, ends and telling lines with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.parts import EDGE, KEY, NEAR, NOISE, PLACE, RARE, TextPart, marked_lines, shorten

_LONGEST: Final = 4_000
_ENDS: Final = 12


def prose_parts(lines: Sequence[str]) -> list[TextPart]:
    """One part per line; equal neighbours are counted."""
    parts: list[TextPart] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        same = index + 1
        while same < len(lines) and lines[same] == line:
            same += 1
        times = same - index
        if not line.strip():
            parts.append(TextPart("", RARE, 0))
        else:
            text = shorten(line, _LONGEST) + (f"  [×{times}]" if times > 1 else "")
            parts.append(TextPart(text, _worth(line, index, len(lines)), marked_lines(line) if times == 1 else times))
        index = same
    return parts


def _worth(line: str, index: int, total: int) -> int:
    if line.startswith("#") or signals.is_summary(line):
        return KEY
    if signals.RULE.match(line):
        if total > 200:
            return NOISE
        return RARE
    if signals.is_error(line):
        return PLACE
    if index < _ENDS or index >= total - _ENDS:
        return EDGE
    if line.endswith(":"):
        return NEAR
    return RARE
