"""`trace`: call paths from a symbol, to a symbol, or between two; and what a change would reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from laconic.errors import UnknownName, UsageError
from laconic.index.resolve import CallEdge, Code, callees, callers, paths
from laconic.index.search.lookup import suggest_names
from laconic.index.store import Symbol
from laconic.render.compact_json import Json
from laconic.tool_runtime.arguments import usage
from laconic.tool_runtime.find_in_workspaces import FoundSymbols, find_symbols, name_others
from laconic.tool_runtime.tool import AT, WORKSPACE, Argument, Piece, Tool, ToolAnswer, ToolCall

_DEPTH: Final = 3
_DEEPEST: Final = 8
_BREADTH: Final = 40  # symbols followed at one level
_MOST: Final = 300
_NAMESAKES: Final = 4  # symbols of one name between which paths are looked for
_SECONDS: Final = 2.0  # after which no further caller is looked for


def run(call: ToolCall) -> ToolAnswer:
    """Whatever was found within the time, and whether that is all."""
    names = [name for name in (call.text("symbol"), call.text("to")) if name]
    if not names:
        raise UsageError("trace needs `symbol` or `to`.", usage(TOOL))
    found = _require_symbols(call, names)
    code = found.code
    with code.limit_time(_SECONDS):
        answer = _trace(call, found)
    if not code.was_cut:
        return answer
    note = f"(stopped after {_SECONDS:.0f} s: there may be more; name a rarer symbol, or trace with depth=1)\n"
    return replace(answer, note=answer.note + note)


def _trace(call: ToolCall, found: FoundSymbols) -> ToolAnswer:
    depth = min(_DEEPEST, max(1, call.number("depth", _DEPTH)))
    if len(found.symbols) > 1:
        return _between(call, found, max(depth, 6))
    code = found.code
    down = bool(call.text("symbol")) and call.text("direction") == "down"
    symbol, *others = found.symbols[0]
    pieces = _levels(code, symbol, depth, down=down)
    way = "callers of"
    if down:
        way = "calls"
    head = f"{way} {_label(code, symbol)}\n"
    note = ""
    if not pieces:
        note = "none found\n"
    if others or found.elsewhere[0]:
        note += f"{name_others(code, others, found.elsewhere[0])}\n"
    return ToolAnswer(pieces=pieces, kind="trace", head=head, note=note, unit="symbols", spread=50.0)


def _between(call: ToolCall, found: FoundSymbols, depth: int) -> ToolAnswer:
    """Ways from the one to the other, else back; where names are shared, between those that have a way."""
    code = found.code
    pairs = _pair(code, *found.symbols)
    for first, last in pairs:
        if ways := paths(code, first, last, depth):
            return _ways(code, ways, "")
    for first, last in pairs:
        if ways := paths(code, last, first, depth):
            return _ways(
                code, ways, f"{call.text('symbol')} does not lead to {call.text('to')}; the other way round:\n"
            )
    first, last = pairs[0]
    text = f"no call path of up to {depth} steps between {_label(code, first)} and {_label(code, last)}\n"
    for symbols, elsewhere, chosen in zip(found.symbols, found.elsewhere, pairs[0], strict=True):
        others = [each for each in symbols if each.id != chosen.id]
        if others or elsewhere:
            text += f"{name_others(code, others, elsewhere)}\n"
    return ToolAnswer([], "trace", note=text, unit="paths")


def _pair(code: Code, firsts: list[Symbol], lasts: list[Symbol]) -> list[tuple[Symbol, Symbol]]:
    """Starts and ends of the given names, the best first; those of one language come before others."""
    pairs = []
    for first in firsts[:_NAMESAKES]:
        for last in lasts[:_NAMESAKES]:
            pairs.append((first, last))
    family = {each: code.sources[each.file].dialect.family for pair in pairs for each in pair}
    return sorted(pairs, key=lambda pair: family[pair[0]] != family[pair[1]])


def _ways(code: Code, ways: list[tuple[CallEdge, ...]], note: str) -> ToolAnswer:
    pieces = []
    for way in ways:
        pieces.append(Piece((_write_path(code, way),), record=_way(code, way)))
    return ToolAnswer(pieces, "trace", note, unit="paths")


def _require_symbols(call: ToolCall, names: list[str]) -> FoundSymbols:
    found = find_symbols(call, names)
    for name, symbols in zip(names, found.symbols, strict=True):
        if not symbols:
            raise UnknownName("symbol", name, tuple(suggest_names(call.runtime.index.store, name)))
    return found


def _levels(code: Code, symbol: Symbol, depth: int, *, down: bool) -> list[Piece]:
    """Symbols level by level, each below the one through which it was reached."""
    pieces: list[Piece] = []
    seen = {symbol.id}
    edge = [symbol]
    for level in range(1, depth + 1):
        following: list[Symbol] = []
        for each in edge[:_BREADTH]:
            for step in callees(code, each) if down else callers(code, each):
                if step.symbol.id in seen or len(seen) > _MOST:
                    continue
                seen.add(step.symbol.id)
                following.append(step.symbol)
                pieces.append(_step(code, step.symbol, level, each if level > 1 else None, sure=step.sure))
        edge = following
    return pieces


def _step(code: Code, symbol: Symbol, level: int, through: Symbol | None, *, sure: bool) -> Piece:
    via = ""
    if through is not None:
        via = f" via {through.name}"
    doubt = "?"
    if sure:
        doubt = ""
    record: dict[str, Json] = {"name": symbol.qualified, "path": code.sources[symbol.file].path, "line": symbol.line}
    record |= {"level": level, "sure": sure}
    return Piece((f"{level}{doubt} {_label(code, symbol)}{via}\n",), record=record)


def _label(code: Code, symbol: Symbol) -> str:
    return f"{symbol.qualified} {code.sources[symbol.file].path}:{symbol.line}"


def _write_path(code: Code, way: tuple[CallEdge, ...]) -> str:
    """A path on one line; a question mark stands before a step that is only possible."""
    text = _label(code, way[0].symbol)
    for step in way[1:]:
        arrow = " -> ? "
        if step.sure:
            arrow = " -> "
        text += arrow + _label(code, step.symbol)
    return f"{text}\n"


def _way(code: Code, way: tuple[CallEdge, ...]) -> dict[str, Json]:
    return {"path": [_label(code, each.symbol) for each in way], "sure": all(each.sure for each in way)}


TOOL = Tool(
    name="trace",
    summary="Callers of a symbol (impact), or call paths from it to another",
    help="With one symbol: its callers, level by level (direction=down: what it calls). With `to`: the call paths"
    " between the two. A `?` marks a step that is only possible.",
    arguments=(
        Argument(
            name="symbol",
            kind="text",
            help="",
            aliases=("from", "from_symbol", "start", "source"),
            explained="where paths start",
        ),
        Argument(name="to", kind="text", help="", aliases=("to_symbol", "sink"), explained="where they end"),
        Argument(
            name="direction",
            kind="text",
            help="",
            choices=("up", "down"),
            default="up",
            explained="to callers, or to what is called",
        ),
        Argument(
            name="depth",
            kind="number",
            help="",
            default=_DEPTH,
            listed=False,
            aliases=("max_depth", "levels", "hops"),
            explained=f"levels to follow, at most {_DEEPEST}",
        ),
        replace(WORKSPACE, listed=False),
        AT,
    ),
    run=run,
    budget=1_000,
    joins=lambda call: True,
    unnamed=2,
    examples=('trace(symbol="total")', 'trace(symbol="main", to="total")'),
    aliases="trace_call_path call_graph callers callees impact blast_radius find_callers call_hierarchy",
)
