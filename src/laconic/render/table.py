"""Rows of figures as aligned text, for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.render.escape_control import visible_name

Cell = str | int | float | bool | None
_LEAST: Final = 1e-4  # below it a figure is nothing, to a reader


def format_table(rows: Sequence[dict[str, Cell]]) -> str:
    """Rows as aligned text; columns in order of first appearance."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([format_cell(row.get(column)) for column in columns] for row in rows)]
    widths = []
    for i in range(len(columns)):
        widths.append(max(len(line[i]) for line in cells))
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def format_cell(value: Cell) -> str:
    """A figure as people read it: four digits, never in powers of ten; a name without what would steer a terminal."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return visible_name(str(value))
    if abs(value) < _LEAST:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"
