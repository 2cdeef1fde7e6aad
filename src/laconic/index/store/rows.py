"""The rows of an index as records."""

from __future__ import annotations

from typing import Final, NamedTuple

from laconic.index.prepared_file import PreparedFile
from laconic.index.schema import file_of
from laconic.records import Span

_SECOND: Final = 1_000_000_000
_TICK: Final = _SECOND // 20  # clocks of file systems stand still for some milliseconds


class File(NamedTuple):
    """A row of `files`."""

    id: int
    path: str
    language: str
    size: int
    mtime_ns: int
    ctime_ns: int
    racy: int
    hash: bytes
    lines: int
    file_class: str
    state: str
    reason: str
    package: str
    faults: int
    defined: int
    parser: int


class StoredVersion(NamedTuple):
    """A version of a file, and one of the folders whose checkout holds it; None: nobody does."""

    id: int
    path: str
    hash: bytes
    file_class: str
    state: str
    root: str | None


class Symbol(NamedTuple):
    """A row of `symbols`."""

    id: int
    name: str
    folded: str
    qualified: str
    kind: str
    start: int
    end: int
    line: int
    signature: str
    doc: str
    parent: int | None
    visibility: str
    modifiers: str  # separated by spaces
    bases: str  # separated by line feeds, as written
    test: int

    @property
    def file(self) -> int:
        return file_of(self.id)

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


def is_racy(file: PreparedFile) -> bool:
    """Whether a file was looked at so soon after it was written that a later write may carry the same time."""
    step = 2 * _SECOND  # whole seconds: a coarse file system
    if file.mtime_ns % _SECOND:
        step = _TICK
    return max(file.mtime_ns, file.ctime_ns) + step >= file.checked_ns
