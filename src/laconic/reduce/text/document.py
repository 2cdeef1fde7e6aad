"""A text that was read: what kind it is, what wraps it, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from laconic.reduce.text.build_and_test_output import output_parts
from laconic.reduce.text.cell_widths import NARROW, CellWidths
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
from laconic.reduce.text.parts import NEAR, PLACE, TOP, TextPart, choose, shorten, write
from laconic.reduce.text.patches import patch_parts
from laconic.reduce.text.prose import prose_parts, telling_parts
from laconic.reduce.text.search_results import search_parts
from laconic.reduce.text.tables import table_parts

COUNTED_BY_ROW: Final = frozenset({"json", "stream"})


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read: what it is, what wraps it, its parts."""

    kind: Kind
    wrapped: WrappedText
    parts: list[TextPart]
    cut: bool  # something was cut inside parts
    bare: str  # the whole text without paint
    lines: int
    more: str


def read_document(text: str, lines: int, more: str, widths: CellWidths = NARROW) -> Document:
    """Clean a text, recognise it, and part it."""
    if is_binary(text):
        return Document(
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
    if kind not in COUNTED_BY_ROW and (split := unwrap_prefaced(wrapped)):
        wrapped, kind = split, "json"
    if kind == "json" and (inner := unwrap_object(wrapped)):
        wrapped, kind = inner, detect_clean(inner.body)
        lines = inner.body.count("\n") + 1 + len(inner.before) + len(inner.after)
    parts, cut = _parts(kind, wrapped.body, widths)
    return Document(kind=kind, wrapped=wrapped, parts=parts, cut=cut, bare=bare, lines=lines, more=more)


def _parts(kind: Kind, body: str, widths: CellWidths) -> tuple[list[TextPart], bool]:
    """The parts of a text of this kind, and whether something was cut inside them."""
    if kind == "json":
        return _json_parts(body, widths)
    if kind == "stream":
        return _stream_parts(body)
    if kind == "html":
        return markup_parts(body), True
    lines = body.split("\n")
    if kind == "prose" and widths.thorough:
        return telling_parts(lines), False
    return FORMS[kind].parts(lines), False


def _json_parts(body: str, widths: CellWidths) -> tuple[list[TextPart], bool]:
    try:
        return structure_parts(msgspec.json.decode(body), partial(_text_parts, widths), widths)
    except (msgspec.DecodeError, RecursionError):
        return prose_parts(body.split("\n")), False  # cut off somewhere, or not JSON after all


def _text_parts(widths: CellWidths, text: str) -> list[TextPart]:
    """The parts of a text that JSON holds."""
    text = clean(text)
    kind = detect_clean(text)
    lines = text.split("\n")
    if kind == "html":
        return markup_parts(text)
    if kind not in FORMS or kind == "prose":
        return telling_parts(lines) if widths.thorough else prose_parts(lines)
    parts = FORMS[kind].parts(lines)
    if kind == "patch" and len(text) > widths.quoted:
        return [_quote(parts, widths.quoted)]
    return parts


def _quote(parts: Sequence[TextPart], most: int) -> TextPart:
    """The ends of a patch that a comment or a record quotes: whoever works on it reads the file."""
    chosen = write(parts, choose(parts, most, len, floor=TOP))
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
class TextForm:
    """How a kind is reduced, and the share of its text that it aims for when nobody set a budget.

    What must stay, stays beyond the share.
    """

    parts: Callable[[Sequence[str]], list[TextPart]]
    share: float = 1.0


FORMS: Final[dict[Kind, TextForm]] = {
    "tests": TextForm(mixed_parts, 0.15),
    "log": TextForm(log_parts, 0.15),
    "trace": TextForm(mixed_parts, 0.35),
    "build": TextForm(mixed_parts, 0.5),
    "diagnostics": TextForm(diagnostic_parts, 0.3),
    "search": TextForm(search_parts, 0.6),
    "table": TextForm(table_parts, 0.6),
    "patch": TextForm(patch_parts),
    "listing": TextForm(listing_parts),
    "numbered": TextForm(_numbered_parts),
    "code": TextForm(_code_parts),
    "prose": TextForm(prose_parts),
}
