"""Take parsed contents from elsewhere in place of parsing: from the workers' own file, or from a team's server.

Files are read and hashed here; only what the source does not have is parsed, and offered to it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from laconic.index.content_record import ContentRecord, content_key, describe_unparsed
from laconic.index.packed_record import BadRecord, pack_record, unpack_record
from laconic.index.parse.pool import ParseLimits, ParsePool
from laconic.index.parse_files import FileParser, ParseJob, WaitingFile, look_into, processes
from laconic.index.prepared_file import PreparedFile, assemble
from laconic.records import ParseFailure

_FILES: Final = 2_000  # asked about in one go
_BYTES: Final = 32_000_000  # of files that are held meanwhile
_FEW: Final = 40  # files for which starting processes takes longer than parsing


class ContentSource(Protocol):
    """Where packed records are, by content key."""

    def find(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]: ...

    def save(self, records: Mapping[bytes, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class SharingParser:
    """Reads, asks the source, and parses the rest."""

    source: ContentSource
    limits: ParseLimits | None = None
    parsers: int = 0  # 0: as many as suit the machine
    least: int = 0  # files below which asking takes longer than parsing

    def prepare(self, root: Path, jobs: Sequence[ParseJob]) -> Iterator[PreparedFile]:
        if len(jobs) < self.least:
            yield from FileParser(self.limits, self.parsers).prepare(root, jobs)
            return
        with ParsePool(self.parsers or processes(), self.limits) as pool:
            for some in _split(root, jobs):
                waiting: list[WaitingFile] = []
                for seen in some:
                    if isinstance(seen, PreparedFile):
                        yield seen
                    else:
                        waiting.append(seen)
                if waiting:
                    yield from self._take_or_parse(pool, waiting)

    def _take_or_parse(self, pool: ParsePool, waiting: Sequence[WaitingFile]) -> Iterator[PreparedFile]:
        keys = [content_key(file.item.path, file.data) for file in waiting]
        known = self.source.find(keys)
        rest: dict[str, tuple[bytes, WaitingFile]] = {}
        first: dict[bytes, str] = {}  # the one of several equal files that is parsed
        equal: list[tuple[bytes, WaitingFile]] = []
        for key, file in zip(keys, waiting, strict=True):
            if key in known:
                try:
                    record = unpack_record(known[key])
                except BadRecord:
                    pass
                else:
                    yield assemble(file.item, file.data, record, file.checked_ns)
                    continue
            if key in first:
                equal.append((key, file))
            else:
                first[key] = file.item.path
                rest[file.item.path] = (key, file)
        fresh: dict[bytes, bytes] = {}
        for path, outcome in _parse(pool, [(path, file.data) for path, (_, file) in rest.items()]):
            key, file = rest[path]
            if isinstance(outcome, ParseFailure):  # of this machine, perhaps: not for others
                outcome = describe_unparsed(file.data, outcome.reason)
            else:
                fresh[key] = pack_record(outcome)
            yield assemble(file.item, file.data, outcome, file.checked_ns)
            for other_key, other in equal:
                if other_key == key:
                    yield assemble(other.item, other.data, outcome, other.checked_ns)
        if fresh:
            self.source.save(fresh)


def _parse(pool: ParsePool, files: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, ContentRecord | ParseFailure]]:
    if len(files) > _FEW:
        yield from pool.parse_many(iter(files))
        return
    for path, data in files:
        yield path, pool.parse_one(path, data)


def _split(root: Path, jobs: Sequence[ParseJob]) -> Iterator[list[PreparedFile | WaitingFile]]:
    some: list[PreparedFile | WaitingFile] = []
    volume = 0
    for job in jobs:
        some.append(look_into(root, job))
        volume += job.item.size
        if len(some) >= _FILES or volume >= _BYTES:
            yield some
            some, volume = [], 0
    if some:
        yield some
