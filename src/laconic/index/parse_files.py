"""Turn files that may have changed into rows: a few in this process, many with the help of parser processes."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from laconic.index.content_record import ContentRecord, describe_unparsed, digest
from laconic.index.parse.pool import ParseLimits, ParsePool
from laconic.index.prepared_file import HELD, PreparedFile, assemble, read
from laconic.records import ParseFailure
from laconic.workspace.listing import ListedFile

_FEW: Final = 40  # files for which starting processes takes longer than parsing


class ParseJob(NamedTuple):
    """One file to look into; `held` are the hashes of the versions of it that the index holds."""

    item: ListedFile
    held: frozenset[bytes]


class FilePreparer(Protocol):
    """Turns jobs into rows, in any order."""

    def prepare(self, root: Path, jobs: Collection[ParseJob]) -> Iterator[PreparedFile]: ...


def processes() -> int:
    """How many parsers suit the machine: one per processor, at most four, since one process writes."""
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class FileParser:
    """Reads and parses."""

    limits: ParseLimits | None = None
    parsers: int = 0  # 0: as many as suit the machine

    def prepare(self, root: Path, jobs: Collection[ParseJob]) -> Iterator[PreparedFile]:
        with ParsePool(self.parsers or processes(), self.limits) as pool:
            if len(jobs) <= _FEW:
                yield from _few(pool, root, jobs)
            else:
                yield from _many(pool, root, jobs)


class WaitingFile(NamedTuple):
    """A file that was read and has to be parsed."""

    item: ListedFile
    data: bytes
    checked_ns: int


def _few(pool: ParsePool, root: Path, jobs: Iterable[ParseJob]) -> Iterator[PreparedFile]:
    for job in jobs:
        seen = look_into(root, job)
        if isinstance(seen, PreparedFile):
            yield seen
        else:
            yield _assemble(seen, pool.parse_one(seen.item.path, seen.data))


def _many(pool: ParsePool, root: Path, jobs: Iterable[ParseJob]) -> Iterator[PreparedFile]:
    """The pool asks for files when it has room; what needs no parser is answered on the way."""
    waiting: dict[str, WaitingFile] = {}
    ready: deque[PreparedFile] = deque()

    def files() -> Iterator[tuple[str, bytes]]:
        for job in jobs:
            seen = look_into(root, job)
            if isinstance(seen, PreparedFile):
                ready.append(seen)
            else:
                waiting[job.item.path] = seen
                yield job.item.path, seen.data

    for path, outcome in pool.parse_many(files()):
        while ready:
            yield ready.popleft()
        yield _assemble(waiting.pop(path), outcome)
    yield from ready


def _assemble(file: WaitingFile, outcome: ContentRecord | ParseFailure) -> PreparedFile:
    if isinstance(outcome, ParseFailure):
        outcome = describe_unparsed(file.data, outcome.reason)
    return assemble(file.item, file.data, outcome, file.checked_ns)


def look_into(root: Path, job: ParseJob) -> PreparedFile | WaitingFile:
    """Read a file; it is ready when it cannot be read or the index holds it."""
    checked = time.time_ns()
    data = read(root, job.item)
    if isinstance(data, PreparedFile):
        return data
    item = job.item
    if job.held and (key := digest(data)) in job.held:
        return PreparedFile(
            path=item.path,
            size=item.size,
            mtime_ns=item.mtime_ns,
            ctime_ns=item.ctime_ns,
            checked_ns=checked,
            hash=key,
            state=HELD,
        )
    return WaitingFile(item, data, checked)
