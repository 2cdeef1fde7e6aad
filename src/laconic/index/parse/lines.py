"""An outline from lines alone, for languages whose grammar is not installed. Misses what a line does not show."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.parse.language import Language
from laconic.index.parse.source import Source
from laconic.records import Definition, Parsed, Span

_KINDS: Final = {
    "class": "class",
    "struct": "struct",
    "record": "record",
    "interface": "interface",
    "protocol": "interface",
    "trait": "trait",
    "enum": "enum",
    "union": "union",
    "object": "object",
    "module": "module",
    "namespace": "module",
    "package": "module",
    "contract": "class",
    "library": "class",
    "type": "type",
    "typealias": "type",
    "macro": "macro",
    "defmodule": "module",
    "defmacro": "macro",
}
_WORDS: Final = "|".join(
    [*_KINDS, "func", "function", "fun", "fn", "def", "defp", "sub", "proc", "procedure", "subroutine"]
)
_LINE: Final = re.compile(
    rf"^(?P<indent>[ \t]*)(?:(?:[a-z]+|@\w+)[ \t]+){{0,5}}?(?P<word>{_WORDS})[ \t]+(?P<name>[A-Za-z_][\w.:?!']*)",
)
_LONGEST: Final = 2000  # characters of a line that are looked at


def outline_by_lines(language: Language, source: Source) -> Parsed:
    """Definitions by the word that introduces them, nested and ended by their indentation."""
    lines = source.data.decode("utf-8", "replace").split("\n")
    found: list[tuple[int, int, str, str]] = []
    for row, line in enumerate(lines):
        if (match := _LINE.match(line[:_LONGEST])) is not None:
            found.append(
                (row, len(match["indent"].expandtabs(4)), _KINDS.get(match["word"], "function"), match["name"])
            )
    definitions: list[Definition] = []
    open_: list[tuple[int, int]] = []  # indentation and index
    for number, (row, indent, kind, name) in enumerate(found):
        while open_ and open_[-1][0] >= indent:
            open_.pop()
        end = _end(lines, row, indent, [other for other in found[number + 1 :] if other[1] <= indent])
        definitions.append(
            Definition(
                name,
                kind,
                Span(row + 1, end),
                row + 1,
                lines[row].strip()[:300],
                parent=open_[-1][1] if open_ else -1,
            )
        )
        open_.append((indent, number))
    return Parsed(language.name, len(lines) - (lines[-1] == ""), tuple(definitions))


def _end(lines: list[str], row: int, indent: int, later: list[tuple[int, int, str, str]]) -> int:
    """The last line before the next definition at the same level, without blank lines."""
    end = later[0][0] if later else len(lines)
    while end > row + 1 and not lines[end - 1].strip():
        end -= 1
    return end
