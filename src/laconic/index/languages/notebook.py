"""Jupyter notebooks: cells of code are read in the notebook's language, headings as Markdown, outputs are passed over.

A notebook is JSON with a line for each line of a cell, so what is read keeps the lines of the file; columns are those of
the file too, as far as nothing before them is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from laconic.index.language import Language
from laconic.index.languages.python import LANGUAGE as PYTHON
from laconic.index.parse.source import Source
from laconic.records import Definition, ParsedFile, Reference

_KIND: Final = re.compile(rb'\s*"cell_type":\s*"(\w+)"')
_BEGIN: Final = re.compile(rb'\s*"source":\s*\[\s*$')
_WHOLE: Final = re.compile(rb'\s*"source":\s*("(?:[^"\\]|\\.)*"),?\s*$')
_ROW: Final = re.compile(rb'(\s*)("(?:[^"\\]|\\.)*"),?\s*$')
_EXTENSION: Final = re.compile(rb'"file_extension":\s*"(\.\w+)"')  # what files of the notebook's language are called
_COMMANDS: Final = (b"%", b"!", b"?")  # lines for the notebook itself, not for its language
_OTHER_LANGUAGE: Final = b"%%"  # the first line of a cell that something else reads


class _CellLine(msgspec.Struct, frozen=True):
    """A line of a cell: its row in the file, the column at which its text begins there, and the text."""

    row: int
    column: int
    text: bytes


def _parse(source: Source) -> ParsedFile:
    from laconic.index.languages import all_languages
    from laconic.index.parse.detect import language_of
    from laconic.index.parse.extract import parse_as  # it imports what this module is part of

    code: list[_CellLine] = []
    prose: list[_CellLine] = []
    for kind, lines in _find_cells(source.lines):
        if kind == b"code":
            code += _keep_code(lines)
        elif kind == b"markdown":
            prose += lines
    said = _EXTENSION.search(source.data)
    language = language_of(f"cell{said[1].decode()}") if said else None
    read = parse_as(language or PYTHON, source.path, _place(code, len(source.lines)))
    headings = parse_as(all_languages()["markdown"], source.path, _place(prose, len(source.lines))).definitions
    return msgspec.structs.replace(
        read,
        language=LANGUAGE.name,
        lines=source.count,
        definitions=_join(read.definitions, headings),
        references=_shift(read.references, code),
    )


def _find_cells(rows: list[bytes]) -> Iterator[tuple[bytes, list[_CellLine]]]:
    """The cells with their kinds. Notebooks are written with sorted keys: the kind of a cell comes before its text."""
    kind = b""
    found: list[_CellLine] | None = None
    for number, row in enumerate(rows):
        if found is not None:
            if line := _read_row(number, row):
                found.append(line)
                continue
            yield kind, found
            found = None
        if match := _KIND.match(row):
            kind = match[1]
        elif _BEGIN.match(row):
            found = []
        elif match := _WHOLE.match(row):
            yield kind, [_CellLine(number, match.start(1) + 1, _read_text(match[1]))]


def _read_row(number: int, row: bytes) -> _CellLine | None:
    match = _ROW.match(row)
    if match is None:
        return None
    return _CellLine(number, match.start(2) + 1, _read_text(match[2]))


def _read_text(quoted: bytes) -> bytes:
    """The first line of a string: what stands on one row of the file is one row of the cell."""
    try:
        text: str = msgspec.json.decode(quoted, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b""
    return text.split("\n", 1)[0].encode("utf-8", "replace")


def _keep_code(lines: list[_CellLine]) -> list[_CellLine]:
    if lines and lines[0].text.startswith(_OTHER_LANGUAGE):
        return []
    return [line for line in lines if not line.text.lstrip().startswith(_COMMANDS)]


def _place(lines: list[_CellLine], count: int) -> bytes:
    """A text of this many lines, with these in their places and nothing else."""
    rows = [b""] * count
    for line in lines:
        rows[line.row] = line.text
    return b"\n".join(rows)


def _join(code: tuple[Definition, ...], headings: tuple[Definition, ...]) -> tuple[Definition, ...]:
    """All of them; what encloses a heading has moved behind the code."""
    moved = []
    for heading in headings:
        parent = heading.parent + len(code) if heading.parent >= 0 else -1
        moved.append(msgspec.structs.replace(heading, parent=parent))
    return code + tuple(moved)


def _shift(references: tuple[Reference, ...], code: list[_CellLine]) -> tuple[Reference, ...]:
    columns = {line.row + 1: line.column for line in code}
    moved = []
    for each in references:
        moved.append(msgspec.structs.replace(each, column=each.column + columns.get(each.line, 0)))
    return tuple(moved)


LANGUAGE: Final = Language(
    name="notebook", aliases=("ipynb", "jupyter"), extensions=(".ipynb",), by_lines=_parse, dialect=PYTHON.dialect
)
