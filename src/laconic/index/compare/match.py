"""Pair the symbols of two states: by name inside paired parents first, then by what they say.

A symbol without a partner was added or removed. One whose partner has another name was renamed, one whose partner
stands in another file or parent was moved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from laconic.index.compare.units import FileVersion, SymbolVersion

_ALIKE: Final = 0.6  # share of words in common from which a symbol of the same file counts as renamed
_ALIKE_ELSEWHERE: Final = 0.8  # the same for another file
_TELLING: Final = 12  # words that a symbol must have before likeness says anything
_LARGE: Final = 40  # words from which a function inside a function is worth following
_PAIRS: Final = 60_000  # comparisons of likeness at most


@dataclass(frozen=True, slots=True)
class MatchedUnits:
    """The outcome: pairs of old and new, and what has no partner."""

    pairs: list[tuple[SymbolVersion, SymbolVersion]] = field(default_factory=list)
    removed: list[SymbolVersion] = field(default_factory=list)
    added: list[SymbolVersion] = field(default_factory=list)
    taken: dict[int, SymbolVersion] = field(default_factory=dict)  # the partner by the id of a unit

    def pair(self, old: SymbolVersion, new: SymbolVersion) -> None:
        self.pairs.append((old, new))
        self.taken.update({id(old): new, id(new): old})

    def siblings(self, old: SymbolVersion, new: SymbolVersion) -> bool:
        """Whether two symbols are inside a pair."""
        return old.parent is not None and self.taken.get(id(old.parent)) is new.parent

    def free(self, units: Iterable[SymbolVersion]) -> list[SymbolVersion]:
        found: list[SymbolVersion] = []
        for unit in units:
            if id(unit) not in self.taken:
                found.append(unit)
        return found


def match(files: Sequence[tuple[FileVersion | None, FileVersion | None]]) -> MatchedUnits:
    """Pair all symbols of all files; a file that is missing on one side is None there."""
    found = MatchedUnits()
    lost: list[SymbolVersion] = []
    come: list[SymbolVersion] = []
    for old, new in files:
        olds, news = (old.children(None) if old else []), (new.children(None) if new else [])
        _descend(olds, news, found, lost, come)
    followed = {id(new): old for old, new in files if old and new}
    _by_likeness(lost, come, found, followed)
    found.removed.extend(found.free(_with_inner(lost)))
    found.added.extend(found.free(_with_inner(come)))
    return found


def _descend(
    olds: Sequence[SymbolVersion],
    news: Sequence[SymbolVersion],
    found: MatchedUnits,
    lost: list[SymbolVersion],
    come: list[SymbolVersion],
) -> None:
    """Pair the children of a pair by name, and theirs."""
    pairs, left, fresh = _by_name(found.free(olds), found.free(news))
    lost += left
    come += fresh
    for old, new in pairs:
        found.pair(old, new)
        _descend(old.side.children(old), new.side.children(new), found, lost, come)


def _by_name(
    olds: Iterable[SymbolVersion], news: Iterable[SymbolVersion]
) -> tuple[list[tuple[SymbolVersion, SymbolVersion]], list[SymbolVersion], list[SymbolVersion]]:
    groups: dict[tuple[str, str, str], tuple[list[SymbolVersion], list[SymbolVersion]]] = defaultdict(
        lambda: ([], [])
    )
    for position, units in enumerate((olds, news)):
        for unit in units:
            groups[unit.family, unit.definition.name, unit.definition.owner][position].append(unit)
    pairs: list[tuple[SymbolVersion, SymbolVersion]] = []
    left: list[SymbolVersion] = []
    fresh: list[SymbolVersion] = []
    for old, new in groups.values():
        made, old_rest, new_rest = _overloads(old, new)
        pairs += made
        left += old_rest
        fresh += new_rest
    return _other_kind(pairs, left, fresh)


def _other_kind(
    pairs: list[tuple[SymbolVersion, SymbolVersion]], left: list[SymbolVersion], fresh: list[SymbolVersion]
) -> tuple[list[tuple[SymbolVersion, SymbolVersion]], list[SymbolVersion], list[SymbolVersion]]:
    """A function that became a variable of the same name is still the same symbol."""
    waiting = {(unit.definition.name, unit.definition.owner): unit for unit in fresh}
    again: list[SymbolVersion] = []
    for unit in left:
        partner = waiting.pop((unit.definition.name, unit.definition.owner), None)
        if partner is None:
            again.append(unit)
        else:
            pairs.append((unit, partner))
    taken = set()
    for _, new in pairs:
        taken.add(id(new))
    return pairs, again, [unit for unit in fresh if id(unit) not in taken]


def _overloads(
    olds: list[SymbolVersion], news: list[SymbolVersion]
) -> tuple[list[tuple[SymbolVersion, SymbolVersion]], list[SymbolVersion], list[SymbolVersion]]:
    """Several of one name: first those that are equal, then those with equal signatures, then in order."""
    pairs = []
    for key in (_whole, _signature, _nothing):
        waiting: dict[str, list[SymbolVersion]] = defaultdict(list)
        for unit in news:
            waiting[key(unit)].append(unit)
        rest = []
        for unit in olds:
            partners = waiting[key(unit)]
            if partners:
                pairs.append((unit, partners.pop(0)))
            else:
                rest.append(unit)
        olds, news = rest, [unit for partners in waiting.values() for unit in partners]
    return pairs, olds, news


def _whole(unit: SymbolVersion) -> str:
    return "\n".join(unit.side.lines[unit.span.start - 1 : unit.span.end])


def _signature(unit: SymbolVersion) -> str:
    return unit.definition.signature


def _nothing(_: SymbolVersion) -> str:
    return ""


def _by_likeness(
    lost: list[SymbolVersion], come: list[SymbolVersion], found: MatchedUnits, followed: dict[int, FileVersion]
) -> None:
    """Pair what is most alike, best first; symbols inside of others may have gone in or come out."""
    scored = sorted(
        _scores(_with_inner(lost), _with_inner(come), found, followed), key=lambda entry: entry[0], reverse=True
    )
    for _, old, new in scored:
        if id(old) not in found.taken and id(new) not in found.taken:
            found.pair(old, new)
            _descend(old.side.children(old), new.side.children(new), found, [], [])


def _scores(
    olds: list[SymbolVersion], news: list[SymbolVersion], found: MatchedUnits, followed: dict[int, FileVersion]
) -> Iterable[tuple[tuple[float, float, float], SymbolVersion, SymbolVersion]]:
    by_family: dict[str, list[SymbolVersion]] = defaultdict(list)
    for unit in news:
        by_family[unit.family].append(unit)
    compared = 0
    for old in olds:
        for new in by_family.get(old.family, ()):
            near = followed.get(id(new.side)) is old.side
            same_name = old.definition.name == new.definition.name
            if compared > _PAIRS and not same_name:
                continue
            compared += 1
            alike = _likeness(old.words, new.words)
            local = (_local(old) or _local(new)) and not found.siblings(old, new)
            if alike >= (_needed_local(old, new) if local else _likeness_needed(old, new, near=near)):
                same_parent = _parent_name(old) == _parent_name(new)
                if near:
                    distance = -abs(old.span.start - new.span.start) / 1e6
                else:
                    distance = -1.0
                yield (
                    (alike + 0.2 * same_name + 0.1 * near + 0.05 * same_parent, float(same_name), distance),
                    old,
                    new,
                )


def _likeness_needed(old: SymbolVersion, new: SymbolVersion, *, near: bool) -> float:
    """How alike two symbols must be to be taken for one."""
    size = min(old.words.total(), new.words.total())
    if old.definition.name == new.definition.name:
        if size >= _TELLING:
            return 0.5
        return 0.9
    if size < _TELLING:
        # Little text tells little: only a neighbour with the very same shape, and never a bare value.
        if near and old.family != "value" and _parent_name(old) == _parent_name(new):
            return 1.0
        return 2.0
    if near:
        return _ALIKE
    return _ALIKE_ELSEWHERE


def _needed_local(old: SymbolVersion, new: SymbolVersion) -> float:
    """What is inside a function belongs to it, unless it is large and kept its name."""
    large = min(old.words.total(), new.words.total()) >= _LARGE
    if large and old.definition.name == new.definition.name:
        return 0.7
    return 2.0


def _local(unit: SymbolVersion) -> bool:
    return unit.parent is not None and unit.parent.family == "function"


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    together = (one & other).total()
    return 2 * together / max(1, one.total() + other.total())


def _parent_name(unit: SymbolVersion) -> str:
    return unit.name.rpartition(".")[0]


def _with_inner(units: Iterable[SymbolVersion]) -> list[SymbolVersion]:
    """Symbols with all that are inside them."""
    result: dict[int, SymbolVersion] = {}
    waiting = list(units)
    while waiting:
        unit = waiting.pop(0)
        if id(unit) not in result:
            result[id(unit)] = unit
            waiting += unit.side.children(unit)
    return list(result.values())
