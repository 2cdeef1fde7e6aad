"""Who calls whom: callers, callees, call paths, implementations, and how central a symbol is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from laconic.index.name_meaning import Meaning, NamePlace, of
from laconic.index.resolve import classes, names
from laconic.index.resolve.code import Code
from laconic.index.resolve.references import SymbolUse, references
from laconic.index.resolve.values import Values
from laconic.index.schema import position_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES, TYPES
from laconic.records import Reference

_FAN_OUT: Final = 6  # definitions that one name-only call may lead to; more tell nothing
_DISPATCH: Final = 20  # overrides of one member through which paths are looked for
_WIDEST: Final = 500  # symbols that a search for paths looks at
_CONSTRUCTORS: Final = frozenset({"__init__", "__new__", "__post_init__", "constructor", "initialize", "init"})
_WRITTEN_OUT: Final = frozenset({"variable", "constant", "field", "function", "method"})
_CALLS: Final = frozenset({"call", "decorator"})


class CallEdge(NamedTuple):
    """One step of the call graph, with the lines at which it happens."""

    symbol: Symbol
    lines: tuple[int, ...]
    sure: bool


def callers(code: Code, symbol: Symbol) -> list[CallEdge]:
    """Functions that use a symbol, the sure ones first; a class is called where it is constructed."""
    found: dict[int, list[SymbolUse]] = {}
    for use in [*references(code, symbol), *_find_dispatched_uses(code, symbol)]:
        if use.symbol is not None and use.kind not in {"import", "inherit"} and use.symbol != symbol.id:
            found.setdefault(use.symbol, []).append(use)
    calls = []
    for number, uses in found.items():
        if around := code.symbol(number):
            lines = tuple(sorted({use.line for use in uses}))
            # A use of what a symbol overrides may run the symbol, or another one.
            calls.append(CallEdge(around, lines, any(use.sure and use.tier != "override" for use in uses)))
    return sorted(calls, key=lambda call: (not call.sure, call.symbol.id))


def _find_dispatched_uses(code: Code, symbol: Symbol) -> list[SymbolUse]:
    """Uses of what a member overrides: they may run it, although they name another."""
    found: list[SymbolUse] = []
    for above in classes.overridden(code, symbol):
        for use in references(code, above):
            found.append(use._replace(sure=False, tier="override"))
    return found


def callees(code: Code, symbol: Symbol, *, constructed: bool = False) -> list[CallEdge]:
    """Symbols of ours that a function (or the methods of a class) calls; of a constructed class, what that runs."""
    code.refresh()
    values = Values(code)
    inside = _within(code, symbol, constructed=constructed)
    found: dict[int, tuple[list[int], bool]] = {}
    for ref in code.references_in(symbol.file):
        if ref.scope not in inside or ref.kind not in _CALLS:
            continue
        if code.is_time_up():
            break
        place = NamePlace(symbol.file, ref.scope, ref.line, ref.column)
        meant, sure = definitions(code, values, place, ref)
        others: tuple[int, ...] = ()
        if meant and values.may_hold_more(place, ref.receiver):
            others = _find_namesakes(code, place, ref.name)
        for number in dict.fromkeys((*meant, *others)):
            lines, before = found.setdefault(number, ([], False))
            lines.append(ref.line)
            found[number] = (lines, before or (sure and number in meant))
    calls = [
        CallEdge(each, tuple(sorted(set(lines))), sure)
        for number, (lines, sure) in found.items()
        if number != symbol.id and (each := code.symbol(number))
    ]
    return sorted(calls, key=lambda call: (not call.sure, call.lines[0]))


def definitions(code: Code, values: Values, place: NamePlace, ref: Reference) -> tuple[tuple[int, ...], bool]:
    """What one use of a name refers to, and whether that is sure; nothing when it is not ours or too common."""
    if not ref.receiver:
        meant = _bare(code, place, ref.name)
    else:
        whole = values.receiver(place, ref.receiver)
        meant = values.members(whole, ref.name)
        if whole.kind != "unknown" and meant.kind == "unknown":
            return (), False  # a value of a type that has no such member of ours
    if meant.kind == "symbol":
        found = _find_bodies(code, meant.symbols)
        return found, _is_one(code, found)
    if meant.kind != "unknown" or not ref.receiver:
        return (), False
    return _find_namesakes(code, place, ref.name), False


def _find_namesakes(code: Code, place: NamePlace, name: str) -> tuple[int, ...]:
    """The methods of a name, unless they are so many that it tells nothing."""
    family = code.sources[place.file].dialect.family
    found = []
    for each in code.find_named(name):
        own = code.sources.get(each.file)
        if each.kind in CALLABLES and own and own.dialect.family == family and classes.owner_name(code, each):
            found.append(each.id)
    if len(found) > _FAN_OUT:
        return ()
    return tuple(found)


def _find_bodies(code: Code, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Definitions, with the bodies elsewhere of those that only declare a function."""
    found = dict.fromkeys(numbers)
    for number in numbers:
        symbol = code.symbol(number)
        if symbol is None or "declaration" not in symbol.modifiers.split():
            continue
        for each in code.find_named(symbol.name):
            if (
                each.qualified == symbol.qualified
                and each.kind in CALLABLES
                and "static" not in each.modifiers.split()
            ):
                found[each.id] = None
    return tuple(found)


