"""One file made ready for the store: its content record at its path.

It decides nothing about what is out of date and writes nothing.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import Unreadable
from laconic.index.content_record import ContentRecord, digest
from laconic.index.search_words import WordRow, place_words
from laconic.records import Definition, Import
from laconic.workspace.file_classes import class_of
from laconic.workspace.listing import ListedFile
from laconic.workspace.read_file import LIMIT, is_binary, read_listed

HELD: Final = "held"


class PreparedFile(msgspec.Struct, frozen=True, array_like=True):
    """Everything that the store keeps of one file. In the state HELD only its hash is given: the store has the rest."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    checked_ns: int
    hash: bytes = b""
    language: str = ""
    lines: int = 0
    file_class: str = "source"
    state: str = "text"
    reason: str = ""
    package: str = ""
    faults: int = 0
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] = ()
    refs: bytes = b""
    mentioned: str = ""
    identifiers: str = ""
    words: list[WordRow] = []


def skip_file(item: ListedFile, reason: str, data: bytes = b"", state: str = "skipped") -> PreparedFile:
    """A file that is listed with the reason why it is not searched."""
    file_class = class_of(item.path, data)
    return PreparedFile(
        path=item.path,
        size=item.size,
        mtime_ns=item.mtime_ns,
        ctime_ns=item.ctime_ns,
        checked_ns=time.time_ns(),
        hash=digest(data) if data else b"",
        file_class=file_class,
        state=state,
        reason=reason,
    )


def read(root: Path, item: ListedFile) -> bytes | PreparedFile:
    """The bytes of a file that holds text, or the row that says why it is not searched."""
    if item.trouble:
        return skip_file(item, item.trouble)
    try:
        data = read_listed(f"{root}/{item.path}", item.path)
    except Unreadable as error:
        return skip_file(item, f"{item.size:,} bytes, over {LIMIT:,}" if item.size > LIMIT else error.problem)
    if is_binary(data):
        return skip_file(item, "binary", data)
    return data


def assemble(item: ListedFile, data: bytes, record: ContentRecord, checked_ns: int) -> PreparedFile:
    """The rows of a file that was read and parsed: its record at its path."""
    file_class = class_of(item.path, data)
    state = "parsed" if record.language else "text"
    if record.reason:
        state = "failed"
    return PreparedFile(
        path=item.path,
        size=item.size,
        mtime_ns=item.mtime_ns,
        ctime_ns=item.ctime_ns,
        checked_ns=checked_ns,
        hash=digest(data),
        language=record.language,
        lines=record.lines,
        file_class=file_class,
        state=state,
        reason=record.reason,
        package=record.package,
        faults=record.faults,
        definitions=record.definitions,
        imports=record.imports,
        exports=record.exports,
        refs=record.refs,
        mentioned=record.mentioned,
        identifiers=record.words.identifiers,
        words=place_words(item.path, record.words, bare=file_class == "data"),
    )
