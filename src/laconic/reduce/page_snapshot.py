"""Snapshots of pages, as browser tools print them: what can be acted on stays, and the page from its top. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

_ELEMENT: Final = re.compile(r"^\s*(?:- |uid=\S+ )\S")
_ACTIVE: Final = re.compile(
    r"\b(?:button|textbox|checkbox|combobox|heading|dialog|alert|tab|menuitem|radio|searchbox|switch|slider|RootWebArea)\b"
)
_SHARE: Final = 0.7  # of the lines that are elements
_FEWEST: Final = 20


def is_snapshot(text: str) -> bool:
    """Whether most lines are elements of a page, with references to act on."""
    lines = text.split("\n")
    if len(lines) < _FEWEST or ("[ref=" not in text and "uid=" not in text):
        return False
    return sum(bool(_ELEMENT.match(line)) for line in lines) >= _SHARE * len(lines)


def shorten_snapshot(text: str, cost: Callable[[str], int], budget: int, more: str) -> str:
    """As many lines as the budget holds: first those that can be acted on, then the others from the top."""
    lines = text.split("\n")
    order = sorted(range(len(lines)), key=lambda place: (not _ACTIVE.search(lines[place]), place))
    kept: list[int] = []
    left = budget - cost(more) - 20
    for place in order:
        left -= cost(lines[place]) + 1
        if left < 0:
            break
        kept.append(place)
    shown = _write(lines, sorted(kept))
    return f"{shown}\n[laconic: {len(kept):,} of {len(lines):,} lines; {more}]"


def _write(lines: Sequence[str], kept: Sequence[int]) -> str:
    rows: list[str] = []
    last = -1
    for place in kept:
        if place > last + 1:
            rows.append(f"… {place - last - 1} lines")
        rows.append(lines[place])
        last = place
    if last < len(lines) - 1:
        rows.append(f"… {len(lines) - 1 - last} lines")
    return "\n".join(rows)
