"""TOML: tables, and keys outside tables or in tables near the top, by lines: its grammar hangs on hostile input."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Definition, ParsedFile, Span

_TABLE: Final = re.compile(r"^\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY: Final = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_MOST: Final = 400  # keys of one file


def _parse(source: Source) -> ParsedFile:
    lines = source.data.decode("utf-8", "replace").splitlines()
    definitions: list[Definition] = []
    tables = [number for number, line in enumerate(lines) if _TABLE.match(line[:500])]
    table, quote = -1, ""
    for number, line in enumerate(lines):
        if quote:  # inside a string of several lines
            quote = "" if quote in line else quote
            continue
        if (match := _TABLE.match(line[:500])) and len(definitions) < _MOST:
            end = next((start for start in tables if start > number), len(lines))
            while end > number + 1 and not lines[end - 1].strip():
                end -= 1
            table = len(definitions)
            definitions.append(
                Definition(
                    name=match[1],
                    kind="key",
                    span=Span(number + 1, end),
                    line=number + 1,
                    signature=line.strip()[:160],
                )
            )
        elif (match := _KEY.match(line[:500])) and len(definitions) < _MOST:
            span, text = Span(number + 1, number + 1), line.strip()[:160]
            definitions.append(
                Definition(
                    name=match[1].strip("\"'"), kind="key", span=span, line=number + 1, signature=text, parent=table
                )
            )
        quote = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")
    return ParsedFile("toml", len(lines), tuple(definitions))


LANGUAGE: Final = Language(
    name="toml",
    extensions=(".toml",),
    filenames=("Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"),
    by_lines=_parse,
)
