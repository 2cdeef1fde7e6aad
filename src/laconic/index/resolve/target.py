"""The symbol that is asked for, with what must be known to judge a use of its name."""

from __future__ import annotations

from dataclasses import dataclass

from laconic.index.dialect import LanguageDialect
from laconic.index.resolve import classes
from laconic.index.resolve.code import Code
from laconic.index.resolve.common_names import is_distinctive
from laconic.index.resolve.values import Values
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import ABSTRACT, CALLABLES, NAMELESS, TYPES


@dataclass(frozen=True, slots=True)
class TargetSymbol:
    """A symbol and its relations."""

    symbol: Symbol
    same: frozenset[int]  # overloads and other definitions of the very same thing
    owners: tuple[int, ...]  # the types it is a member of
    up: frozenset[int]  # what it overrides
    down: frozenset[int]  # what overrides it
    unique: bool  # nobody else has a member of this name
    dialect: LanguageDialect
    abstract: bool  # it is declared by an interface or a trait
    extends: bool  # types that are not ours may have it too

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def is_member(self) -> bool:
        return bool(self.owners) or (self.symbol.parent is None and "." in self.symbol.qualified)

    @property
    def is_telling(self) -> bool:
        """Whether a use on an unknown receiver can only mean this."""
        return self.unique and not self.up and is_distinctive(self.name)


def target(code: Code, symbol: Symbol) -> TargetSymbol:
    """Everything about a symbol that judging needs."""
    source = code.sources[symbol.file]
    owners = tuple(classes.owners(code, symbol))
    same = set()
    for each in code.find_named(symbol.name):
        if each.id == symbol.id or _same(code, each, symbol, owners):
            same.add(each.id)
    is_method = bool(owners)
    if is_method:
        up = frozenset(each.id for each in classes.overridden(code, symbol)) - same
    else:
        up = frozenset()
    if is_method:
        down = frozenset(each.id for each in classes.overrides(code, symbol)) - same
    else:
        down = frozenset()
    if not is_method and source.dialect.shorthand and symbol.kind == "method":
        up = _find_stated_members(code, symbol)
    related = same | up | down
    others = []
    for each in code.find_named(symbol.name):
        if each.id not in related and _rival(code, each, source.dialect):
            others.append(each)
    kinds = {found.kind for number in owners if (found := code.symbol(number))}
    return TargetSymbol(
        symbol=symbol,
        same=frozenset(same),
        owners=owners,
        up=up,
        down=down,
        unique=not others,
        dialect=source.dialect,
        abstract=bool(kinds & ABSTRACT),
        extends=source.dialect.open_types and _is_added(code, symbol),
    )


def _find_stated_members(code: Code, symbol: Symbol) -> frozenset[int]:
    """What a method of an object literal stands for: the member of the type that the function around says it gives."""
    above = code.symbol(symbol.parent) if symbol.parent is not None else None
    if above is None:
        return frozenset()
    values = Values(code)
    if above.kind in CALLABLES:
        stated = values.read_result(above, 0)
    else:
        stated = values.holds(above, 0)
    if stated.kind != "instance":
        return frozenset()
    found = values.members(stated, symbol.name).symbols
    return frozenset(number for number in found if number != symbol.id)


def _same(code: Code, each: Symbol, symbol: Symbol, owners: tuple[int, ...]) -> bool:
    if each.qualified != symbol.qualified:
        return False
    if (each.kind in TYPES) != (symbol.kind in TYPES):
        return False
    if (each.kind in CALLABLES) != (symbol.kind in CALLABLES) and code.sources[symbol.file].dialect.two_spaces:
        return False
    if each.file == symbol.file:
        return each.kind != "impl" and symbol.kind != "impl"
    one, two = code.sources.get(each.file), code.sources[symbol.file]
    if one is None or one.dialect.family != two.dialect.family:
        return False
    if one.dialect.declared_apart:  # a declaration in a header and the definition behind it
        return "static" not in each.modifiers.split() and "static" not in symbol.modifiers.split()
    return bool(owners) and tuple(classes.owners(code, each)) == owners


def _is_added(code: Code, symbol: Symbol) -> bool:
    """Whether it may be a member of types of others: declared by a trait, or in a block that adds to a type."""
    if symbol.parent is not None:
        above = code.symbol(symbol.parent)
    else:
        above = None
    if above is None or above.kind == "trait":
        return above is not None
    return above.kind == "impl" and not classes.find_extended_types(code, above)


def _rival(code: Code, each: Symbol, dialect: LanguageDialect) -> bool:
    """Whether a use of the name on something unknown might mean this other definition."""
    source = code.sources.get(each.file)
    if source is None or each.kind in NAMELESS or source.dialect.family != dialect.family:
        return False
    if dialect.shorthand or each.kind in {"method", "field", "constructor"}:
        return True
    return each.parent is not None and bool(classes.owner_name(code, each))
