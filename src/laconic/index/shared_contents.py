"""Take parsed contents from elsewhere in place of parsing: from the workers' own file, or from a team's server.

Files are read and hashed here; only what the source does not have is parsed, and offered to it afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from laconic.index.content_record import ContentRecord, content_key, describe_unparsed
from laconic.index.packed_record import BadRecord, pack_record, unpack_record
from laconic.index.parse.pool import ParseLimits, ParsePool
from laconic.index.parse_files import FileParser, ParseJob, WaitingFile, look_into, processes
from laconic.index.prepared_file import PreparedFile, assemble
from laconic.records import ParseFailure

_FILES: Final = 500  # asked about in one go
_BYTES: Final = 32_000_000  # of files that are held meanwhile
_SAVED: Final = 50  # records that are saved at once: what a killed process loses
_LOOK: Final = 0.1  # seconds between two looks at what it has done
_FEW: Final = 40  # files for which starting processes takes longer than parsing


class ContentSource(Protocol):
    """Where packed records are, by content key."""

    def find(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]: ...

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those that nobody else is parsing."""

    def save(self, records: Mapping[bytes, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class SharingParser:
    """Reads, asks the source, and parses the rest."""

    source: ContentSource
    limits: ParseLimits | None = None
    parsers: int = 0  # 0: as many as suit the machine
    least: int = 0  # files below which asking takes longer than parsing

    def prepare(self, root: Path, jobs: Collection[ParseJob]) -> Iterator[PreparedFile]:
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
        """Records that are known, then those that are ours to parse, then those that another process is parsing."""
        files: dict[bytes, list[WaitingFile]] = {}
        for file in waiting:
            files.setdefault(content_key(file.item.path, file.data), []).append(file)
        yield from self._take(files)
        while files:
            yield from self._parse(pool, files, self.source.claim(files))
            if files:
                time.sleep(_LOOK)
                yield from self._take(files)

    def _take(self, files: dict[bytes, list[WaitingFile]]) -> Iterator[PreparedFile]:
        """What the source has; taken out of `files`."""
        for key, packed in self.source.find(files).items():
            try:
                record = unpack_record(packed)
            except BadRecord:
                continue
            for file in files.pop(key):
                yield assemble(file.item, file.data, record, file.checked_ns)

    def _parse(
        self, pool: ParsePool, files: dict[bytes, list[WaitingFile]], keys: set[bytes]
    ) -> Iterator[PreparedFile]:
        """Parse some, one of each content; taken out of `files`."""
        named: dict[str, bytes] = {}
        for key in files:
            if key in keys:
                named[files[key][0].item.path] = key
        fresh: dict[bytes, bytes] = {}
        for path, outcome in _parse(pool, [(path, files[key][0].data) for path, key in named.items()]):
            key = named[path]
            same = files.pop(key)
            if isinstance(outcome, ParseFailure):  # of this machine, perhaps: not for others
                outcome = describe_unparsed(same[0].data, outcome.reason)
            else:
                fresh[key] = pack_record(outcome)
            if len(fresh) >= _SAVED:
                self.source.save(fresh)
                fresh = {}
            for file in same:
                yield assemble(file.item, file.data, outcome, file.checked_ns)
        if fresh:
            self.source.save(fresh)


def _parse(pool: ParsePool, files: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, ContentRecord | ParseFailure]]:
    if len(files) > _FEW:
        yield from pool.parse_many(iter(files))
        return
    for path, data in files:
        yield path, pool.parse_one(path, data)


def _split(root: Path, jobs: Collection[ParseJob]) -> Iterator[list[PreparedFile | WaitingFile]]:
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
