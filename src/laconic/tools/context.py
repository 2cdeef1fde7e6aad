"""`context`: a task in words, answered with the code that it is about: the lines that matter, and names of where to look.

An answer is made in rounds of a fixed size, so that a larger budget begins like a smaller one. In a round lines and names
of one file stand together. What was shown is not named again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from laconic.errors import WorkspaceError
from laconic.index.search import RankedSymbol
from laconic.index.search.file_evidence import TaskFiles
from laconic.index.search.line_scores import score_lines
from laconic.index.search.query import Filters, resolve_scope, split_globs
from laconic.index.search.rerank import rank_task
from laconic.index.search.task_query import TaskQuery
from laconic.index.store import Symbol
from laconic.plane.source import OpenedFile, clip_line, open_file, whole_spans
from laconic.plane.tool import Argument, Piece, SentLines, Tool, ToolAnswer, ToolCall
from laconic.plane.windows import Choice, Window
from laconic.records import Span
from laconic.render.compact import Json

_RANKED: Final = 400  # symbols that can be named
_ALONE: Final = 1_300  # tokens of budget up to which only names are given
_REST: Final = 3  # rounds of lines for what is left: one, and two for what it left, since lines cost less together
_KNOWN: Final = 5  # lines of a function by which it is known
_LEAST: Final = 40  # tokens that are worth beginning a round for
_FOOTER: Final = 60
_LONGEST: Final = 40_000  # characters of a task that are read
_NO_WORD: Final = re.compile(r"\S{300,}")  # data that was pasted
_SHOW: Final = ("detail", "mode", "form", "view")
_LINE: Final = 62  # characters of a definition line: enough to know it by


class _Round(NamedTuple):
    """Tokens of names and of lines that are printed together, by file."""

    names: int
    lines: int

    def within(self, room: int) -> _Round:
        """A smaller one, with the same shares."""
        lines = min(self.lines, room * self.lines // (self.names + self.lines))
        return _Round(min(self.names, room - lines), lines)


_BOTH: Final = (_Round(470, 430), _Round(430, 800), _Round(900, 1_250))
_CODE: Final = (_Round(0, 1_950), _Round(0, 2_000))


def run(call: ToolCall) -> ToolAnswer:
    task = _NO_WORD.sub(" ", call.text("task")[:_LONGEST])
    store = call.plane.index.store
    scope = resolve_scope(store, Filters(paths=split_globs(call.text("path"))))
    files = _Files(call)
    task_files = TaskFiles(TaskQuery(store, task), files.lines)
    rows = []
    for row in rank_task(store, task_files, scope)[:_RANKED]:
        if files.get(row.path) is not None:
            rows.append(row)
    if not rows:
        note = f"nothing in this code base resembles the task; try {call.ready('map')}\n"
        return ToolAnswer([], "context", note=note, unit="symbols")
    rounds = _rounds(call.limit, call.text("show"))
    if any(each.lines for each in rounds):
        worth = score_lines(rows, task_files, store.symbols_of_path)
    else:
        worth = {}
    choice = Choice(worth, files.lines, call.plane.count, files.is_known)
    pieces: list[Piece] = []
    names, room = rows, call.limit - _FOOTER
    for each in rounds:
        if room < _LEAST:
            break
        size, spared = each.within(room), choice.spared
        shown = []
        for window in choice.take(size.lines):
            shown.append(_window(window, files))
        spent = _count_spent(call, shown) + choice.spared - spared
        room -= spent
        if size.names:
            headed = set()
            for piece in shown:
                headed.add(piece.group)
            names = _unseen(names, [*pieces, *shown])
            page = list(_page(call, names, files, min(size.names + max(0, size.lines - spent), room), headed))
            names = names[len(page) :]
            room -= _count_spent(call, page, headed)
            shown += page
        pieces += _by_file(shown)
    if not pieces and choice.spared:
        hint = call.session.hint("again=true repeats it")
        note = f"all lines that matter were shown above{f' ({hint})' if hint else ''}\n"
        return ToolAnswer([], "context", note=note, unit="places")
    if not pieces:  # not even one name has room: let the budget cut it
        pieces = [_name(rows[0], files)]
    paths = tuple(dict.fromkeys(piece.group for piece in pieces))
    return ToolAnswer(pieces, "context", unit="places", paths=paths, spread=1_000.0, grouped=False)


def _rounds(limit: int, show: str) -> tuple[_Round, ...]:
    if show == "names" or (show == "both" and limit <= _ALONE):
        return (_Round(limit, 0),)
    return (*(_BOTH if show == "both" else _CODE), *[_Round(0, limit)] * _REST)


def _by_file(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Files in the order in which they come up first, what is of one file in the order of its lines."""
    files: dict[str, list[Piece]] = {}
    for piece in pieces:
        files.setdefault(piece.group, []).append(piece)
    for group in files.values():
        yield from sorted(group, key=lambda piece: piece.order)


