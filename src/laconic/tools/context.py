"""`context`: a task in words, answered with the code that it is about: first where to look, then the bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from laconic.errors import WorkspaceError
from laconic.index.search import Ranked, rank_symbols
from laconic.index.search.query import Filters, patterns
from laconic.index.search.scope import scope_of
from laconic.index.store import Symbol
from laconic.records import Span
from laconic.render.compact import Json
from laconic.tools.source import Opened, body, clipped, opened
from laconic.tools.tool import Answer, Argument, Call, Piece, Tool

_RANKED: Final = 400  # symbols that are looked at
_NAMES: Final = 700  # tokens of names before the first body
_SHARE: Final = 0.35  # of the budget that names may take where bodies fit too
_ALONE: Final = 1_200  # tokens of budget up to which only names are given
_BODIES: Final = 80
_PART: Final = 0.8  # of the room that is left, which one body may take
_FOOTER: Final = 60
_HOLDERS: Final = frozenset(
    {"class", "interface", "struct", "enum", "trait", "module", "impl", "namespace", "object"}
)
_LONGEST: Final = 40_000  # characters of a task that are read
_NO_WORD: Final = re.compile(r"\S{300,}")  # data that was pasted
_LINE: Final = 90  # characters of a definition line


def run(call: Call) -> Answer:
    task = _NO_WORD.sub(" ", call.text("task")[:_LONGEST])
    index = call.plane.index
    scope = scope_of(index.store, Filters(paths=patterns(call.text("path"))))
    ranked = [row for row in rank_symbols(index.store, task, _RANKED, scope) if row.symbol is not None]
    if not ranked:
        return Answer(
            [],
            "context",
            note=f"nothing in this code base resembles the task; try {call.ready('map')}\n",
            unit="symbols",
        )
    files = _Files(call)
    names = list(_names(call, ranked, files))
    used = sum(call.plane.count(piece.texts[0]) for piece in names)
    used += sum(call.plane.count(f"{path}\n") for path in {piece.group for piece in names})
    bodies = [] if call.limit <= _ALONE else list(_bodies(call, ranked[:_BODIES], files, call.limit - used - _FOOTER))
    paths = tuple(dict.fromkeys(row.path for row in ranked[: len(names)]))
    return Answer([*names, *bodies], "context", unit="places", paths=paths, spread=1_000.0, grouped=False, total=None)


class _Files:
    """The files of an answer, each opened once."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._files: dict[str, Opened | None] = {}

    def get(self, path: str) -> Opened | None:
        if path not in self._files:
            try:
                self._files[path] = opened(self._call, path)
            except WorkspaceError:
                self._files[path] = None  # gone since it was indexed
        return self._files[path]


def _names(call: Call, ranked: list[Ranked], files: _Files) -> Iterator[Piece]:
    """Definition lines, best first, a page at a time grouped by file."""
    room = call.limit if call.limit <= _ALONE else min(_NAMES, int(call.limit * _SHARE))
    page: dict[str, list[Piece]] = {}
    used = 0
    for row in ranked:
        file = files.get(row.path)
        if row.symbol is None or file is None:
            continue
        text = _line(row.symbol, file)
        used += call.plane.count(text) + (0 if row.path in page else call.plane.count(f"{row.path}\n"))
        if used > room and page:
            break
        page.setdefault(row.path, []).append(Piece((text,), row.path, row.symbol.line, _record(row)))
    for pieces in page.values():
        yield from sorted(pieces, key=lambda piece: piece.order)


def _bodies(call: Call, ranked: list[Ranked], files: _Files, room: int) -> Iterator[Piece]:
    """Bodies, best first, whole where they are not too large for the room that is left, else by their structure."""
    shown: dict[str, list[Span]] = {}
    for row in ranked:
        file = files.get(row.path)
        symbol = row.symbol
        if symbol is None or file is None or symbol.kind in _HOLDERS:
            continue
        inside = shown.setdefault(row.path, [])
        if any(span.start <= symbol.end and symbol.start <= span.end for span in inside):
            continue
        inside.append(symbol.span)
        piece = _sized(call, body(call, file, symbol, group=row.path), int(room * _PART))
        if piece is None:
            continue
        room -= call.plane.count(piece.texts[0]) + call.plane.count(f"{row.path}\n")
        if room < 0:
            return
        yield piece


def _sized(call: Call, piece: Piece, room: int) -> Piece | None:
    """The largest text of a piece that fits; nothing where that would be only its first line."""
    for level in range(len(piece.texts) - 1, 0, -1):
        if call.plane.count(piece.texts[level]) <= room:
            whole = piece.sent is not None and bool(piece.sent.at(level))
            return Piece((piece.texts[level],), piece.group, piece.order, piece.record, piece.sent if whole else None)
    return None


def _line(symbol: Symbol, file: Opened) -> str:
    """The line of the definition as it stands in the file, with the lines up to its end."""
    source = clipped(file.lines[symbol.line - 1].strip()) if symbol.line <= len(file.lines) else symbol.name
    span = Span(symbol.line, max(symbol.line, symbol.end))
    return f"{span} {source[:_LINE].rstrip()}\n"


def _record(row: Ranked) -> dict[str, Json]:
    symbol = row.symbol
    if symbol is None:
        return {"path": row.path}
    record: dict[str, Json] = {"path": row.path, "span": [symbol.start, symbol.end], "name": symbol.qualified}
    return record | {"signature": symbol.signature}


TOOL = Tool(
    "context",
    "The code for a task in words (issue, bug, feature): ranked symbols with the bodies that matter",
    "Give the whole text of the task. The answer names the places that it is most likely about, then shows as many"
    " bodies as the budget allows, best first.",
    (
        Argument("task", "text", "", required=True),
        Argument("path", "text", "", listed=False, aliases=("include", "folder", "glob")),
    ),
    run,
    budget=4_000,
    examples=('context(task="Checkout fails when the cart is empty")',),
    aliases="explore fast_explore find_logic recon get_context explain_task locate",
)
