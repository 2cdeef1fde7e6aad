"""Source of the workspace as pieces of an answer: numbered lines, bodies in several sizes, what was sent before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from laconic.edits.anchors import anchor
from laconic.edits.source import SourceText, split
from laconic.errors import Unreadable
from laconic.index.parse import read_line_kinds
from laconic.index.store import Symbol
from laconic.records import Span
from laconic.reduce.code import fold
from laconic.render.compact_json import Json
from laconic.render.numbered_lines import header, number_lines
from laconic.tool_runtime.budget import CEILING
from laconic.tool_runtime.tool import Piece, SentLines, ToolCall
from laconic.workspace.read_file import is_binary, read_bytes, relative

_STEPS: Final = (120, 300, 700, 1190, 1900, 3000)  # tokens of a body that does not fit whole
_GROWTH: Final = 8  # a snippet that does not fit is shown in sizes that grow by one part in so many
_SNIPPET: Final = 1_200  # tokens of one snippet when the call names no budget
_WIDEST: Final = 400  # characters of a line; the rest is cut and said
_NAMED: Final = 3  # lines up to which lines that were sent before are sent again
_SHORT: Final = 12  # lines up to which a body has no smaller form but its signature


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file as it is now."""

    path: str
    data: bytes
    source: SourceText

    @property
    def lines(self) -> tuple[str, ...]:
        return self.source.lines

    @property
    def tag(self) -> str:
        return self.source.tag


def open_file(call: ToolCall, path: str) -> OpenedFile:
    """The file at a path of the workspace, or of another one at `@name/path`."""
    runtime, inner = call.runtime.find_place(path)
    runtime.secrets.check(relative(runtime.root, inner))
    data = read_bytes(runtime.root, inner)
    if is_binary(data):
        raise Unreadable(f"{path} is binary.", "Read a text file.")
    return OpenedFile(path, data, split(data))


def excerpts(call: ToolCall, file: OpenedFile, span: Span, until: int = 0) -> list[Piece]:
    """Numbered lines of a file below a header with its tag; lines at the start that were sent before are only named.

    `until` is the last line that was asked for, if later. Where lines are only named, as many follow as were asked for.
    """
    last = min(span.end, len(file.lines))
    shown = Span(max(1, span.start), last)
    wanted = max(last, until)
    known = _last_known(call, file, Span(shown.start, wanted))
    if known - shown.start < _NAMED:
        return [_excerpt(call, file, shown, wanted)]
    pointer = _point(call, file, Span(shown.start, known))
    if known == wanted:
        return [pointer]
    return [pointer, _excerpt(call, file, Span(known + 1, min(wanted, known + len(shown))), wanted)]


def _last_known(call: ToolCall, file: OpenedFile, span: Span) -> int:
    """The line up to which the lines of a span were sent before, with their numbers."""
    line = span.start - 1
    if call.flag("again"):
        return line
    before = call.session.received_lines(file.path, file.tag, numbered=True)
    while line < span.end and line + 1 in before:
        line += 1
    return line


def _point(call: ToolCall, file: OpenedFile, span: Span) -> Piece:
    """Lines that the client has, by their numbers."""
    hint = call.session.hint("again=true repeats it")
    text = f"{span} as shown above{f' ({hint})' if hint else ''}\n"
    said: dict[str, Json] = {"path": file.path, "tag": file.tag, "lines": str(span)}
    return Piece(
        texts=(text,),
        group=header(file.path, file.tag, len(file.lines)),
        order=span.start,
        record=said,
        sent=SentLines(file.path, file.source, (span,), before=True),
    )


def _excerpt(call: ToolCall, file: OpenedFile, shown: Span, wanted: int) -> Piece:
    """Numbered lines; the sizes that do not reach the last line that is wanted say how to go on."""
    if call.flag("anchors"):
        mark = anchor
    else:
        mark = None
    lines = []
    for line in file.lines[shown.start - 1 : shown.end]:
        lines.append(clip_line(line))
    texts: list[str] = []
    steps: list[tuple[Span, ...]] = []
    for size in _sizes(len(lines)):
        end = shown.start + size - 1
        text = number_lines(lines[:size], shown.start, mark) + "\n"
        if end < wanted:
            rest = f"{call.runtime.prefix}{file.path}:{end + 1}-{wanted}"
            text += f"[lines {shown.start}-{end}; more: {call.ready('read', rest, **call.wish())}]\n"
        if texts and call.runtime.count(text) > (CEILING if call.text("budget") else _SNIPPET):
            break
        texts.append(text)
        steps.append(whole_spans(file.lines, Span(shown.start, end)))
    record: dict[str, Json] = {"path": file.path, "tag": file.tag, "start": shown.start, "text": texts[-1]}
    return Piece(
        texts=tuple(texts),
        group=header(file.path, file.tag, len(file.lines)),
        order=shown.start,
        record=record,
        sent=SentLines(file.path, file.source, steps=tuple(steps), numbered=True),
    )


