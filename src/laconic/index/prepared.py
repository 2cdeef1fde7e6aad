"""One file made ready for the store: read, recognised, parsed, its words split. Runs in worker processes.

It decides nothing about what is out of date and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import msgspec

from laconic.errors import Unreadable
from laconic.index.packed import pack
from laconic.index.schema import SHIFT
from laconic.index.words import Words, documents
from laconic.records import Definition, Import, Parsed
from laconic.workspace.classes import class_of
from laconic.workspace.listing import Listed
from laconic.workspace.reading import LIMIT, as_text, is_binary, read_bytes

Parse = Callable[[str, bytes], Parsed | None]  # path and contents; None: no grammar


class Prepared(msgspec.Struct, frozen=True, array_like=True):
    """Everything that the store keeps of one file."""

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
    mentions: str = ""
    text: str = ""
    words: tuple[Words, ...] = ()


def digest(data: bytes) -> bytes:
    """The content hash of a file."""
    return blake2b(data, digest_size=16).digest()


def skipped(item: Listed, reason: str, data: bytes = b"", state: str = "skipped") -> Prepared:
    """A file that is listed with the reason why it is not searched."""
    file_class = class_of(item.path, data)
    return Prepared(
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


def prepare(root: Path, item: Listed, parse: Parse) -> Prepared:
    """Read and parse one file; trouble becomes a row with its reason."""
    if item.trouble:
        return skipped(item, item.trouble)
    checked = time.time_ns()
    try:
        data = read_bytes(root, item.path)
    except Unreadable as error:
        return skipped(item, f"{item.size:,} bytes, over {LIMIT:,}" if item.size > LIMIT else error.problem)
    if is_binary(data):
        return skipped(item, "binary", data)
    parsed = parse(item.path, data)
    return assemble(item, data, parsed, checked)


def assemble(item: Listed, data: bytes, parsed: Parsed | None, checked_ns: int) -> Prepared:
    """The rows of a file that was read and parsed."""
    text = as_text(data)
    lines = text.splitlines()
    file_class = class_of(item.path, data)
    found = Parsed("", len(lines)) if parsed is None else parsed
    definitions = found.definitions[: (1 << SHIFT) - 2]
    return Prepared(
        item.path,
        item.size,
        item.mtime_ns,
        item.ctime_ns,
        checked_ns,
        digest(data),
        found.language,
        len(lines),
        file_class,
        "text" if parsed is None else "parsed",
        "",
        found.package,
        found.faults,
        definitions,
        found.imports,
        found.exports,
        pack(found.references) if found.references else b"",
        " ".join(sorted({ref.name for ref in found.references})),
        text.replace("\0", " "),  # the tokenizer would stop there
        tuple(documents(item.path, lines, definitions)),
    )