def _is_one(code: Code, numbers: tuple[int, ...]) -> bool:
    """Whether definitions are one and the same: overloads, or declarations of a single body."""
    bodies = set()
    for number in numbers:
        symbol = code.symbol(number)
        if symbol is not None and "declaration" not in symbol.modifiers.split():
            bodies.add((symbol.file, symbol.qualified))
    return len(bodies) <= 1


def paths(code: Code, start: Symbol, end: Symbol, depth: int = 6, limit: int = 5) -> list[tuple[CallEdge, ...]]:
    """Ways in which one symbol leads to another by calls, the shortest first; surely if there are such, else possibly.

    Goes forward, because what a function calls stands in one file, while its callers stand in many.
    """
    known: dict[int, list[CallEdge]] = {}
    sure = _search_paths(code, start, end, (depth, limit), known, possible=False)
    return sure or _search_paths(code, start, end, (depth, limit), known, possible=True)


def _search_paths(
    code: Code,
    start: Symbol,
    end: Symbol,
    limits: tuple[int, int],
    known: dict[int, list[CallEdge]],
    *,
    possible: bool,
) -> list[tuple[CallEdge, ...]]:
    """Paths over sure steps alone, or over all."""
    depth, limit = limits
    found: list[tuple[CallEdge, ...]] = []
    queue: list[tuple[CallEdge, ...]] = [(CallEdge(start, (), True),)]
    seen = {start.id}
    for _ in range(depth):
        following: list[tuple[CallEdge, ...]] = []
        for way in queue:
            if code.is_time_up():
                return found
            last = way[-1].symbol
            if last.id not in known:
                known[last.id] = [*callees(code, last, constructed=len(way) > 1), *_dispatch(code, last, end)]
            for call in known[last.id]:
                if not (call.sure or possible):
                    continue
                if call.symbol.id == end.id:
                    found.append((*way, call))
                elif call.symbol.id not in seen and len(seen) < _WIDEST:
                    seen.add(call.symbol.id)
                    following.append((*way, call))
            if len(found) >= limit:
                return found
        queue = following
    return found


def _dispatch(code: Code, symbol: Symbol, end: Symbol) -> list[CallEdge]:
    """What may run where a member is called that others override: all of them if they are few, and the one looked for."""
    if symbol.kind not in CALLABLES or symbol.parent is None:
        return []
    below = classes.overrides(code, symbol)
    found = []
    for each in below:
        if len(below) <= _DISPATCH or each.id == end.id:
            found.append(CallEdge(each, (), sure=False))
    return found


