"""How functions, and variables that hold functions, can be called: their parameters and results as written."""

from __future__ import annotations

from typing import Final, NamedTuple

from laconic.index.declared_types import DeclaredValue, type_names
from laconic.index.name_meaning import UNKNOWN, Meaning, NamePlace
from laconic.index.resolve import names
from laconic.index.resolve.callbacks import (
    find_call_signatures,
    is_function_type,
    read_parameter_type,
    read_parameters,
    split_arrows,
)
from laconic.index.resolve.code import Code
from laconic.index.resolve.signatures import read_whole_signature
from laconic.index.resolve.written_types import list_symbols, read_type
from laconic.index.schema import position_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES, HOLDERS

_DEEP: Final = 8
_INTERFACE: Final = 500  # lines of an interface that are looked at


class CallSignature(NamedTuple):
    """One way to call something, as written at a place."""

    place: NamePlace
    text: str


def read_declared(code: Code, symbol: Symbol) -> DeclaredValue:
    source = code.sources.get(symbol.file)
    if source is None:
        return DeclaredValue("opaque")
    return source.dialect.read_type(symbol.name, symbol.signature)


def find_inner_scope(code: Code, symbol: Symbol) -> int:
    """The scope in which the right-hand side of a field stands: a method for `self.x = y`, else its owner."""
    if symbol.parent is not None:
        best = position_of(symbol.parent)
    else:
        best = -1
    for at, each in enumerate(code.outline(symbol.file).symbols):
        if each.kind in CALLABLES and each.start <= symbol.line <= each.end:
            best = at
    return best


def list_signatures_of(code: Code, symbol: Symbol, deep: int) -> list[CallSignature]:
    """The parameters that a function, or what a field holds, can be called with."""
    if symbol.kind in CALLABLES:
        place = NamePlace(symbol.file, position_of(symbol.id), symbol.line)
        return [CallSignature(place, read_whole_signature(code, symbol))]
    given = read_declared(code, symbol)
    if symbol.kind in HOLDERS and given.kind == "type":
        return list_signatures(
            code, NamePlace(symbol.file, find_inner_scope(code, symbol), symbol.line, 0), given.text, deep
        )
    return []


def list_signatures(code: Code, place: NamePlace, written: str, deep: int) -> list[CallSignature]:
    """The parameters that a value of a type can be called with."""
    if deep > _DEEP:
        return []
    found: list[CallSignature] = []
    for side in split_arrows(written.strip(), "|"):
        text = side.strip()
        if is_function_type(text):
            found.append(CallSignature(place, text))
        elif path := type_names(text):
            for symbol in list_symbols(code, names.path(code, place, path)):
                found += _list_type_signatures(code, symbol, deep)
    return found


def _list_type_signatures(code: Code, symbol: Symbol, deep: int) -> list[CallSignature]:
    """The parameters that a type with a name can be called with."""
    lines = code.lines(symbol.file)[symbol.line - 1 : symbol.end]
    if symbol.kind == "interface":  # to its brace: what the grammar does not know may end it too early
        lines = code.lines(symbol.file)[symbol.line - 1 : symbol.line + _INTERFACE]
        place = NamePlace(symbol.file, position_of(symbol.id), symbol.line)
        return [CallSignature(place, each) for each in find_call_signatures("\n".join(lines))]
    if symbol.kind != "type":
        return []
    place = NamePlace(symbol.file, position_of(symbol.id), symbol.line)
    sides = split_arrows(" ".join(lines), "=")
    return list_signatures(code, place, "=".join(sides[1:]).rstrip(" ;"), deep + 1)


def read_called(code: Code, place: NamePlace, written: str, part: int, deep: int) -> Meaning:
    """A parameter of a function of a type as written."""
    for signature in list_signatures(code, place, written, deep):
        parameters = read_parameters(signature.text)
        if part < len(parameters):
            meant = read_type(code, signature.place, read_parameter_type(parameters[part]))
            if meant:
                return meant
    return UNKNOWN