def _unseen(rows: Iterable[RankedSymbol], pieces: Iterable[Piece]) -> list[RankedSymbol]:
    """The symbols of which the lines that are shown do not tell already."""
    shown: dict[str, list[Span]] = {}
    for piece in pieces:
        if piece.sent is not None:
            shown.setdefault(piece.group, []).extend(piece.sent.spans)
    found: list[RankedSymbol] = []
    for row in rows:
        if row.symbol is not None and not _is_shown(row.symbol, shown.get(row.path, ())):
            found.append(row)
    return found


def _is_shown(symbol: Symbol, shown: Iterable[Span]) -> bool:
    lines = 0
    for span in shown:
        if span.start <= symbol.line <= span.end:
            return True
        lines += max(0, min(symbol.end, span.end) - max(symbol.start, span.start) + 1)
    return lines >= _KNOWN


def _count_spent(call: ToolCall, pieces: Sequence[Piece], headed: AbstractSet[str] = frozenset()) -> int:
    count = call.plane.count
    headings = {piece.group for piece in pieces} - headed
    return sum(count(piece.texts[0]) for piece in pieces) + sum(count(f"{path}\n") for path in headings)


class _Files:
    """The files of an answer, each opened once."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._files: dict[str, OpenedFile | None] = {}
        self._lines: dict[str, tuple[str, ...]] = {}
        self._received: dict[str, frozenset[int]] = {}

    def get(self, path: str) -> OpenedFile | None:
        if path not in self._files:
            try:
                self._files[path] = open_file(self._call, path)
            except WorkspaceError:
                self._files[path] = None  # gone since it was indexed
        return self._files[path]

    def lines(self, path: str) -> tuple[str, ...]:
        if path not in self._lines:
            file = self.get(path)
            self._lines[path] = file.lines if file is not None else ()
        return self._lines[path]

    def is_known(self, path: str, line: int) -> bool:
        """Whether the client has this line already."""
        if path not in self._received:
            file = self.get(path)
            if file is None:
                seen = frozenset[int]()
            else:
                seen = self._call.session.received_lines(path, file.tag)
            self._received[path] = frozenset() if self._call.flag("again") else seen
        return line in self._received[path]


def _page(
    call: ToolCall, rows: Iterable[RankedSymbol], files: _Files, room: int, headed: AbstractSet[str]
) -> Iterator[Piece]:
    """Definition lines, best first, as many as there is room for."""
    paths, used = set(headed), 0
    for row in rows:
        piece = _name(row, files)
        used += _count_spent(call, [piece], paths)
        if used > room:
            break
        paths.add(row.path)
        yield piece


def _name(row: RankedSymbol, files: _Files) -> Piece:
    file = files.get(row.path)
    assert row.symbol is not None
    assert file is not None
    return Piece((_line(row.symbol, file),), row.path, row.symbol.line, _record(row))


def _window(window: Window, files: _Files) -> Piece:
    """Some lines below a line that says which."""
    path, span = window
    file = files.get(path)
    assert file is not None
    text = "\n".join(clip_line(line) for line in file.lines[span.start - 1 : span.end])
    record: dict[str, Json] = {"path": path, "span": [span.start, span.end], "text": text}
    return Piece(
        (f"{span}\n{text}\n",), path, span.start, record, SentLines(path, file.source, whole_spans(file.lines, span))
    )


def _line(symbol: Symbol, file: OpenedFile) -> str:
    """The line of the definition as it stands in the file, below its number."""
    source = symbol.name
    if symbol.line <= len(file.lines):
        source = clip_line(file.lines[symbol.line - 1].strip())
    return f"{symbol.line} {source[:_LINE].rstrip()}\n"


def _record(row: RankedSymbol) -> dict[str, Json]:
    symbol = row.symbol
    if symbol is None:
        return {"path": row.path}
    record: dict[str, Json] = {"path": row.path, "span": [symbol.start, symbol.end], "name": symbol.qualified}
    return record | {"signature": symbol.signature}


TOOL = Tool(
    "context",
    "The code for a task in words (issue, bug, feature): ranked symbols with the bodies that matter",
    "Give the whole text of the task. The answer names the places that it is most likely about, and shows the lines of"
    " them that matter most, as many as the budget allows. `show` set to `names` or `code` gives one without the other."
    " Lines that this session has received are not sent again.",
    (
        Argument("task", "text", "", required=True),
        Argument("show", "text", "", choices=("both", "names", "code"), default="both", listed=False, aliases=_SHOW),
        Argument("path", "text", "", listed=False, aliases=("include", "folder", "glob")),
    ),
    run,
    budget=4_000,
    examples=('context(task="Checkout fails when the cart is empty")',),
    aliases="explore fast_explore find_logic recon get_context explain_task locate",
)
