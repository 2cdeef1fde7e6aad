"""Finds the uses of a symbol in an index that another program wrote (`index.scip`). Believes only what is still there.

The file may be old, cut off or made to mislead: an occurrence counts only where the text of the file, as it is now, has
the symbol's name at its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

from laconic.index.scip.messages import DEFINITION, IMPORT, UTF8, UTF16, UTF32, WRITE, parse

FILE: Final = "index.scip"
LARGEST: Final = 256_000_000  # bytes that are read; a larger index is passed over
_DOCUMENT: Final = 16_000_000  # bytes of one document; a larger one takes hundreds of times its size to read
_SECONDS: Final = 3.0  # of work on one question; then what was found so far is the answer
_DOCUMENTS: Final = 2 << 3 | 2  # the key of a document in the file
_VARINT: Final = 0
_SIZED: Final = 2
_FIXED: Final = {1: 8, 5: 4}  # sizes of values by wire type

Lines = Callable[[str], Sequence[str]]  # of a file of the workspace, as it is now


class ScipUse(NamedTuple):
    """One place where a symbol is used, as another indexer says."""

    path: str
    line: int  # from 1
    column: int  # in bytes
    kind: str
    is_same: bool  # of the symbol that was asked for; else of another one of its name


def find_uses(data: bytes, path: str, line: int, name: str, lines: Lines) -> list[ScipUse]:
    """All places that mention the name of a definition, if the index knows that definition."""
    until = time.thread_time() + _SECONDS
    same = _find_symbols(data, until, (path, line, name), lines)
    if not same:
        return []
    found: list[ScipUse] = []
    for document in _read_documents(data, name.encode(), until):
        known = same if document.relative_path == path else {each for each in same if not _is_local(each)}
        found += _read_uses(document, known, name, lines, until)
    return found


def _read_documents(data: bytes, word: bytes, until: float) -> Iterator[Any]:
    """The documents that hold a word."""
    for start, end in _list_documents(data, until):
        if end - start <= _DOCUMENT and data.find(word, start, end) >= 0:
            document = parse("Document", data[start:end])
            if document is not None:
                yield document


def _list_documents(data: bytes, until: float) -> Iterator[tuple[int, int]]:
    """Where the documents of an index are; ends where the file makes no sense, or takes too long."""
    at = 0
    while at < len(data) and time.thread_time() < until:
        key, at = _read_number(data, at)
        kind = key & 7
        if kind == _VARINT:
            _, at = _read_number(data, at)
        elif kind in _FIXED:
            at += _FIXED[kind]
        elif kind == _SIZED:
            size, at = _read_number(data, at)
            if at + size > len(data):
                return
            if key == _DOCUMENTS:
                yield at, at + size
            at += size
        else:
            return


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where the next thing begins."""
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            break
        shift += 7
    return value, at


def _find_symbols(data: bytes, until: float, wanted: tuple[str, int, str], lines: Lines) -> frozenset[str]:
    """The names that the index gives to what is defined at a place."""
    path, line, name = wanted
    for document in _read_documents(data, path.encode(), until):
        if document.relative_path != path:
            continue
        found = set()
        for each in document.occurrences:
            if time.thread_time() > until:
                break
            here = each.symbol_roles & DEFINITION and each.range and each.range[0] + 1 == line
            if here and _find_column(document, each, name, lines) is not None:
                found.add(str(each.symbol))
        return frozenset(found)
    return frozenset()


def _is_local(symbol: str) -> bool:
    """Whether a symbol means something in its own document only."""
    return symbol.startswith("local ")


def _read_uses(document: Any, same: Set[str], name: str, lines: Lines, until: float) -> Iterator[ScipUse]:
    for each in document.occurrences:
        if time.thread_time() > until:
            return
        if each.symbol_roles & DEFINITION or (each.symbol not in same and not _has_length(each, len(name))):
            continue
        column = _find_column(document, each, name, lines)
        if column is None:
            continue
        kind = "read"
        if each.symbol_roles & IMPORT:
            kind = "import"
        elif each.symbol_roles & WRITE:
            kind = "write"
        yield ScipUse(
            path=str(document.relative_path),
            line=each.range[0] + 1,
            column=column,
            kind=kind,
            is_same=each.symbol in same,
        )


def _has_length(occurrence: Any, length: int) -> bool:
    """Whether an occurrence is as long as a name: a quick look before its text is read."""
    return len(occurrence.range) == 3 and occurrence.range[2] - occurrence.range[1] == length


def _find_column(document: Any, occurrence: Any, name: str, lines: Lines) -> int | None:
    """The byte at which the name is in its line; nothing when the text no longer has it there."""
    if len(occurrence.range) not in {3, 4} or min(occurrence.range) < 0:
        return None
    row, column = occurrence.range[0], occurrence.range[1]
    text = lines(str(document.relative_path))
    if row >= len(text):
        return None
    line = text[row]
    encodings = (document.position_encoding,) if document.position_encoding else (UTF16, UTF32, UTF8)
    for encoding in encodings:
        before = _take(line, column, encoding)
        if before is not None and line.startswith(name, len(before)):
            return len(before.encode())
    return None


def _take(line: str, column: int, encoding: int) -> str | None:
    """The beginning of a line up to a column, however that is counted."""
    if encoding == UTF32:
        return line[:column]
    codec = "utf-8" if encoding == UTF8 else "utf-16-le"
    size = column if encoding == UTF8 else 2 * column
    try:
        return line.encode(codec, "surrogatepass")[:size].decode(codec)
    except UnicodeDecodeError:
        return None
