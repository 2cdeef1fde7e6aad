"""The scaffold of a file: its symbols, nested, with spans."""

from __future__ import annotations

from laconic.index.store import Symbol
from laconic.render.compact import Json
from laconic.tools.source import Opened
from laconic.tools.tool import Call, Piece

_INNER = {"variable", "field", "constant", "key"}  # shown after functions and types when room is short
_LONGEST = 160


def outline(call: Call, file: Opened) -> list[Piece]:
    """One piece a symbol, outer and public ones first."""
    row = call.plane.index.store.file(file.path)
    symbols = call.plane.index.store.symbols_in(row.id) if row is not None else []
    depth = _depths(symbols)
    heading = f"[{file.path}#{file.tag} {len(file.lines)} lines]"
    ranked = sorted(symbols, key=lambda symbol: (_rank(symbol, depth[symbol.id]), symbol.start))
    return [_piece(symbol, depth[symbol.id], heading, file.path) for symbol in ranked]


def _depths(symbols: list[Symbol]) -> dict[int, int]:
    depth: dict[int, int] = {}
    for symbol in symbols:
        depth[symbol.id] = depth.get(symbol.parent, -1) + 1 if symbol.parent is not None else 0
    return depth


def _rank(symbol: Symbol, depth: int) -> int:
    return 2 * depth + 3 * (symbol.kind in _INNER) + (symbol.visibility == "private")


def _piece(symbol: Symbol, depth: int, heading: str, path: str) -> Piece:
    lead = "  " * depth
    full = f"{lead}{symbol.span} {(symbol.signature or symbol.name)[:_LONGEST]}\n"
    short = f"{lead}{symbol.span} {symbol.name}\n"
    record: dict[str, Json] = {"path": path, "name": symbol.qualified, "kind": symbol.kind}
    record |= {"span": [symbol.start, symbol.end], "signature": symbol.signature}
    return Piece((short, full) if len(short) < len(full) else (full,), heading, symbol.start, record)
