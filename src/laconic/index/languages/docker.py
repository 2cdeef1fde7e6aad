"""Dockerfiles: stages, arguments and base images, by lines: the format has no nesting."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Definition, Import, ParsedFile, Span

_FROM: Final = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_VALUE: Final = re.compile(r"^\s*(?:ARG|ENV)\s+([A-Za-z_]\w*)", re.IGNORECASE)


def _parse(source: Source) -> ParsedFile:
    lines = source.data.decode("utf-8", "replace").splitlines()
    starts = [number for number, line in enumerate(lines) if _FROM.match(line)]
    ends = dict(zip(starts, [*starts[1:], len(lines)], strict=False))
    definitions: list[Definition] = []
    imports: list[Import] = []
    stage = -1
    for number, line in enumerate(lines):
        if match := _FROM.match(line):
            name = match[2] or f"stage {len(imports)}"
            stage = len(definitions)
            definitions.append(
                Definition(
                    name=name,
                    kind="module",
                    span=Span(number + 1, ends[number]),
                    line=number + 1,
                    signature=line.strip(),
                )
            )
            imports.append(Import(match[1], number + 1, alias=match[2] or ""))
        elif match := _VALUE.match(line):
            span = Span(number + 1, number + 1)
            definitions.append(
                Definition(
                    name=match[1],
                    kind="variable",
                    span=span,
                    line=number + 1,
                    signature=line.strip()[:160],
                    parent=stage,
                )
            )
    return ParsedFile("dockerfile", len(lines), tuple(definitions), imports=tuple(imports))


LANGUAGE: Final = Language(
    name="dockerfile",
    extensions=(".dockerfile",),
    filenames=("Dockerfile", "Containerfile"),
    prefixes=("Dockerfile", "Containerfile"),
    by_lines=_parse,
)
