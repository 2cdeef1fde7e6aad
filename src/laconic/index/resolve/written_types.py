"""What a type as written stands for: a type of ours, a list of such, a name for another type, or a type of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from laconic.index.declared_types import read_element_type, split_intersection, split_union, type_names
from laconic.index.name_meaning import ALIENS, CONTAINER, UNKNOWN, Meaning, NamePlace, container, function, instance
from laconic.index.resolve import classes, names
from laconic.index.resolve.callbacks import read_function_type
from laconic.index.resolve.code import Code
from laconic.index.schema import position_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import TYPES

_DEEP: Final = 8
_SEVERAL: Final = ("|", "Union[")
_SELF: Final = (["Self"], ["self"], ["this"], ["static"])


def read_type(code: Code, place: NamePlace, written: str, deep: int = 0) -> Meaning:
    """A value of a type as written."""
    if deep > _DEEP:
        return UNKNOWN
    if (called := read_function_type(written)) is not None:
        return function(place, called)
    if any(mark in written for mark in _SEVERAL) and len(sides := split_union(written)) > 1:
        return unite(read_type(code, place, side, deep + 1) for side in sides)
    if " & " in written and len(sides := split_intersection(written)) > 1:
        both = [read_type(code, place, side, deep + 1) for side in sides]
        return unite(each for each in both if each.kind == "instance")
    if inside := read_element_type(written):
        inner = read_type(code, place, inside, deep + 1)
        if inner.kind in {"alien", "foreign"}:
            return ALIENS
        if inner.kind in {"instance", "container"}:
            return container(inner.symbols)
        return CONTAINER
    path = type_names(written)
    if not path:
        return UNKNOWN
    return _read_path(code, place, path, deep)


def _read_path(code: Code, place: NamePlace, path: list[str], deep: int) -> Meaning:
    """A value of a type with a name."""
    if path in _SELF:
        return instance(classes.enclosing_type(code, place))
    if len(path) == 1 and path[0] in code.sources[place.file].dialect.builtin:
        return Meaning("alien", name=path[0])
    meant = names.path(code, place, path)
    if meant.kind == "symbol":
        return _read_named_type(code, meant, deep)
    if meant.kind == "unknown" and len(path) == 1 and (bound := _find_bound(code, place, path[0])):
        return read_type(code, place, bound, deep + 1)
    if meant.kind == "unknown" and len(path) == 1 and _is_type_parameter(code, place, path[0]):
        return Meaning("alien", name=path[0])
    if meant.kind == "foreign":
        return Meaning("alien", name=".".join(path))
    return UNKNOWN


def _read_named_type(code: Code, meant: Meaning, deep: int) -> Meaning:
    """The types of a name; one that is only another name for a type stands for that."""
    types: list[int] = []
    for symbol in list_symbols(code, meant):
        aliased = _read_alias(code, symbol)
        if symbol.kind in TYPES and (not aliased or _is_written_out(aliased)):
            types.append(symbol.id)
        scope = position_of(symbol.parent) if symbol.parent is not None else -1
        place = NamePlace(symbol.file, scope, symbol.line)
        for side in _list_named_sides(aliased):
            found = read_type(code, place, side, deep + 1)
            if found.kind in {"container", "callable"}:
                return found
            types += found.symbols
    return instance(list(dict.fromkeys(types)))


def _is_written_out(aliased: str) -> bool:
    """Whether some members of a type are written where it gets its name: `A & { more: string }`."""
    return any(side.startswith("{") for side in _list_sides(aliased))


def _list_named_sides(aliased: str) -> list[str]:
    """The types that a name stands for, as far as they have names of their own."""
    if not aliased or not _is_written_out(aliased):
        return [aliased] if aliased else []
    return [side for side in _list_sides(aliased) if not side.startswith("{")]


def _list_sides(aliased: str) -> list[str]:
    return [part for side in split_union(aliased) for part in split_intersection(side)]


def _read_alias(code: Code, symbol: Symbol) -> str:
    """The type that another name is for; empty for a type of its own."""
    if symbol.kind != "type":
        return ""
    return code.sources[symbol.file].dialect.read_alias(symbol.name, symbol.signature)


def _find_bound(code: Code, place: NamePlace, name: str) -> str:
    """What a type parameter of the definitions around must at least be: `T extends Base`, `T: Base`."""
    pattern = re.compile(rf"(?:[<,\[]|\bwhere\b)\s*(?:in\s+|out\s+)?{re.escape(name)}\s*(?:extends\b|:)\s*([\w.:]+)")
    for around in code.outline(place.file).around(place.scope):
        if match := pattern.search(around.signature):
            return match[1]
    return ""


def _is_type_parameter(code: Code, place: NamePlace, name: str) -> bool:
    """Whether a name stands for whatever type the definitions around are used with."""
    pattern = re.compile(rf"<(?:[^<>=()]|<[^<>]*>)*\b{re.escape(name)}\b")
    for around in code.outline(place.file).around(place.scope):
        head = around.signature.partition("(")[0]
        if around.kind != "impl" and pattern.search(head):
            return True
        if around.kind == "impl" and re.match(rf"(?:unsafe )?impl\s*<[^()]*?\b{re.escape(name)}\b", head):
            return True
    return False


def unite(meanings: Iterable[Meaning]) -> Meaning:
    """A value that is of one of several types; nothing when one of them is not known."""
    found = list(meanings)
    if not found or any(each.kind not in {"instance", "container", "alien"} for each in found):
        return UNKNOWN
    for kind in ("instance", "container"):
        of_kind = [each for each in found if each.kind == kind]
        if of_kind:
            types = dict.fromkeys(number for each in of_kind for number in each.symbols)
            return Meaning(kind, tuple(types), name=of_kind[0].name)
    return found[0]


def list_symbols(code: Code, meant: Meaning) -> list[Symbol]:
    found = []
    for number in meant.symbols:
        found.append(code.symbol(number))
    return [each for each in found if each is not None]
