"""Fill a budget: while there is room only noise goes; then long values are cut, then rows that nobody asked for go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from laconic.reduce.text.cell_widths import MIDDLE, TIGHT, WIDE, CellWidths
from laconic.reduce.text.detect import detect
from laconic.reduce.text.document import Document, read_document
from laconic.reduce.text.markup import is_fragment, slim_markup
from laconic.reduce.text.parts import NOISE, Cost, choose, write
from laconic.reduce.text.reduce_text import (
    ReducedText,
    find_footer,
    frame,
    reduce_text,
    view_by_content,
    view_within,
)
from laconic.reduce.text.wanted_words import raise_wanted

_EVENTS: Final = frozenset({"log", "tests", "build", "trace"})  # of which most lines repeat each other
_EVENTS_ROOM: Final = 6_000  # characters that these may always have
_MARKUP: Final = 12  # characters of markup for each token of the budget, beyond which its tags never fit


def fill_budget(text: str, *, cost: Cost, budget: int, more: str = "", words: Sequence[str] = ()) -> ReducedText:
    """The text in as much of a budget as it needs. What holds the caller's words stays before anything else."""
    if not text.strip() or find_footer(text):
        return reduce_text(text, cost=cost, budget=budget, more=more)
    if tags := _keep_tags(text, cost, budget, more):
        return tags
    for widths in (WIDE, MIDDLE, TIGHT):
        document = _read(text, more, widths, words)
        view = _write_all(document)
        if cost(view.text) <= budget:
            return _shorter(view, document, cost)
    document = _read(text, more, MIDDLE if words else TIGHT, words)
    return _shorter(view_within(document, cost, budget), document, cost)


def _keep_tags(text: str, cost: Cost, budget: int, more: str) -> ReducedText | None:
    """A part of a page with its tags, if there is room for them."""
    if len(text) > _MARKUP * budget or detect(text) != "html" or not is_fragment(text):
        return None
    slim = slim_markup(text)
    last = f"[laconic: scripts, styles and white space left out; {more}]"
    if cost(slim) + cost(last) >= min(budget, cost(text)):
        return None
    lines = text.count("\n") + 1
    return ReducedText(text=f"{slim}\n{last}", kind="html", lossless=False, kept_lines=lines, total_lines=lines)


def _read(text: str, more: str, widths: CellWidths, words: Sequence[str]) -> Document:
    lines = text.count("\n") + (not text.endswith("\n"))
    document = read_document(text, lines, more, widths)
    return replace(document, parts=raise_wanted(document.parts, words, flowing=document.kind not in _EVENTS))


def _write_all(document: Document) -> ReducedText:
    """Everything but noise; of events one of each sort."""
    if document.kind in _EVENTS:
        return view_by_content(document, _EVENTS_ROOM)
    keep = choose(document.parts, 0, len, floor=NOISE + 1)
    return frame(document, write(document.parts, keep))


def _shorter(view: ReducedText, document: Document, cost: Cost) -> ReducedText:
    """The view, or the text as it is where that takes no more."""
    if document.bare and cost(document.bare) <= cost(view.text):
        lines = document.lines
        return ReducedText(text=document.bare, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines)
    return view
