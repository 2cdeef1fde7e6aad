"""What else a field is given after its first value, in languages where values alone say of what type it is."""

from __future__ import annotations

from typing import Final, NamedTuple

from laconic.index.name_meaning import NamePlace
from laconic.index.resolve.code import Code
from laconic.index.schema import position_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import TYPES

_NOTHING: Final = frozenset({"None"})  # says of no field what it holds


class FieldValue(NamedTuple):
    """One assignment to a field."""

    place: NamePlace
    text: str


def is_nothing(text: str) -> bool:
    """Whether a value only says that there is none yet."""
    return text.strip() in _NOTHING


def list_later_values(code: Code, field: Symbol) -> list[FieldValue]:
    """What the methods of its class give to a field, but for its first value and for nothing."""
    owner = _find_class(code, field)
    if owner is None:
        return []
    found: list[FieldValue] = []
    for line, text in _read_assignments(code, owner).get(field.name, ()):
        if not field.start <= line <= field.end and not is_nothing(text):
            found.append(FieldValue(_place(code, field.file, line), text))
    return found


def _find_class(code: Code, field: Symbol) -> Symbol | None:
    around = field
    while around.kind not in TYPES:
        if around.parent is None or (above := code.symbol(around.parent)) is None:
            return None
        around = above
    return around


def _read_assignments(code: Code, owner: Symbol) -> dict[str, list[tuple[int, str]]]:
    """The lines of a class that assign to fields of its own, by the name of the field."""
    key = ("assigned fields", owner.id)
    kept = code.derived.get(key)
    if isinstance(kept, dict):
        return kept
    found: dict[str, list[tuple[int, str]]] = {}
    pattern = code.sources[owner.file].dialect.field_value
    if pattern is not None:
        for number, line in enumerate(code.lines(owner.file)[owner.start - 1 : owner.end], owner.start):
            if match := pattern.match(line):
                found.setdefault(match[1], []).append((number, match[2]))
    code.derived[key] = found
    return found


def _place(code: Code, file: int, line: int) -> NamePlace:
    around = code.symbol_at(file, line)
    if around is None:
        return NamePlace(file, -1, line, 0)
    return NamePlace(file, position_of(around.id), line, 0)
