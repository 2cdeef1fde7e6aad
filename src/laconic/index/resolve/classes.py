"""Types, what they inherit, and which definition a member name means on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from laconic.index.name_meaning import NamePlace
from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.names import path
from laconic.index.schema import file_of, position_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import TYPES

_WORDS: Final = re.compile(r"[A-Za-z_$][\w$]*")
_ARGUMENTS: Final = re.compile(r"[<(\[]")
_DEEP: Final = 30


def owner_name(code: Code, symbol: Symbol) -> str:
    """The name of the type that a definition belongs to; empty for what belongs to none."""
    if symbol.parent is not None:
        above = code.symbol(symbol.parent)
    else:
        above = None
    if above is not None and above.kind in TYPES and above.kind != "module":
        return above.name
    if above is not None and above.kind != "module":
        return ""
    own = symbol.qualified
    if above is not None:
        own = own.removeprefix(f"{above.qualified}.")
    head, dot, _ = own.rpartition(".")
    if dot:
        return head.rpartition(".")[2]
    return ""


def owners(code: Code, symbol: Symbol) -> list[int]:
    """The types that a member belongs to, where it stands or where the type is declared."""
    name = owner_name(code, symbol)
    if not name:
        return []
    if symbol.parent is not None:
        above = code.symbol(symbol.parent)
    else:
        above = None
    if above is not None and above.kind == "impl":
        return find_extended_types(code, above) or [above.id]
    if above is not None and above.kind in TYPES and above.kind != "module":
        return [above.id]
    found = []
    for each in code.find_named(name):
        if each.kind in TYPES and _same_home(code, each, symbol):
            found.append(each)
    exact = []
    for each in found:
        if f"{each.qualified}.{symbol.name}" == symbol.qualified:
            exact.append(each)
    if found:
        return [each.id for each in exact or found]
    if above is not None:
        return [above.id]
    return []


def enclosing_types(code: Code, place: NamePlace) -> list[int]:
    """All types around a place, from the inside out: their members may be used without a receiver."""
    around = code.outline(place.file).around(place.scope)
    outer = []
    for each in around:
        if each.kind in TYPES and each.kind not in {"module", "impl"}:
            outer.append(each.id)
    return list(dict.fromkeys([*enclosing_type(code, place), *outer]))


def enclosing_type(code: Code, place: NamePlace) -> list[int]:
    """The types whose members `self` has at a place."""
    outline = code.outline(place.file)
    for around in outline.around(place.scope):
        if around.kind == "impl":
            return find_extended_types(code, around) or [around.id]
        if around.kind in TYPES and around.kind != "module":
            return [around.id]
        if owner_name(code, around):
            return owners(code, around)
    return []


def own_members(code: Code, type_: int, name: str) -> list[Symbol]:
    """Members of a type that it defines itself, in its body or elsewhere (Go, Rust, C++, partial classes)."""
    symbol = code.symbol(type_)
    if symbol is None:
        return []
    here = code.outline(file_of(type_)).find_named(type_, name)
    dialect = code.sources[file_of(type_)].dialect
    if dialect.closed_types or (here and not dialect.two_spaces):
        return here
    tail = f".{symbol.name}.{name}"
    elsewhere = []
    for each in code.find_named(name):
        if each.parent == type_ or not f".{each.qualified}".endswith(tail):
            continue
        if dialect.open_types and _find_block(code, each) is None:
            continue  # in the body of another type of that name
        if _same_home(code, symbol, each):
            elsewhere.append(each)
    exact = []
    for each in elsewhere:
        if each.qualified == f"{symbol.qualified}.{name}":
            exact.append(each)
    return [*here, *(exact or elsewhere)]


def bases(code: Code, type_: int) -> tuple[list[int], bool]:
    """The types of ours that a type inherits from directly, said or by its shape, and whether there are others."""
    found, others = declared_bases(code, type_)
    source = code.sources.get(file_of(type_))
    if source is not None and source.dialect.find_implicit_bases is not None:
        implied = source.dialect.find_implicit_bases(code, type_)
        return list(dict.fromkeys([*found, *implied])), others
    return found, others


def declared_bases(code: Code, type_: int) -> tuple[list[int], bool]:
    """The types of ours that a type says it inherits from, and whether it names others."""
    key = ("bases", type_)
    kept = code.derived.get(key)
    if isinstance(kept, tuple):
        return kept
    symbol = code.symbol(type_)
    found: list[int] = []
    others = False
    for declared in _declarations(code, symbol):
        for written in filter(None, declared.bases.split("\n")):
            names = _WORDS.findall(_ARGUMENTS.split(written, maxsplit=1)[0])
            if not names:
                continue
            if declared.parent is not None:
                scope = position_of(declared.parent)
            else:
                scope = -1
            meant = path(code, NamePlace(declared.file, scope, declared.line), names)
            if meant.kind == "symbol":
                types = []
                for n in meant.symbols:
                    if _is_type(code, n) and n != type_:
                        types.append(n)
            else:
                types = []
            found += [number for number in types if number not in found]
            others = others or not types
    code.derived[key] = (found, others)
    return found, others


def ancestors(code: Code, type_: int) -> list[int]:
    """A type and all that it inherits from, nearest first."""
    key = ("ancestors", type_)
    kept = code.derived.get(key)
    if isinstance(kept, list):
        return kept
    order: list[int] = []
    _linearise(code, type_, order, 0)
    found = list(dict.fromkeys(reversed(order)))[::-1]  # a shared base comes after all that share it
    code.derived[key] = found
    return found


def _linearise(code: Code, type_: int, order: list[int], deep: int) -> None:
    if deep > _DEEP or len(order) > 400:
        return
    order.append(type_)
    for base in bases(code, type_)[0]:
        _linearise(code, base, order, deep + 1)


def is_whole(code: Code, type_: int) -> bool:
    """Whether all that a type inherits from is ours."""
    return not any(bases(code, each)[1] for each in ancestors(code, type_))


def descendants(code: Code, type_: int) -> list[int]:
    """All types that inherit from a type, without itself."""
    key = ("descendants", type_)
    kept = code.derived.get(key)
    if isinstance(kept, list):
        return kept
    found: dict[int, None] = {}
    queue = [type_]
    while queue and len(found) < 5000:
        current = queue.pop()
        for number in [*heirs_named_by(code, current), *_find_implicit_heirs(code, current)]:
            if number not in found and number != type_:
                found[number] = None
                queue.append(number)
    code.derived[key] = list(found)
    return list(found)


def heirs_named_by(code: Code, type_: int) -> list[int]:
    """The types that say that they inherit from a type."""
    symbol = code.symbol(type_)
    if symbol is None:
        return []
    found = []
    for number in dict.fromkeys(_heirs(code).get(symbol.name, ())):
        if type_ in declared_bases(code, number)[0]:
            found.append(number)
    return found


def _find_implicit_heirs(code: Code, type_: int) -> list[int]:
    """The types that have the shape of an interface without saying so."""
    source = code.sources.get(file_of(type_))
    if source is None or source.dialect.find_implicit_heirs is None:
        return []
    return source.dialect.find_implicit_heirs(code, type_)


def kin(code: Code, type_: int) -> set[int]:
    """The types that some heir of a type inherits from as well."""
    key = ("kin", type_)
    kept = code.derived.get(key)
    if isinstance(kept, set):
        return kept
    found: set[int] = set()
    for heir in descendants(code, type_):
        found.update(ancestors(code, heir))
    code.derived[key] = found
    return found


def members(code: Code, type_: int, name: str) -> list[Symbol]:
    """The definitions that a member name means on a type: its own, else the nearest inherited."""
    for each in ancestors(code, type_):
        if found := own_members(code, each, name):
            return found
    return []


def overrides(code: Code, symbol: Symbol) -> list[Symbol]:
    """The same member in types that inherit from its own."""
    above = code.symbol(symbol.parent) if symbol.parent is not None else None
    if above is not None and above.kind == "trait" and code.sources[symbol.file].dialect.open_types:
        found: list[Symbol] = []
        for block in find_impl_blocks(code, above):
            found += code.outline(block.file).find_named(block.id, symbol.name)
        return found
    types = dict.fromkeys(heir for owner in owners(code, symbol) for heir in descendants(code, owner))
    return _collect_members(code, types, symbol)


def find_impl_blocks(code: Code, trait: Symbol) -> list[Symbol]:
    """The blocks that give a trait to some type, of ours or of others."""
    key = ("impl blocks", trait.id)
    kept = code.derived.get(key)
    if isinstance(kept, list):
        return kept
    found: list[Symbol] = []
    for number in _blocks(code).get(trait.name, ()):
        block = code.symbol(number)
        if block is not None and trait.id in declared_bases(code, number)[0]:
            found.append(block)
    code.derived[key] = found
    return found


def count_impl_blocks(code: Code, base: str) -> int:
    """How many blocks name something as their base."""
    return len(_blocks(code).get(_last_word(base), ()))


def _blocks(code: Code) -> dict[str, list[int]]:
    """Blocks elsewhere (`impl`) by the last word of what they name as their base."""
    kept = code.derived.get("blocks")
    if isinstance(kept, dict):
        return kept
    found: dict[str, list[int]] = {}
    for number, kind, written in code.bases():
        if kind != "impl":
            continue
        for base in written.split("\n"):
            if last := _last_word(base):
                found.setdefault(last, []).append(int(number))
    code.derived["blocks"] = found
    return found


def overridden(code: Code, symbol: Symbol) -> list[Symbol]:
    """The same member in types that its own inherits from."""
    above = dict.fromkeys(up for owner in owners(code, symbol) for up in ancestors(code, owner)[1:])
    return _collect_members(code, above, symbol)


def _collect_members(code: Code, types: Iterable[int], symbol: Symbol) -> list[Symbol]:
    """The members of types that stand for the same as a member; a destructor is named after its type."""
    found: dict[Symbol, None] = {}
    for type_ in types:
        name = symbol.name
        if name.startswith("~") and (owner := code.symbol(type_)):
            name = f"~{owner.name}"
        found.update(dict.fromkeys(own_members(code, type_, name)))
    found.pop(symbol, None)
    return list(found)


def _declarations(code: Code, symbol: Symbol | None) -> Iterator[Symbol]:
    """A type and the blocks elsewhere that add to it."""
    if symbol is None:
        return
    yield symbol
    if symbol.kind != "impl":
        for each in code.find_named(symbol.name):
            if each.kind == "impl" and each.bases and _same_home(code, symbol, each):
                yield each


def _is_type(code: Code, number: int) -> bool:
    symbol = code.symbol(number)
    return symbol is not None and symbol.kind in TYPES


def find_extended_types(code: Code, block: Symbol) -> list[int]:
    """The types that a block elsewhere (`impl`) adds to: what its name means there, else those of its home."""
    key = ("extended", block.id)
    kept = code.derived.get(key)
    if isinstance(kept, list):
        return kept
    if block.parent is not None:
        scope = position_of(block.parent)
    else:
        scope = -1
    meant = path(code, NamePlace(block.file, scope, block.line), [block.name])
    found = []
    for number in meant.symbols:
        if _is_type(code, number):
            found.append(number)
    if not found and meant.kind == "unknown":
        found = []
        for each in code.find_named(block.name):
            if _is_home(code, each, block):
                found.append(each.id)
    code.derived[key] = found
    return found


def _same_home(code: Code, type_: Symbol, other: Symbol) -> bool:
    """Whether something that names a type as its owner can mean this one."""
    block = _find_block(code, other)
    if block is not None and type_.kind != "impl":
        return type_.id in find_extended_types(code, block)
    return _share_home(code, type_, other)


def _find_block(code: Code, symbol: Symbol) -> Symbol | None:
    """The block that adds something to a type from outside; nothing for what is in the type itself."""
    if symbol.kind == "impl":
        return symbol
    if symbol.parent is not None:
        above = code.symbol(symbol.parent)
    else:
        above = None
    if above is not None and above.kind == "impl":
        return above
    return None


def _share_home(code: Code, type_: Symbol, other: Symbol) -> bool:
    """Whether two definitions are where the parts of one type may be."""
    one, two = code.sources.get(type_.file), code.sources.get(other.file)
    if one is None or two is None or one.dialect.family != two.dialect.family:
        return False
    return is_same_home(code, one, two)


def is_same_home(code: Code, one: SourceFile, two: SourceFile) -> bool:
    """Whether one type may have parts in both files."""
    if one.dialect.find_home is not None:
        return one.dialect.find_home(code, one) == one.dialect.find_home(code, two)
    home = one.dialect.home
    if home == "folder":
        return one.folder == two.folder
    if home == "file":
        return one.id == two.id
    return home == "all" or one.package == two.package


def _heirs(code: Code) -> dict[str, list[int]]:
    """Types by the last word of each base that they name."""
    kept = code.derived.get("heirs")
    if isinstance(kept, dict):
        return kept
    found: dict[str, list[int]] = {}
    for number, kind, written in code.bases():
        heirs = [int(number)]
        if kind == "impl":
            block = code.symbol(int(number))
            heirs = find_extended_types(code, block) if block is not None else []
        for base in str(written).split("\n"):
            if last := _last_word(base):
                found.setdefault(last, []).extend(heirs)
    code.derived["heirs"] = found
    return found


def _last_word(base: str) -> str:
    """`a.b.Base[T]` is Base."""
    words: list[str] = _WORDS.findall(_ARGUMENTS.split(base, maxsplit=1)[0])
    if words:
        return words[-1]
    return ""


def _is_home(code: Code, type_: Symbol, other: Symbol) -> bool:
    return type_.kind in TYPES and type_.kind != "impl" and _share_home(code, type_, other)
