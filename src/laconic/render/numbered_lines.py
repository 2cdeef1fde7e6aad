"""Source with line numbers, in the form that edits refer to.

`[path#tag 312 lines]`, then `N<tab>line`. An empty line after the first stands bare: the numbers around
it say which it is, and that saves a fifth of what numbering costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from laconic.records import Span
from laconic.render.escape_control import visible_name


def header(path: str, tag: str, total: int) -> str:
    """Names a file and the version that is shown."""
    return f"[{visible_name(path)}#{tag} {total} line{'' if total == 1 else 's'}]"


def number_lines(lines: Sequence[str], start: int = 1, anchor: Callable[[str], str] | None = None) -> str:
    """Lines with their numbers, and with anchors (`40:k3`) if a function for them is given."""
    if anchor is not None:
        return "\n".join(f"{number}:{anchor(line)}\t{line}" for number, line in enumerate(lines, start))
    return "\n".join(
        f"{number}\t{line}" if line or number == start else "" for number, line in enumerate(lines, start)
    )


def excerpts(lines: Sequence[str], spans: Sequence[Span]) -> str:
    """Some spans of a file, merged where they touch, with `...` between."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        first, last = max(1, span.start), min(len(lines), span.end)
        if merged and first <= merged[-1].end + 1:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, last))
        elif first <= last:
            merged.append(Span(first, last))
    return "\n...\n".join(number_lines(lines[span.start - 1 : span.end], span.start) for span in merged)
