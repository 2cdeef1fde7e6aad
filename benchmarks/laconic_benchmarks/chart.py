"""Bars as a picture: SVG that needs no script, no font and no network, and reads in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from laconic.render.table import format_cell

_WIDTH: Final = 720
_LABELS: Final = 220
_ROW: Final = 26
_TOP: Final = 40
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:15px}.bar{fill:#8c959f}"
    ".ours{fill:#0969da}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bar{fill:#6e7681}.ours{fill:#58a6ff}}"
)


def bars(title: str, rows: Sequence[tuple[str, float]], ours: str) -> str:
    """A bar for each row, with its figure; those whose label begins with `ours` stand out."""
    longest = max((value for _, value in rows), default=0) or 1
    room = _WIDTH - _LABELS - 80
    parts = [f'<text class="title" x="8" y="22">{escape(title)}</text>']
    for at, (label, value) in enumerate(rows):
        y = _TOP + at * _ROW
        width = max(1, round(room * max(0.0, value) / longest))
        kind = "ours" if label.startswith(ours) else "bar"
        parts += [
            f'<text x="{_LABELS - 8}" y="{y + 15}" text-anchor="end">{escape(label)}</text>',
            f'<rect class="{kind}" x="{_LABELS}" y="{y + 2}" width="{width}" height="{_ROW - 8}" rx="3"/>',
            f'<text x="{_LABELS + width + 6}" y="{y + 15}">{escape(format_cell(value))}</text>',
        ]
    height = _TOP + len(rows) * _ROW + 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">'
    return f"{head}<title>{escape(title)}</title><style>{_STYLE}</style>{''.join(parts)}</svg>\n"
