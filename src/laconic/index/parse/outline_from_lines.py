"""An outline from lines alone, for languages whose grammar is not installed. Misses what a line does not show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Definition, ParsedFile, Span

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
    rf"^(?P<indent>[ \t]*)(?:(?:[a-z]+|@\w+)[ \t]+){{0,5}}?(?P<word>{_WORDS})[ \t]+"
    r"(?P<name>[A-Za-z_](?:[\w.?!']|::)*)",
)
_LONGEST: Final = 2000  # characters of a line that are looked at


def outline_by_lines(language: Language, source: Source) -> ParsedFile:
    """Definitions by the word that introduces them, nested and ended by their indentation."""
    lines = source.data.decode("utf-8", "replace").split("\n")
    patterns = [(kind, re.compile(pattern)) for kind, pattern in language.line_patterns]
    found: list[tuple[int, str, str]] = []
    parents: list[int] = []
    ends: list[int] = []
    around: list[tuple[int, int]] = []  # indentation and index of the definitions that are still open
    for row, line in enumerate(lines):
        introduced = _find_introduced(patterns, line[:_LONGEST])
        if introduced is None:
            continue
        kind, name = introduced
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        while around and around[-1][0] >= indent:
            ends[around.pop()[1]] = row
        parents.append(around[-1][1] if around else -1)
        around.append((indent, len(found)))
        found.append((row, kind, name))
        ends.append(len(lines))
    definitions = tuple(
        Definition(
            name=name,
            kind=kind,
            span=Span(row + 1, _trim_end(lines, row, end)),
            line=row + 1,
            signature=lines[row].strip()[:300],
            parent=parent,
        )
        for (row, kind, name), end, parent in zip(found, ends, parents, strict=True)
    )
    return ParsedFile(language.name, len(lines) - (lines[-1] == ""), definitions)


def _find_introduced(patterns: Sequence[tuple[str, re.Pattern[str]]], line: str) -> tuple[str, str] | None:
    """Kind and name of what a line introduces, by the language's own patterns first."""
    for kind, pattern in patterns:
        if own := pattern.match(line):
            return kind, own["name"]
    if match := _LINE.match(line):
        return _KINDS.get(match["word"], "function"), match["name"]
    return None


def _trim_end(lines: list[str], row: int, end: int) -> int:
    """The last line that is not blank before the next definition at the same level."""
    lowest = max(row + 1, end - 50)
    while end > lowest and not lines[end - 1].strip():
        end -= 1
    return end
