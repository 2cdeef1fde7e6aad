"""Reduce any text: clean it, recognise it, choose what stays, and say what was left out and how to get it back."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from laconic.reduce.text.build_and_test_output import output_parts
from laconic.reduce.text.detect import Kind
from laconic.reduce.text.document import COUNTED_BY_ROW, FORMS, Document, read_document
from laconic.reduce.text.envelope import WrappedText
from laconic.reduce.text.parts import (
    COMMON,
    NOISE,
    STAYS,
    ChosenText,
    Cost,
    TextPart,
    choose,
    marked_lines,
    shorten,
    write,
)

_BLANKS: Final = 16  # characters of a text that is nothing but white space
_WHOLE: Final = 1_200  # characters; below that nothing but noise is left out
_ROOM: Final = 2_800  # characters that any text may keep beside its noise
_CEILING: Final = 40_000  # characters that a view may have when nobody set a budget
_HIGHEST: Final = 80_000  # for kinds in which every row is a thing of its own
_ROWS: Final = frozenset({"json", "stream", "diagnostics", "search", "patch"})
_FILE: Final = 400_000  # for files that somebody asked to see
_ASKED_FOR: Final = frozenset({"code", "numbered"})
_EVERYTHING: Final = 100  # a floor above which nothing stays by right
_LONGEST_TOKEN: Final = 128  # characters of the longest token that vocabularies hold
_TRIES: Final = 8
_MARK: Final = "…"
_FOOTER: Final = re.compile(
    r"^\[laconic: (?:(?P<shown>[\d,]+) of (?P<total>[\d,]+) lines|some lines shortened|[\d,]+ rows left out"
    r"|(?P<whole>nothing left out))"
    r"(?:; (?P<more>.*))?\]$"
)


@dataclass(frozen=True, slots=True)
class ReducedText:
    """A text made smaller."""

    text: str
    kind: Kind
    lossless: bool  # everything the text said is still there
    kept_lines: int
    total_lines: int


def reduce_text(text: str, *, cost: Cost, budget: int = 0, more: str = "") -> ReducedText:
    """The text in fewer tokens: never more than it was, never empty, never over a budget that has room for more than
    the last line.

    `more` says how to get the whole text; it stands in the last line, which is always there when something was left out.
    """
    lines = text.count("\n") + (not text.endswith("\n"))
    if not text.strip():
        return ReducedText(
            text=text if len(text) < _BLANKS else text[:1],
            kind="empty",
            lossless=True,
            kept_lines=lines,
            total_lines=lines,
        )
    if footed := find_footer(text):
        return reduce_again(text, footed, cost, budget, more)
    document = read_document(text, lines, more)
    if not budget:
        view = view_by_content(document)
        if document.bare and not is_smaller(view.text, document.bare, cost):
            view = ReducedText(
                text=document.bare, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines
            )
    elif document.bare and cost(document.bare) <= budget:
        view = ReducedText(text=document.bare, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines)
    else:
        view = view_within(document, cost, budget)
    if is_smaller(view.text, text, cost) or (budget and cost(view.text) < cost(text)):
        return view
    return ReducedText(text=text, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines)


_SHARE: Final = 1.0  # of kinds that have no lines


def view_by_content(document: Document, least: int = _ROOM) -> ReducedText:
    """What must stay, and as much more as is good for this kind of text, `least` characters at least; small texts stay
    whole."""
    size, parts = len(document.bare), document.parts
    form = FORMS.get(document.kind)
    if form and size > _WHOLE:
        share = form.share
    else:
        share = _SHARE
    if share < 1:
        floor = STAYS
    else:
        floor = COMMON
    chosen = write(parts, choose(parts, max(least, int(size * share)), len, floor))
    room = ceiling = _ceiling(document.kind, size)
    while len(chosen.text) > ceiling:  # marks and repeated headings take room too
        chosen = write(parts, choose(parts, room, len, floor=_EVERYTHING))
        room = room * 9 // 10
    return frame(document, chosen)


def _ceiling(kind: Kind, size: int) -> int:
    if kind in _ASKED_FOR:
        return _FILE
    if kind in _ROWS:
        return min(_HIGHEST, max(_CEILING, size // 4))
    return _CEILING


def view_within(document: Document, cost: Cost, budget: int) -> ReducedText:
    """The best that fits: first by choice among parts, then by force."""
    room = budget
    parts = []
    for part in document.parts:
        parts.append(_slim(part, 2 * budget))
    for _ in range(_TRIES):
        view = frame(document, write(parts, choose(parts, room, cost, floor=_EVERYTHING)))
        over = cost(view.text) - budget
        if over <= 0:
            return view
        room -= max(over, 1 + room // 20)
        if room <= 0:
            break
    return _least(document, cost, budget)


def _least(document: Document, cost: Cost, budget: int) -> ReducedText:
    """The best line, cut to what the last line leaves of the budget; the last line alone where that is nothing."""
    solid = []
    for part in document.parts:
        if part.text.strip():
            solid.append(part)
    best = max(solid, key=lambda part: part.worth, default=TextPart(document.bare or _MARK, NOISE))
    last = _last_line(document, ChosenText("", 1, document.lines - 1, False))
    room = budget - cost(f"\n{last}")
    while room > 0:
        text = f"{_force(best.text, cost, room)}\n{last}"
        if not text.startswith(_MARK) and cost(text) <= budget:
            return ReducedText(
                text=text, kind=document.kind, lossless=False, kept_lines=1, total_lines=document.lines
            )
        room -= 1
    last = _last_line(document, ChosenText("", 0, document.lines, False))
    return ReducedText(text=last, kind=document.kind, lossless=False, kept_lines=0, total_lines=document.lines)


def _slim(part: TextPart, most: int) -> TextPart:
    """A single line that is longer than the whole view may be, cut."""
    if len(part.text) > most and "\n" not in part.text:
        return replace(part, text=shorten(part.text, most))
    return part


def frame(document: Document, chosen: ChosenText) -> ReducedText:
    """The chosen text inside its wrapping, with a last line that says what is missing."""
    lossless = not chosen.left_out and not document.cut and chosen.whole
    wrapped = document.wrapped
    chosen = replace(chosen, shown=min(document.lines, chosen.shown + len(wrapped.before) + len(wrapped.after)))
    body = chosen.text.strip("\n")
    last = _last_line(document, chosen, lossless=lossless)
    text = "\n".join([*wrapped.before, *([body] if body else []), *wrapped.after, last])
    return ReducedText(
        text=text,
        kind=document.kind,
        lossless=lossless,
        kept_lines=document.lines if lossless else chosen.shown,
        total_lines=document.lines,
    )


def _last_line(document: Document, chosen: ChosenText, *, lossless: bool = False) -> str:
    """How much of the text is shown, and how to get the whole."""
    said = "some lines shortened"
    if lossless:
        said = "nothing left out"
    if chosen.left_out:
        rows = document.kind in COUNTED_BY_ROW and chosen.shown
        total = f"{chosen.shown:,} of {document.lines:,} lines"
        if rows:
            said = f"{chosen.left_out:,} rows left out"
        else:
            said = total
    if document.more:
        return f"[laconic: {said}; {document.more}]"
    return f"[laconic: {said}]"


def _force(text: str, cost: Cost, budget: int) -> str:
    """As much of the start as fits, with a mark."""
    low, high = 0, min(len(text), 40 * budget + 40)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(text[:middle].rstrip() + _MARK) <= budget:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + _MARK


def find_footer(text: str) -> re.Match[str] | None:
    """The last line of a text that was reduced before."""
    stripped = text.rstrip("\n")
    return _FOOTER.match(stripped[stripped.rfind("\n") + 1 :])


def reduce_again(text: str, footed: re.Match[str], cost: Cost, budget: int, more: str) -> ReducedText:
    """A text that was reduced before stays as it is, unless a budget is too small for it."""
    lines = text.rstrip("\n").split("\n")[:-1]
    now = sum(map(marked_lines, lines))
    total = int((footed["total"] or str(now)).replace(",", ""))
    shown = int((footed["shown"] or str(now)).replace(",", ""))
    if not budget or cost(text) <= budget:
        return ReducedText(
            text=text, kind="prose", lossless=footed["whole"] is not None, kept_lines=shown, total_lines=total
        )
    body = "\n".join(lines)
    document = Document(
        kind="prose",
        wrapped=WrappedText((), body, ()),
        parts=output_parts(lines),
        cut=True,
        bare=body,
        lines=total,
        more=footed["more"] or more,
    )
    return view_within(document, cost, budget)


def is_smaller(view: str, text: str, cost: Cost) -> bool:
    if len(view) * _LONGEST_TOKEN < len(text):  # no need to count what is so much longer
        return True
    return len(view) < len(text) and cost(view) <= cost(text)
