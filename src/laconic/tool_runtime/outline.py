"""The scaffold of a file: its symbols with their lines, as much of each as fits."""

from __future__ import annotations

from collections.abc import Sequence

from laconic.index.store import Symbol
from laconic.index.symbol_kinds import LEAVES
from laconic.render.compact_json import Json
from laconic.render.numbered_lines import header
from laconic.tool_runtime.source import OpenedFile
from laconic.tool_runtime.tool import Piece, ToolCall

_LONGEST = 100  # characters of a signature
_FEW = (12, 40)  # members that are named where there is no room for all


def outline(call: ToolCall, file: OpenedFile) -> list[Piece]:
    """One piece a top-level symbol: its line; with the names of its members; with their signatures."""
    members = _members(call, file)
    heading = header(file.path, file.tag, len(file.lines))
    tops = sorted(members.get(None, []), key=lambda symbol: (symbol.kind in LEAVES, symbol.start))
    found: list[Piece] = []
    for symbol in tops:
        found.append(_piece(symbol, members, heading, file.path))
    return found


def outline_type(call: ToolCall, file: OpenedFile, symbol: Symbol) -> Piece:
    """One large type below the path of its file, in the same sizes."""
    return _piece(symbol, _members(call, file), file.path, file.path)


def _members(call: ToolCall, file: OpenedFile) -> dict[int | None, list[Symbol]]:
    """The symbols of a file by what they stand in."""
    row = call.runtime.index.store.file(file.path)
    members: dict[int | None, list[Symbol]] = {}
    if row is not None:
        for symbol in call.runtime.index.store.symbols_in(row.id):
            members.setdefault(symbol.parent, []).append(symbol)
    return members


def scaffold(call: ToolCall, symbol: Symbol, most: int) -> list[str]:
    """A type as its line with the names of its members, at most so many; nothing where it has none."""
    store = call.runtime.index.store
    inner = []
    for each in store.symbols_in(symbol.file):
        if each.parent == symbol.id:
            inner.append(each)
    told = [each for each in inner if each.kind not in LEAVES] or inner
    if not told:
        return []
    return [f"{symbol.span} {_sign(symbol)}\n  {_name_members(told, most)}\n"]


def _piece(symbol: Symbol, members: dict[int | None, list[Symbol]], heading: str, path: str) -> Piece:
    inner = _below(symbol, members)
    own = f"{symbol.span} {_sign(symbol)}"
    record: dict[str, Json] = {"path": path, "name": symbol.qualified, "kind": symbol.kind}
    record |= {"span": [symbol.start, symbol.end], "signature": symbol.signature}
    if not inner:
        return Piece((f"{own}\n",), heading, symbol.start, record)
    record["members"] = [f"{each.qualified}:{each.start}" for _, each in inner]
    told = [each for _, each in inner if each.kind not in LEAVES] or [each for _, each in inner]
    lines = ""
    for depth, each in inner:
        lines += f"{'  ' * depth}{each.span} {_sign(each)}\n"
    texts = [f"{own} [{len(inner)} members]\n"]
    for most in (*(few for few in _FEW if few < len(told)), len(told)):
        texts.append(f"{own}\n  {_name_members(told, most)}\n")
    texts.append(f"{own}\n{lines}")
    return Piece(tuple(texts), heading, symbol.start, record)


def _name_members(members: Sequence[Symbol], most: int) -> str:
    names = " ".join(f"{each.name}:{each.start}" for each in members[:most])
    if len(members) > most:
        return f"{names} and {len(members) - most} more"
    return names


def _below(symbol: Symbol, members: dict[int | None, list[Symbol]], depth: int = 1) -> list[tuple[int, Symbol]]:
    found: list[tuple[int, Symbol]] = []
    for each in members.get(symbol.id, []):
        found.append((depth, each))
        if depth < 6:
            found += _below(each, members, depth + 1)
    return found


def _sign(symbol: Symbol) -> str:
    text = symbol.signature or symbol.name
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 1]}…"
