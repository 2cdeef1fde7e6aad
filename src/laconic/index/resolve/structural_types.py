"""Which types have the shape of an interface without naming it: for languages where that is enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from laconic.index.resolve import classes
from laconic.index.resolve.code import Code
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES

Shape = dict[str, tuple[int, int]]  # names of methods, each with how many parameters and results it has
ReadShape = Callable[[str], tuple[int, int]]  # of a signature


class ShapeMatches(NamedTuple):
    """Interfaces by the types that have their shape, and the other way round."""

    bases: dict[int, list[int]]
    heirs: dict[int, list[int]]


def find_fits(code: Code, family: str, read_shape: ReadShape) -> ShapeMatches:
    """All pairs of a type and an interface that it fits, worked out once."""
    key = ("fits", family)
    kept = code.derived.get(key)
    if isinstance(kept, ShapeMatches):
        return kept
    fits = ShapeMatches({}, {})
    code.derived[key] = fits  # what is asked on the way finds nothing yet
    interfaces: list[tuple[int, Shape]] = []
    types: list[tuple[int, Shape]] = []
    for symbol, shape in _read_shapes(code, family, read_shape):
        if symbol.kind == "interface":
            interfaces.append((symbol.id, shape))
        else:
            types.append((symbol.id, shape))
    by_method: dict[str, list[tuple[int, Shape]]] = {}
    for number, shape in types:
        for name in shape:
            by_method.setdefault(name, []).append((number, shape))
    for interface, wanted in interfaces:
        rarest = min(wanted, key=lambda name: len(by_method.get(name, ())), default="")
        for number, shape in by_method.get(rarest, ()):
            if wanted.items() <= shape.items():
                fits.bases.setdefault(number, []).append(interface)
                fits.heirs.setdefault(interface, []).append(number)
    return fits


def _read_shapes(code: Code, family: str, read_shape: ReadShape) -> list[tuple[Symbol, Shape]]:
    """The methods of every type, with those of the types that it holds."""
    own: dict[int, Shape] = {}
    for source in list(code.sources.values()):
        if source.dialect.family != family:
            continue
        for symbol in code.outline(source.id).symbols:
            if symbol.kind in {"interface", "struct", "type"}:
                own.setdefault(symbol.id, {})
            elif symbol.kind in CALLABLES:
                for owner in classes.owners(code, symbol):
                    own.setdefault(owner, {})[symbol.name] = read_shape(symbol.signature)
    found: list[tuple[Symbol, Shape]] = []
    for number in own:
        type_ = code.symbol(number)
        if type_ is not None:
            found.append((type_, _join(code, number, own, 0)))
    return found


def _join(code: Code, number: int, own: dict[int, Shape], deep: int) -> Shape:
    shape = dict(own.get(number, {}))
    if deep < 8:
        for base in classes.declared_bases(code, number)[0]:
            shape = {**_join(code, base, own, deep + 1), **shape}
    return shape
