"""Plain prose, and whatever nothing else recognises: whole without a budget, ends and telling lines with one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.parts import DETAIL, EDGE, KEY, NEAR, NOISE, PLACE, RARE, TextPart, marked_lines, shorten

_LONGEST: Final = 4_000
_ENDS: Final = 12
_OPENING: Final = 8  # lines that say what a text is: they stay before any other of their worth
_PARAGRAPH: Final = 400  # characters of a line that is parted
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(\[\"'])")
_TELLS: Final = re.compile(
    r"(?<![\w.])\d[\d.,:/%-]*|`[^`]+`|\w+_\w+|\b[a-z]+[A-Z]\w*|(?<=[a-z,;] )[A-Z][\w-]+|\b[A-Z]{2,}\b|https?://|--?\w[\w-]+|\w+\("
)
_SHORT: Final = 40  # characters that every line is taken to have beside its own
_TELLING: Final = (NEAR, EDGE, RARE, RARE, DETAIL, DETAIL)  # of lines, from the most telling sixth to the least
_RULE: Final = 4  # characters by which a rule may be longer than its heading


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
            worth = KEY if _is_headed(lines, index) else _worth(line, index, len(lines))
            parts.append(TextPart(text, worth, marked_lines(line) if times == 1 else times))
        index = same
    return parts


def telling_parts(lines: Sequence[str]) -> list[TextPart]:
    """The same, of texts of which much has to go: lines that name and number things are worth more than others."""
    parts = prose_parts(split_sentences(lines))
    densities = {}
    for index, part in enumerate(parts):
        if part.worth in {RARE, EDGE} and part.text.strip():
            densities[index] = _density(part.text)
    ranked = sorted(densities, key=lambda index: -densities[index])
    for rank, index in enumerate(ranked):
        parts[index] = replace(parts[index], worth=_TELLING[rank * len(_TELLING) // len(ranked)])
    return parts


def _density(line: str) -> float:
    """How much of a line are numbers, names and code."""
    return len(_TELLS.findall(line)) / (len(line) + _SHORT)


def split_sentences(lines: Sequence[str]) -> list[str]:
    """The lines, long ones parted between their sentences, so that one can stay without the others."""
    found: list[str] = []
    for line in lines:
        if len(line) <= _PARAGRAPH:
            found.append(line)
            continue
        for sentence in _SENTENCE.split(line):
            found.extend(wrap(sentence, _PARAGRAPH, break_long_words=False, break_on_hyphens=False))
    return found


def _is_headed(lines: Sequence[str], index: int) -> bool:
    """Whether a rule as long as the line is below it: a heading."""
    line = lines[index].strip()
    below = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return bool(line) and len(set(below)) == 1 and below[0] in "-=~^" and 0 <= len(below) - len(line) < _RULE


def _worth(line: str, index: int, total: int) -> int:
    if line.startswith("#") or signals.is_summary(line):
        return KEY
    if signals.RULE.match(line):
        if total > 200:
            return NOISE
        return RARE
    if signals.is_error(line):
        return PLACE
    if index < _OPENING:
        return PLACE
    if index < _ENDS or index >= total - _ENDS:
        return EDGE
    if line.endswith(":"):
        return NEAR
    return RARE
