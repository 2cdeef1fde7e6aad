"""What the members that are used on a name tell of its type, where nothing else does."""

from __future__ import annotations

from typing import Final, NamedTuple

from laconic.index.name_meaning import UNKNOWN, Meaning, NamePlace, instance
from laconic.index.resolve import classes
from laconic.index.resolve.code import Code
from laconic.index.resolve.common_names import is_common, is_distinctive
from laconic.index.resolve.local_names import read_local_names
from laconic.index.schema import file_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES, HOLDERS

_WIDEST: Final = 40  # types below one that are looked at
_LONGEST: Final = 80  # characters of a receiver
_MEMBERS: Final = CALLABLES | HOLDERS


class _MemberUse(NamedTuple):
    line: int
    column: int
    name: str


def find_members_used(code: Code, place: NamePlace, receiver: str) -> frozenset[str]:
    """The names of all members that are used on the same receiver as at a place."""
    uses = _read_member_uses(code, place.file).get(receiver, ())
    head = receiver.partition(".")[0].partition("(")[0]
    local = read_local_names(code, place)
    if local is None:
        return frozenset(use.name for use in uses if use.line == place.line)
    first, last = local.first, local.last
    bindings = local.find(head, local.offset(place.line, place.column))
    found: set[str] = set()
    for use in uses:
        if not first <= use.line <= last:
            continue
        at = local.offset(use.line, use.column)
        if not bindings or bindings[0].start <= at < bindings[0].end:
            found.add(use.name)
    return frozenset(found)


def _read_member_uses(code: Code, file: int) -> dict[str, list[_MemberUse]]:
    """The uses of members in a file by their receiver."""
    key = ("member uses", file)
    kept = code.derived.get(key)
    if isinstance(kept, dict):
        return kept
    found: dict[str, list[_MemberUse]] = {}
    for ref in code.references_in(file):
        if ref.receiver and ref.kind != "import" and len(ref.receiver) < _LONGEST:
            found.setdefault(ref.receiver, []).append(_MemberUse(ref.line, ref.column, ref.name))
    code.derived[key] = found
    return found


def has_members(code: Code, type_: int, used: frozenset[str]) -> bool:
    """Whether a value of a type, or of one below it, can have all members that are used on it."""
    if _has_all(code, type_, used):
        return True
    below = classes.descendants(code, type_)[:_WIDEST]
    return any(_has_all(code, each, used) for each in below)


def _has_all(code: Code, type_: int, used: frozenset[str]) -> bool:
    symbol = code.symbol(type_)
    if symbol is None or symbol.kind == "type":
        return True  # another name for something
    if not code.sources[symbol.file].dialect.open_types and not classes.is_whole(code, type_):
        return True
    return all(_has(code, type_, name) for name in used)


def _has(code: Code, type_: int, name: str) -> bool:
    """Names that libraries have, or that no type of ours has, say nothing."""
    return bool(is_common(name) or classes.members(code, type_, name) or not _find_members(code, type_, name))


def fits(code: Code, type_: int, interface: int) -> bool:
    """Whether a type has every member of an interface."""
    key = ("fits", type_, interface)
    kept = code.derived.get(key)
    if not isinstance(kept, bool):
        names = _list_member_names(code, interface)
        kept = code.derived[key] = bool(names) and all(classes.members(code, type_, name) for name in names)
    return kept


def _list_member_names(code: Code, type_: int) -> set[str]:
    """The names of the members that a type has in its body, or inherits from such."""
    found: set[str] = set()
    for number in classes.ancestors(code, type_):
        for each in code.outline(file_of(number)).symbols:
            if each.parent == number:
                found.add(each.name)
    return found


def _find_members(code: Code, type_: int, name: str) -> list[Symbol]:
    """All members of a name in the languages of a type."""
    symbol = code.symbol(type_)
    if symbol is None:
        return []
    family = code.sources[symbol.file].dialect.family
    return _list_members(code, family, name)


def _list_members(code: Code, family: str, name: str) -> list[Symbol]:
    key = ("members named", family, name)
    kept = code.derived.get(key)
    if isinstance(kept, list):
        return kept
    found = []
    for each in code.find_named(name):
        source = code.sources.get(each.file)
        if source is None or source.dialect.family != family or each.kind not in _MEMBERS:
            continue
        if classes.owner_name(code, each):
            found.append(each)
    code.derived[key] = found
    return found


def infer_type(code: Code, place: NamePlace, receiver: str) -> Meaning:
    """The one type that has a member which is used on a receiver, if its name is nobody else's."""
    family = code.sources[place.file].dialect.family
    for name in sorted(find_members_used(code, place, receiver)):
        if not is_distinctive(name):
            continue
        owners: set[int] = set()
        for each in _list_members(code, family, name):
            owners.update(classes.owners(code, each))
        if len(owners) == 1 and len(_list_members(code, family, name)) == len(_find_defined(code, family, name)):
            return instance(list(owners))
    return UNKNOWN


def _find_defined(code: Code, family: str, name: str) -> list[Symbol]:
    """All that is defined under a name in the languages of a family."""
    found = []
    for each in code.find_named(name):
        source = code.sources.get(each.file)
        if source is not None and source.dialect.family == family and each.kind != "impl":
            found.append(each)
    return found
