"""Compare what is on disk with what the index holds. Looks at sizes and times only; contents come later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from laconic.index.schema import PARSER
from laconic.index.store import Store
from laconic.index.store.file_queries import read_stamps
from laconic.workspace.listing import Listed
from laconic.workspace.secrets import SECRET


class KnownFile(NamedTuple):
    """What the index remembers of a file to recognise a change."""

    size: int
    mtime_ns: int
    ctime_ns: int
    racy: int
    hash: bytes
    reason: str

    def same(self, item: Listed) -> bool:
        """Whether size and time prove that nothing changed."""
        if self[:3] != (item.size, item.mtime_ns, item.ctime_ns):
            return False
        if self.reason != item.trouble and (item.trouble or self.reason == SECRET):
            return False  # what counts as a secret is a setting
        return not self.racy or not self.hash


_FORGOTTEN: Final = KnownFile(-1, 0, 0, 0, b"", "")  # of what an older parser read nothing is taken over


@dataclass(frozen=True, slots=True)
class Changes:
    """What has to be done to be fresh."""

    suspects: tuple[Listed, ...]  # new, or perhaps changed
    gone: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.suspects) + len(self.gone)


def read_known_files(store: Store, paths: Sequence[str] | None = None) -> dict[str, KnownFile]:
    """What the index remembers, by path; of all files, or of some."""
    found: dict[str, KnownFile] = {}
    for stamp in read_stamps(store, paths):
        if stamp.parser < PARSER:
            found[stamp.path] = _FORGOTTEN
        else:
            found[stamp.path] = KnownFile._make(stamp[2:8])
    return found


def compare(listed: Iterable[Listed], remembered: Mapping[str, KnownFile]) -> Changes:
    """Files that are new, files that may have changed, and files that are gone."""
    suspects: list[Listed] = []
    seen: set[str] = set()
    for item in listed:
        seen.add(item.path)
        before = remembered.get(item.path)
        if before is None or not before.same(item):
            suspects.append(item)
    return Changes(tuple(suspects), tuple(path for path in remembered if path not in seen))