def _sizes(lines: int) -> list[int]:
    """The numbers of lines in which a snippet is shown: dense enough to use up a budget."""
    sizes: list[int] = []
    size = 1
    while size < lines:
        sizes.append(size)
        size += 1 + size // _GROWTH
    return [*sizes, lines]


def whole_spans(lines: Sequence[str], shown: Span) -> tuple[Span, ...]:
    """The lines that are shown to their end: an edit of a clipped one would lose the rest of it."""
    spans: list[Span] = []
    for number in range(shown.start, shown.end + 1):
        if not is_whole(lines[number - 1]):
            continue
        if spans and spans[-1].end == number - 1:
            spans[-1] = Span(spans[-1].start, number)
        else:
            spans.append(Span(number, number))
    return tuple(spans)


def body(call: ToolCall, file: OpenedFile, symbol: Symbol, *, group: str = "") -> Piece:
    """A definition in sizes: its first line, its structure, the whole."""
    span = Span(symbol.start, min(symbol.end, len(file.lines)))
    first = f"{span} {symbol.signature or file.lines[symbol.line - 1].strip()}\n"
    if not call.flag("again") and len(span) > 3:
        before = call.session.received_lines(file.path, file.tag)
        if before.issuperset(range(span.start, span.end + 1)):
            first = f"{first[:-1]} (body as shown above)\n"
            pointed = SentLines(file.path, file.source, (span,), before=True)
            return Piece(
                texts=(first,), group=group, order=span.start, record=_record(file, symbol, ""), sent=pointed
            )
    lines = []
    for line in file.lines[span.start - 1 : span.end]:
        lines.append(clip_line(line))
    whole = f"{span}\n" + "\n".join(lines) + "\n"
    record = _record(file, symbol, "\n".join(lines))
    large = not call.text("budget") and call.runtime.count(whole) > _SNIPPET
    if len(span) > _SHORT:
        sizes = [first, *_fold_body(call, file, lines, span, large=large)]
    else:
        sizes = [first]
    if large and len(sizes) > 1:
        return Piece(tuple(sizes), group, span.start, record)
    sent = SentLines(file.path, file.source, whole_spans(file.lines, span), len(sizes))
    return Piece(texts=(*sizes, whole), group=group, order=span.start, record=record, sent=sent)


def _fold_body(call: ToolCall, file: OpenedFile, lines: Sequence[str], span: Span, *, large: bool) -> list[str]:
    """The body by its structure, in steps; of a large one, which is not shown whole, up to the size of a snippet."""
    count = call.runtime.count
    whole = count("\n".join(lines))
    kinds = read_line_kinds(file.path, file.data, span)
    if len(kinds) != len(lines):
        return []
    texts = []
    for step in _STEPS:
        if step > _SNIPPET if large else step * 4 > whole * 3:
            break
        folded = fold(lines, kinds, span.start, cost=count, budget=step)
        if folded.shown > 1:
            texts.append(f"{span}\n{folded.text}\n")
    return texts


def _record(file: OpenedFile, symbol: Symbol, text: str) -> dict[str, Json]:
    record: dict[str, Json] = {"path": file.path, "span": [symbol.start, symbol.end], "kind": symbol.kind}
    record |= {"name": symbol.qualified, "signature": symbol.signature}
    if text:
        return record | {"body": text}
    return record


def is_whole(line: str) -> bool:
    """Whether a line is shown to its end."""
    return len(line) <= _WIDEST


def clip_line(line: str) -> str:
    """A line that nobody would read whole, cut and marked."""
    if is_whole(line):
        return line
    return f"{line[:_WIDEST]}… [{len(line)} characters]"
