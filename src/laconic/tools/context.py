"""`context`: a task in words, answered with the code that it is about: where to look, the bodies, how they connect."""

from __future__ import annotations

from typing import Final

from laconic.errors import WorkspaceError
from laconic.index.search import Ranked, rank_symbols
from laconic.index.search.query import Filters, patterns
from laconic.index.search.scope import scope_of
from laconic.index.store import Symbol
from laconic.tools.source import Opened, body, opened
from laconic.tools.tool import Answer, Argument, Call, Piece, Tool

_NAMED: Final = 120  # symbols that are offered by name
_BODIES: Final = 40  # of them that may be shown with their body


def run(call: Call) -> Answer:
    task = call.text("task")
    index = call.plane.index
    scope = scope_of(index.store, Filters(paths=patterns(call.text("path"))))
    ranked = [row for row in rank_symbols(index.store, task, _NAMED, scope) if row.symbol is not None]
    if not ranked:
        return Answer([], "context", note="nothing in this code base resembles the task; try map()\n", unit="symbols")
    pieces = _pieces(call, ranked)
    paths = tuple(dict.fromkeys(row.path for row in ranked))
    return Answer(pieces, "context", unit="symbols", paths=paths, spread=6.0)


def _pieces(call: Call, ranked: list[Ranked]) -> list[Piece]:
    files: dict[str, Opened | None] = {}
    pieces = []
    for place, row in enumerate(ranked):
        if row.symbol is None:
            continue
        if row.path not in files:
            files[row.path] = _opened(call, row.path)
        file = files[row.path]
        if file is None:
            continue
        line = Piece((_line(row.symbol),), row.path, row.symbol.start)
        pieces.append(body(call, file, row.symbol, group=row.path) if place < _BODIES else line)
    return pieces


def _opened(call: Call, path: str) -> Opened | None:
    try:
        return opened(call, path)
    except WorkspaceError:
        return None  # gone since it was indexed: the next answer will not name it


def _line(symbol: Symbol) -> str:
    return f"{symbol.span} {symbol.signature or symbol.name}\n"


TOOL = Tool(
    "context",
    "The code for a task in words (issue, bug, feature): ranked symbols with the bodies that matter",
    "Give the whole text of the task. The answer names the places that it is most likely about, with as many bodies as"
    " the budget allows, best first.",
    (
        Argument("task", "text", "", required=True),
        Argument("path", "text", "", listed=False, aliases=("include", "folder", "glob")),
    ),
    run,
    budget=3_000,
    examples=('context(task="Checkout fails when the cart is empty")',),
    aliases="explore fast_explore find_logic recon get_context explain_task locate",
)
