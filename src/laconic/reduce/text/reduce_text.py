"""Reduce any text: clean it, recognise it, choose what stays, and say what was left out and how to get it back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from laconic.reduce.text.build_and_test_output import output_parts
from laconic.reduce.text.clean import clean, is_binary, printable
from laconic.reduce.text.detect import NUMBERED, Kind, detect_clean
from laconic.reduce.text.diagnostics import diagnostic_parts
from laconic.reduce.text.envelope import WrappedText, unwrap, unwrap_object, unwrap_prefaced
from laconic.reduce.text.json_streams import stream_parts
from laconic.reduce.text.json_text import structure_parts
from laconic.reduce.text.listings import listing_parts
from laconic.reduce.text.logs import log_parts
from laconic.reduce.text.markup import markup_parts
from laconic.reduce.text.mixed_output import mixed_parts
from laconic.reduce.text.parts import (
    COMMON,
    NEAR,
    NOISE,
    PLACE,
    STAYS,
    TOP,
    ChosenText,
    Cost,
    TextPart,
    choose,
    marked_lines,
    shorten,
    write,
)
from laconic.reduce.text.patches import patch_parts
from laconic.reduce.text.prose import prose_parts
from laconic.reduce.text.search_results import search_parts
from laconic.reduce.text.tables import table_parts

_BLANKS: Final = 16  # characters of a text that is nothing but white space
_WHOLE: Final = 1_200  # characters; below that nothing but noise is left out
_ROOM: Final = 2_800  # characters that any text may keep beside its noise
_QUOTED: Final = 1_500  # characters of a patch inside JSON
_CEILING: Final = 40_000  # characters that a view may have when nobody set a budget
_HIGHEST: Final = 80_000  # for kinds in which every row is a thing of its own
_ROWS: Final = frozenset({"json", "stream", "diagnostics", "search", "patch"})
_COUNTED_BY_ROW: Final = frozenset({"json", "stream"})
_FILE: Final = 400_000  # for files that somebody asked to see
_ASKED_FOR: Final = frozenset({"code", "numbered"})
_EVERYTHING: Final = TOP + 1  # a floor above which nothing stays by right
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


@dataclass(frozen=True, slots=True)
class _Document:
    """A text that was read: what it is, what wraps it, its parts."""

    kind: Kind
    wrapped: WrappedText
    parts: list[TextPart]
    cut: bool  # something was cut inside parts
    bare: str  # the whole text without paint
    lines: int
    more: str


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
    if footed := _find_footer(text):
        return _again(text, footed, cost, budget, more)
    document = _read(text, lines, more)
    if not budget:
        view = _by_content(document)
        if document.bare and not _smaller(view.text, document.bare, cost):
            view = ReducedText(
                text=document.bare, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines
            )
    elif document.bare and cost(document.bare) <= budget:
        view = ReducedText(text=document.bare, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines)
    else:
        view = _within(document, cost, budget)
    if _smaller(view.text, text, cost) or (budget and cost(view.text) < cost(text)):
        return view
    return ReducedText(text=text, kind=document.kind, lossless=True, kept_lines=lines, total_lines=lines)


def _read(text: str, lines: int, more: str) -> _Document:
    if is_binary(text):
        return _Document(
            kind="binary",
            wrapped=WrappedText((), "", ()),
            parts=_binary_parts(text),
            cut=True,
            bare="",
            lines=lines,
            more=more,
        )
    bare = clean(text)
    wrapped = unwrap(bare)
    kind = detect_clean(wrapped.body)
    if kind not in _COUNTED_BY_ROW and (split := unwrap_prefaced(wrapped)):
        wrapped, kind = split, "json"
    if kind == "json" and (inner := unwrap_object(wrapped)):
        wrapped, kind = inner, detect_clean(inner.body)
        lines = inner.body.count("\n") + 1 + len(inner.before) + len(inner.after)
    parts, cut = _parts(kind, wrapped.body)
    return _Document(kind=kind, wrapped=wrapped, parts=parts, cut=cut, bare=bare, lines=lines, more=more)


def _parts(kind: Kind, body: str) -> tuple[list[TextPart], bool]:
    """The parts of a text of this kind, and whether something was cut inside them."""
    if kind == "json":
        return _json_parts(body)
    if kind == "stream":
        return _stream_parts(body)
    if kind == "html":
        return markup_parts(body), True
    return _FORMS[kind].parts(body.split("\n")), False


def _json_parts(body: str) -> tuple[list[TextPart], bool]:
    try:
        return structure_parts(msgspec.json.decode(body), _text_parts)
    except (msgspec.DecodeError, RecursionError):
        return prose_parts(body.split("\n")), False  # cut off somewhere, or not JSON after all


def _text_parts(text: str) -> list[TextPart]:
    """The parts of a text that JSON holds."""
    kind = detect_clean(text)
    if kind not in _FORMS:
        return prose_parts(text.split("\n"))
    parts = _FORMS[kind].parts(text.split("\n"))
    if kind == "patch" and len(text) > _QUOTED:
        return [_quote(parts)]
    return parts


def _quote(parts: Sequence[TextPart]) -> TextPart:
    """The ends of a patch that a comment or a record quotes: whoever works on it reads the file."""
    chosen = write(parts, choose(parts, _QUOTED, len, floor=TOP))
    return TextPart(chosen.text, PLACE, chosen.shown + chosen.left_out, whole=False)


def _stream_parts(body: str) -> tuple[list[TextPart], bool]:
    records: list[object] = []
    for line in body.split("\n"):
        if not line.strip() or line.startswith(("event:", "id:", "retry:", ":")):
            continue
        record = line.removeprefix("data:").strip()
        try:
            records.append(msgspec.json.decode(record))
        except (msgspec.DecodeError, RecursionError):
            records.append(record)
    if sum(isinstance(record, dict) for record in records) * 2 < len(records):
        return output_parts(body.split("\n")), False
    return stream_parts(records)


def _numbered_parts(lines: Sequence[str]) -> list[TextPart]:
    """Padding before the numbers goes, the lines stay."""
    found: list[TextPart] = []
    for line in lines:
        found.append(TextPart(line.lstrip() if NUMBERED.match(line) else line, PLACE))
    return found


def _code_parts(lines: Sequence[str]) -> list[TextPart]:
    found: list[TextPart] = []
    for line in lines:
        found.append(TextPart(shorten(line, 4000), PLACE, 1 if line.strip() else 0))
    return found


def _binary_parts(text: str) -> list[TextPart]:
    strings = dict.fromkeys(printable(text[:1_000_000])[:40])
    readable = ""
    if strings:
        readable = "; readable stretches:"
    title = TextPart(f"binary data, {len(text):,} characters{readable}", TOP, text.count("\n") + 1)
    return [title, *(TextPart(shorten(line, 200), NEAR, 0) for line in strings)]


@dataclass(frozen=True, slots=True)
class _Form:
    """How a kind is reduced, and the share of its text that it aims for when nobody set a budget.

    What must stay, stays beyond the share.
    """

    parts: Callable[[Sequence[str]], list[TextPart]]
    share: float = 1.0


_FORMS: Final[dict[Kind, _Form]] = {
    "tests": _Form(mixed_parts, 0.15),
    "log": _Form(log_parts, 0.15),
    "trace": _Form(mixed_parts, 0.35),
    "build": _Form(mixed_parts, 0.5),
    "diagnostics": _Form(diagnostic_parts, 0.3),
    "search": _Form(search_parts, 0.6),
    "table": _Form(table_parts, 0.6),
    "patch": _Form(patch_parts),
    "listing": _Form(listing_parts),
    "numbered": _Form(_numbered_parts),
    "code": _Form(_code_parts),
    "prose": _Form(prose_parts),
}
_SHARE: Final = 1.0  # of kinds that have no lines


def _by_content(document: _Document) -> ReducedText:
    """What must stay, and as much more as is good for this kind of text; small texts stay whole."""
    size, parts = len(document.bare), document.parts
    form = _FORMS.get(document.kind)
    if form and size > _WHOLE:
        share = form.share
    else:
        share = _SHARE
    if share < 1:
        floor = STAYS
    else:
        floor = COMMON
    chosen = write(parts, choose(parts, max(_ROOM, int(size * share)), len, floor))
    room = ceiling = _ceiling(document.kind, size)
    while len(chosen.text) > ceiling:  # marks and repeated headings take room too
        chosen = write(parts, choose(parts, room, len, floor=_EVERYTHING))
        room = room * 9 // 10
    return _frame(document, chosen)


def _ceiling(kind: Kind, size: int) -> int:
    if kind in _ASKED_FOR:
        return _FILE
    if kind in _ROWS:
        return min(_HIGHEST, max(_CEILING, size // 4))
    return _CEILING


def _within(document: _Document, cost: Cost, budget: int) -> ReducedText:
    """The best that fits: first by choice among parts, then by force."""
    room = budget
    parts = []
    for part in document.parts:
        parts.append(_slim(part, 2 * budget))
    for _ in range(_TRIES):
        view = _frame(document, write(parts, choose(parts, room, cost, floor=_EVERYTHING)))
        over = cost(view.text) - budget
        if over <= 0:
            return view
        room -= max(over, 1 + room // 20)
        if room <= 0:
            break
    return _least(document, cost, budget)


def _least(document: _Document, cost: Cost, budget: int) -> ReducedText:
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


def _frame(document: _Document, chosen: ChosenText) -> ReducedText:
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


def _last_line(document: _Document, chosen: ChosenText, *, lossless: bool = False) -> str:
    """How much of the text is shown, and how to get the whole."""
    said = "some lines shortened"
    if lossless:
        said = "nothing left out"
    if chosen.left_out:
        rows = document.kind in _COUNTED_BY_ROW and chosen.shown
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


def _find_footer(text: str) -> re.Match[str] | None:
    """The last line of a text that was reduced before."""
    stripped = text.rstrip("\n")
    return _FOOTER.match(stripped[stripped.rfind("\n") + 1 :])


def _again(text: str, footed: re.Match[str], cost: Cost, budget: int, more: str) -> ReducedText:
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
    document = _Document(
        kind="prose",
        wrapped=WrappedText((), body, ()),
        parts=output_parts(lines),
        cut=True,
        bare=body,
        lines=total,
        more=footed["more"] or more,
    )
    return _within(document, cost, budget)


def _smaller(view: str, text: str, cost: Cost) -> bool:
    if len(view) * _LONGEST_TOKEN < len(text):  # no need to count what is so much longer
        return True
    return len(view) < len(text) and cost(view) <= cost(text)
