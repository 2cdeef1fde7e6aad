"""All uses of a symbol, each with how sure it is; also under other names that imports give it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from laconic.errors import LaconicError
from laconic.index.name_meaning import UNKNOWN, module
from laconic.index.resolve import names
from laconic.index.resolve.certainty import TIERS, Judge, Verdict
from laconic.index.resolve.code import Code, id_at
from laconic.index.resolve.overloads import Overloads
from laconic.index.resolve.target import TargetSymbol, target
from laconic.index.resolve.values import Values
from laconic.index.scip.reading import FILE, LARGEST, find_uses
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES
from laconic.records import Import, Reference
from laconic.workspace.read_file import read_bytes

_MOST: Final = 4000  # uses of one name that are looked into; the rest is matched by name


class SymbolUse(NamedTuple):
    """One place where a symbol is used."""

    path: str
    line: int
    column: int
    kind: str  # call, read, write, type, inherit, import, decorator
    sure: bool
    tier: str
    symbol: int | None  # the definition around it

    @property
    def order(self) -> tuple[bool, int, str, int, int]:
        """Sure ones first, then by how they were tied, then by place."""
        return (not self.sure, TIERS.index(self.tier), self.path, self.line, self.column)


def references(code: Code, symbol: Symbol, *, believes_others: bool = True, alone: bool = False) -> list[SymbolUse]:
    """Every use of a symbol: the sure ones first; also what another indexer says of it, unless that is not wanted.

    Uses of all functions of one name in one class, unless the symbol is meant `alone`: then without the calls that
    only others of them accept.
    """
    code.refresh()
    wanted = target(code, symbol)
    judge = Judge(code, Values(code))
    found = list(_find_named_uses(code, judge, wanted))
    found += _find_renamed_uses(code, judge, wanted)
    if wanted.symbol.kind == "constructor" or wanted.name in {"__init__", "constructor"}:
        found += _find_constructor_uses(code, judge, wanted)
    own = {
        (code.sources[e.file].path, e.line) for n in wanted.same if (e := code.symbol(n)) and e.file in code.sources
    }
    unique = {(use.path, use.line, use.column): use for use in reversed(found)}
    if believes_others:
        _take_from_others(code, symbol, unique)
    overloads = _find_overloads(code, wanted) if alone else None
    kept = []
    for use in unique.values():
        if (use.path, use.line) in own and not use.column:
            continue
        if overloads is None or overloads.may_mean(code.lines(code.by_path[use.path].id), use.line, use.column):
            kept.append(use)
    return sorted(kept, key=lambda use: use.order)


def _find_overloads(code: Code, wanted: TargetSymbol) -> Overloads | None:
    """The functions of the same name that calls with other arguments mean; None where there are none."""
    if not wanted.dialect.by_parameters or len(wanted.same) < 2 or wanted.symbol.kind not in CALLABLES:
        return None
    others = []
    for number in wanted.same - {wanted.symbol.id}:
        symbol = code.symbol(number)
        if symbol is not None and symbol.kind in CALLABLES:
            others.append(symbol)
    return Overloads(wanted.symbol, others, declared_apart=wanted.dialect.declared_apart)


def _take_from_others(code: Code, symbol: Symbol, uses: dict[tuple[str, int, int], SymbolUse]) -> None:
    """Where another indexer wrote down what it knows (`index.scip`), its word counts, except on what overrides what."""
    try:
        data = read_bytes(code.root, FILE, LARGEST)
    except LaconicError:
        return

    def lines(path: str) -> list[str]:
        source = code.by_path.get(path)
        return code.lines(source.id) if source is not None else []

    for said in find_uses(data, code.sources[symbol.file].path, symbol.line, symbol.name, lines):
        place = (said.path, said.line, said.column)
        own = uses.get(place)
        if said.is_same:
            around = code.symbol_at(code.by_path[said.path].id, said.line)
            if own is None:
                own = SymbolUse(*place, said.kind, sure=True, tier="scip", symbol=around.id if around else None)
            uses[place] = own._replace(sure=True, tier="scip")
        elif own is not None and own.tier != "override":
            del uses[place]


def _find_named_uses(code: Code, judge: Judge, wanted: TargetSymbol) -> Iterator[SymbolUse]:
    seen = 0
    for file, refs in code.mentions(wanted.name):
        for ref in refs:
            if code.is_time_up():
                return
            seen += 1
            verdict = judge.judge(wanted, file, ref, quick=seen > _MOST)
            if verdict is not None:
                yield _use(code, file, ref, verdict)


def _find_renamed_uses(code: Code, judge: Judge, wanted: TargetSymbol) -> Iterator[SymbolUse]:
    """Uses under another name: `import a as b`, default exports, and what is imported from there."""
    if wanted.is_member:
        return
    aliases = _aliases(code, wanted)
    if "default" in aliases:
        yield from _defaults(code, wanted)
    for alias in aliases:
        if alias == "default":  # a role, not a name in any text
            continue
        for file, refs in code.mentions(alias):
            for ref in refs:
                if code.is_time_up():
                    return
                verdict = judge.judge(wanted, file, ref)
                if verdict is not None and verdict.sure and verdict.tier != "unique":
                    yield _use(code, file, ref, verdict)


def _aliases(code: Code, wanted: TargetSymbol) -> list[str]:
    """Other names that imports somewhere give to a symbol; `default` when some file exports it so."""
    found: dict[str, None] = {}
    queue = [wanted.name]
    if wanted.dialect.default_exports:
        own = names.member(code, module([wanted.symbol.file]), "default")
    else:
        own = UNKNOWN
    if set(own.symbols) & wanted.same:
        found["default"] = None
        queue += ["default", ""]
    while queue:
        name = queue.pop()
        for file, each in _importers(code, wanted, name):
            alias = each.alias
            if alias and alias != wanted.name and alias not in found and _does_bring(code, file, each, wanted):
                found[alias] = None
                queue += ["default", ""] if alias == "default" else [alias]
    return list(found)


def _defaults(code: Code, wanted: TargetSymbol) -> Iterator[SymbolUse]:
    """Imports of a default export: the name in the text is the importer's own."""
    for name in ("default", ""):
        for file, each in _importers(code, wanted, name):
            if each.module and each.alias and _does_bring(code, file, each, wanted):
                yield SymbolUse(
                    path=code.sources[file].path,
                    line=each.line,
                    column=0,
                    kind="import",
                    sure=True,
                    tier="import",
                    symbol=None,
                )


