"""The symbols of one version of a file, each with the lines that are its own and not those of a symbol inside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from laconic.index.parse import parse
from laconic.records import Definition, ParsedFile, Span

_WORDS: Final = re.compile(r"\w+|[^\w\s]")
_FAMILY: Final = {
    "method": "function",
    "constant": "value",
    "variable": "value",
    "field": "value",
    "interface": "class",
    "struct": "class",
    "trait": "class",
    "enum": "class",
}
_NOT_CODE: Final = frozenset({"heading", "key"})


@dataclass(frozen=True)
class SymbolVersion:
    """One symbol in one version of a file."""

    side: FileVersion = field(repr=False)
    index: int
    definition: Definition
    name: str  # qualified
    own: tuple[int, ...]  # line numbers

    @property
    def span(self) -> Span:
        return self.definition.span

    @property
    def family(self) -> str:
        """Kinds that may turn into each other without being another symbol."""
        return _FAMILY.get(self.definition.kind, self.definition.kind)

    @property
    def parent(self) -> SymbolVersion | None:
        if self.definition.parent >= 0:
            return self.side.units[self.definition.parent]
        return None

    @cached_property
    def text(self) -> str:
        """Its own lines; empty ones say nothing."""
        return "\n".join(line for number in self.own if (line := self.side.lines[number - 1]).strip())

    @cached_property
    def words(self) -> Counter[str]:
        """All its words, those of symbols inside it too; its own name stands masked."""
        lines = self.side.lines[self.span.start - 1 : self.span.end]
        name = self.definition.name
        return Counter("\0" if word == name else word for line in lines for word in _WORDS.findall(line))


class FileVersion:
    """One version of one file."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.lines: Sequence[str] = data.decode("utf-8", "surrogateescape").split("\n")
        self.parsed: ParsedFile = parse(path, data)
        self.units: list[SymbolVersion] = []
        names: list[str] = []
        inside = _children(self.parsed.definitions)
        for index, definition in enumerate(self.parsed.definitions):
            if 0 <= definition.parent < index:
                around = names[definition.parent]
            else:
                around = definition.owner
            names.append(f"{around}.{definition.name}" if around else definition.name)
            own = _own(definition.span, [self.parsed.definitions[child].span for child in inside.get(index, ())])
            self.units.append(SymbolVersion(side=self, index=index, definition=definition, name=names[-1], own=own))
        self.top = _own(Span(1, len(self.lines)), [self.parsed.definitions[i].span for i in inside.get(-1, ())])

    @property
    def code(self) -> bool:
        """Whether there is anything in it that a program would call a symbol."""
        kinds = set()
        for unit in self.units:
            kinds.add(unit.definition.kind)
        return bool(self.parsed.language) and (not kinds or not kinds <= _NOT_CODE)

    def children(self, parent: SymbolVersion | None) -> list[SymbolVersion]:
        wanted = -1 if parent is None else parent.index
        found: list[SymbolVersion] = []
        for unit in self.units:
            if unit.definition.parent == wanted:
                found.append(unit)
        return found


def _children(definitions: Sequence[Definition]) -> dict[int, list[int]]:
    inside: dict[int, list[int]] = {}
    for index, definition in enumerate(definitions):
        inside.setdefault(definition.parent, []).append(index)
    return inside


def _own(span: Span, inner: Sequence[Span]) -> tuple[int, ...]:
    taken = set()
    for part in inner:
        for number in range(part.start, part.end + 1):
            taken.add(number)
    return tuple(number for number in range(span.start, span.end + 1) if number not in taken)
