"""Tables in columns: padding and frames go, then rows from the middle; outliers and errors stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.outliers import outliers
from laconic.reduce.text.parts import KEY, NEAR, NOISE, RARE, TOP, TextPart, shorten

_PADDING: Final = re.compile(r"(?<=\S)(?: {3,}|\t+ *)(?=\S)")
_FRAME: Final = re.compile(r"^[\s|+│┃├┼┤┌┐└┘┬┴─━═╞╪╡╒╤╕╘╧╛+:-]+$")
_BARS: Final = re.compile(r"\s*[│┃|]\s*")


def table_parts(lines: Sequence[str]) -> list[TextPart]:
    """One part per row."""
    special = outliers(lines)
    parts: list[TextPart] = []
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if _FRAME.match(line):
            parts.append(TextPart(line, NOISE, 0))
            continue
        worth = RARE
        if index in special:
            worth = NEAR
        elif signals.is_summary(line):
            worth = TOP
        elif signals.is_error(line):
            worth = KEY
        if not parts:
            worth = TOP
        parts.append(TextPart(shorten(_squeeze(line), 400), worth, what="rows"))
    return parts


def _squeeze(line: str) -> str:
    if line.count("|") + line.count("│") + line.count("┃") > 1:
        return _BARS.sub(" | ", line).strip(" |")
    return _PADDING.sub("  ", line)