def implementations(code: Code, symbol: Symbol) -> list[Symbol]:
    """Types that extend or implement a type; overrides of a member."""
    code.refresh()
    if symbol.kind == "trait" and code.sources[symbol.file].dialect.open_types:
        below = [each for number in classes.descendants(code, symbol.id) if (each := code.symbol(number))]
        return [*classes.find_impl_blocks(code, symbol), *(each for each in below if each.kind == "trait")]
    if symbol.kind in TYPES:
        numbers = classes.descendants(code, symbol.id)
        below = [each for number in numbers if (each := code.symbol(number))]
        return [*below, *_find_literals(code, symbol)]
    found = classes.overrides(code, symbol)
    for owner in classes.owners(code, symbol):
        if (type_ := code.symbol(owner)) is not None:
            for literal in _find_literals(code, type_):
                found += code.outline(literal.file).find_named(literal.id, symbol.name)
    return found


def _find_literals(code: Code, symbol: Symbol) -> list[Symbol]:
    """Objects and functions that are declared as a type and written out: `const tool: Tool = {...}`."""
    source = code.sources[symbol.file]
    if not source.dialect.callbacks or symbol.kind not in {"interface", "type"}:
        return []
    found: list[Symbol] = []
    for use in references(code, symbol):
        if use.kind != "type" or not use.sure:
            continue
        declared = re.compile(rf":\s*(?:\w+\.)?{re.escape(symbol.name)}\b(?:<.*>)?\s*=")
        for each in code.outline(code.by_path[use.path].id).symbols:
            if each.line == use.line and each.kind in _WRITTEN_OUT and declared.search(_read_line(code, each)):
                found.append(each)
    return found


def _read_line(code: Code, symbol: Symbol) -> str:
    lines = code.lines(symbol.file)
    if symbol.line <= len(lines):
        return lines[symbol.line - 1]
    return ""


def overridden(code: Code, symbol: Symbol) -> list[Symbol]:
    """The members of base types that a member overrides."""
    code.refresh()
    return classes.overridden(code, symbol)


def spread(
    code: Code, symbol: Symbol, depth: int = 3, keep: Callable[[Symbol], bool] = lambda symbol: True, most: int = 300
) -> list[tuple[int, Symbol]]:
    """Everything that reaches a symbol through calls, with the distance: what a change to it may touch."""
    seen = {symbol.id}
    edge: Iterable[Symbol] = [symbol]
    found: list[tuple[int, Symbol]] = []
    for distance in range(1, depth + 1):
        following: list[Symbol] = []
        for each in edge:
            for call in callers(code, each):
                if call.symbol.id in seen or len(seen) >= most:
                    continue
                seen.add(call.symbol.id)
                following.append(call.symbol)
                if keep(call.symbol):
                    found.append((distance, call.symbol))
        edge = following
    return found


def _bare(code: Code, place: NamePlace, name: str) -> Meaning:
    if code.sources[place.file].dialect.bare_members:
        for type_ in classes.enclosing_types(code, place):
            if found := classes.members(code, type_, name):
                return of([each.id for each in found])
    return names.lookup(code, place, name)


def _within(code: Code, symbol: Symbol, *, constructed: bool) -> set[int]:
    """The positions of a symbol and of all that it holds; of a class that is constructed, without its other methods."""
    inside = {symbol.id}
    only = constructed and symbol.kind in TYPES
    for each in code.outline(symbol.file).symbols:
        if each.parent not in inside:
            continue
        if only and each.parent == symbol.id and not _runs_in_constructor(each):
            continue
        inside.add(each.id)
    found: set[int] = set()
    for number in inside:
        found.add(position_of(number))
    return found


def _runs_in_constructor(symbol: Symbol) -> bool:
    """Whether a member is run when its class is made: a constructor, or what a field is given."""
    return symbol.kind in {"constructor", "field", "constant", "variable"} or symbol.name in _CONSTRUCTORS
