"""The rows of an index as records."""

from __future__ import annotations

from typing import Final, NamedTuple

from laconic.index.schema import file_of
from laconic.records import Span


class File(NamedTuple):
    """A row of `files`."""

    id: int
    path: str
    language: str
    size: int
    mtime_ns: int
    ctime_ns: int
    checked_ns: int
    hash: bytes
    lines: int
    file_class: str
    state: str
    reason: str
    package: str
    faults: int


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


CALLABLE: Final = frozenset(
    {"function", "method", "constructor", "macro"}
)  # kinds of symbols that have a body to run
