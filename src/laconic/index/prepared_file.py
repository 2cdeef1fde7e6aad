"""One file made ready for the store: read, recognised, its words split.

It decides nothing about what is out of date and writes nothing.
"""

from __future__ import annotations

import time
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import Unreadable
from laconic.index.reference_blobs import pack
from laconic.index.schema import SHIFT
from laconic.index.search_words import WordRow, documents
from laconic.records import Definition, Import, ParsedFile, ParseFailure
from laconic.workspace.file_classes import class_of
from laconic.workspace.listing import ListedFile
from laconic.workspace.read_file import LIMIT, as_lines, is_binary, read_listed

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
    identifiers: str = ""
    words: list[WordRow] = []


def digest(data: bytes) -> bytes:
    """The content hash of a file."""
    return blake2b(data, digest_size=16).digest()


def skip_file(item: ListedFile, reason: str, data: bytes = b"", state: str = "skipped") -> PreparedFile:
    """A file that is listed with the reason why it is not searched."""
    file_class = class_of(item.path, data)
    return PreparedFile(
        item.path,
        item.size,
        item.mtime_ns,
        item.ctime_ns,
        time.time_ns(),
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


def assemble(
    item: ListedFile, data: bytes, outcome: ParsedFile | ParseFailure | None, checked_ns: int
) -> PreparedFile:
    """The rows of a file that was read and parsed; None: it is in no language that we know."""
    lines = as_lines(data)
    if isinstance(outcome, ParsedFile):
        found = outcome
    else:
        found = ParsedFile("", len(lines))
    definitions = found.definitions[: (1 << SHIFT) - 2]
    file_class = class_of(item.path, data)
    state = "parsed" if found.language else "text"
    if isinstance(outcome, ParseFailure):
        state = "failed"
    words = documents(item.path, lines, definitions, bare=file_class == "data")
    return PreparedFile(
        path=item.path,
        size=item.size,
        mtime_ns=item.mtime_ns,
        ctime_ns=item.ctime_ns,
        checked_ns=checked_ns,
        hash=digest(data),
        language=found.language,
        lines=len(lines),
        file_class=file_class,
        state=state,
        reason=outcome.reason if isinstance(outcome, ParseFailure) else "",
        package=found.package,
        faults=found.faults,
        definitions=definitions,
        imports=found.imports,
        exports=found.exports,
        refs=pack(found.references) if found.references else b"",
        identifiers=words.identifiers,
        words=words.rows,
    )
