"""Find symbols by name in the workspaces of a call, and the code in which to ask about them.

Of several workspaces only those are read together that import from one another, directly or by way of others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from laconic.index.resolve import Code, find_symbol, rank_misfit
from laconic.index.resolve.joined_code import JoinedCode, JoinedMember
from laconic.index.resolve.published_names import imports_from
from laconic.index.store import Symbol
from laconic.tool_runtime.tool import ToolCall

if TYPE_CHECKING:
    from laconic.tool_runtime.runtime import ToolRuntime

_NEAREST: Final = 16  # workspaces that are read together
_LISTED: Final = 20  # places of further symbols that are kept
_OTHERS: Final = 5  # further symbols of one name that are named
_PARAMETERS: Final = 60  # characters of parameters that tell overloads apart
_LAST: Final = re.compile(r"[\w$]+(?=(?:\([^)]*\))?\W*$)")


class FoundSymbols(NamedTuple):
    """For each name that was asked for: what has it, the best first."""

    code: Code  # to ask about them
    symbols: list[list[Symbol]]
    elsewhere: list[list[str]]  # where unrelated workspaces have the same name


class _Candidate(NamedTuple):
    runtime: ToolRuntime
    symbol: Symbol


def find_symbols(call: ToolCall, names: Sequence[str]) -> FoundSymbols:
    """Symbols of the workspace of a call, or of all that it names."""
    runtimes = call.runtimes or (call.runtime,)
    if len(runtimes) == 1 and not runtimes[0].prefix:
        code = runtimes[0].code
        return FoundSymbols(code, [find_symbol(code, name) for name in names], [[] for _ in names])
    found = [_find_candidates(runtimes, name) for name in names]
    chosen: list[ToolRuntime] = []
    for candidates in found:
        for candidate in candidates[:1]:
            if candidate.runtime not in chosen:
                chosen.append(candidate.runtime)
    code = join(call.runtime, find_related(chosen, runtimes) or list(runtimes[:1]))
    symbols: list[list[Symbol]] = []
    elsewhere: list[list[str]] = []
    for candidates in found:
        own: list[Symbol] = []
        other: list[str] = []
        for runtime, symbol in candidates:
            if code.has_member(runtime.code):
                own.append(code.adopt(runtime.code, symbol))
            elif len(other) < _LISTED:
                other.append(f"{runtime.prefix}{runtime.code.sources[symbol.file].path}:{symbol.line}")
        symbols.append(own)
        elsewhere.append(other)
    return FoundSymbols(code, symbols, elsewhere)


def name_others(code: Code, others: Sequence[Symbol], elsewhere: Sequence[str]) -> str:
    """Further symbols of the same name: a path once, and what tells overloads apart."""
    places = []
    path = ""
    for each in others[:_OTHERS]:
        place = f":{each.line} {_tell_apart(each)}"
        if code.sources[each.file].path != path:
            path = code.sources[each.file].path
            place = f"{path}{place}"
        places.append(place)
    named = ", ".join([*places, *elsewhere][:_OTHERS])
    more = ""
    if (rest := len(others) + len(elsewhere) - _OTHERS) > 0:
        more = f" and {rest} more"
    return f"also: {named}{more} (name one as path:line)"


def _tell_apart(symbol: Symbol) -> str:
    """A symbol with its parameters, if they can be said briefly; else its full name."""
    _, found, parameters = symbol.signature.partition(f"{symbol.name}(")
    parameters, closed, _ = parameters.partition(")")
    if found and closed and len(parameters) <= _PARAMETERS:
        return f"{symbol.qualified}({parameters})"
    return symbol.qualified


def join(own: ToolRuntime, runtimes: Sequence[ToolRuntime]) -> JoinedCode:
    """Some workspaces as one; those that were read together last stay open."""
    members = []
    for runtime in runtimes:
        members.append(JoinedMember(runtime.prefix, runtime.code))
    kept = own.joined
    if kept is None or kept.members != members:
        kept = own.joined = JoinedCode(members, own.root)
    kept.refresh()
    return kept


def find_related(chosen: Sequence[ToolRuntime], runtimes: Sequence[ToolRuntime]) -> list[ToolRuntime]:
    """Some workspaces and those that import from them, or from which they import, and so on, the nearest first."""
    related = list(chosen)
    for runtime in related:
        if len(related) >= _NEAREST:
            break
        for other in runtimes:
            if other in related or len(related) >= _NEAREST:
                continue
            if imports_from(other.code, runtime.code) or imports_from(runtime.code, other.code):
                related.append(other)
    return related


def _find_candidates(runtimes: Sequence[ToolRuntime], name: str) -> list[_Candidate]:
    """Everything that has a name, the best first; of equals that of the asking workspace."""
    last = _LAST.search(name)
    ranked = []
    for order, runtime in enumerate(runtimes):
        inner = name
        if runtime.prefix and name.startswith(runtime.prefix):
            inner = name.removeprefix(runtime.prefix)
        if ":" not in inner and last is not None and not runtime.index.store.symbols_named(last[0]):
            continue
        for place, symbol in enumerate(find_symbol(runtime.code, inner)):
            misfit = rank_misfit(runtime.code, symbol, inner)
            ranked.append(((inner == name, *misfit[:4], order, place), _Candidate(runtime, symbol)))
    ranked.sort(key=lambda pair: pair[0])
    return [candidate for _, candidate in ranked]