def _importers(code: Code, wanted: TargetSymbol, name: str) -> list[tuple[int, Import]]:
    """Imports of a name, in files that can mean the symbol."""
    if not name and not wanted.dialect.default_exports:
        return []
    found: list[tuple[int, Import]] = []
    for file, each in code.renamed_imports(name):
        if file in code.sources and code.sources[file].dialect.family == wanted.dialect.family:
            found.append((file, each))
    return found


def _does_bring(code: Code, file: int, each: Import, wanted: TargetSymbol) -> bool:
    meant = names.follow_import(code, code.sources[file], each)
    if meant.kind == "module" and not each.name:
        meant = names.member(code, meant, "default")
    return bool(set(meant.symbols) & wanted.same) and meant.kind == "symbol"


def _find_constructor_uses(code: Code, judge: Judge, wanted: TargetSymbol) -> Iterator[SymbolUse]:
    """A constructor is used where its class is called."""
    for owner in wanted.owners:
        symbol = code.symbol(owner)
        for use in references(code, symbol) if symbol else ():
            if use.kind == "call":
                yield use


def _use(code: Code, file: int, ref: Reference, verdict: Verdict) -> SymbolUse:
    around = id_at(file, ref.scope)
    return SymbolUse(
        path=code.sources[file].path,
        line=ref.line,
        column=ref.column,
        kind=ref.kind,
        sure=verdict.sure,
        tier=verdict.tier,
        symbol=around,
    )
