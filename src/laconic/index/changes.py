"""Compare what is on disk with what the index holds. Looks at sizes and times only; contents come later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from laconic.index.schema import PARSER
from laconic.index.store import Store
from laconic.index.store.file_queries import FileStamp, read_stamps
from laconic.workspace.listing import ListedFile
from laconic.workspace.secrets import SECRET

_FORGOTTEN: Final = FileStamp(path="", id=0, size=-1, mtime_ns=0, ctime_ns=0, racy=0, hash=b"", reason="", parser=0)


@dataclass(frozen=True, slots=True)
class StaleFiles:
    """What has to be done to be fresh."""

    suspects: tuple[ListedFile, ...]  # new, or perhaps changed
    gone: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.suspects) + len(self.gone)


def read_known_files(store: Store, paths: Sequence[str] | None = None) -> dict[str, FileStamp]:
    """What the index remembers, by path; of all files, or of some. Of what an older parser read nothing is taken over."""
    found: dict[str, FileStamp] = {}
    for stamp in read_stamps(store, paths):
        if stamp.parser < PARSER:
            found[stamp.path] = _FORGOTTEN
        else:
            found[stamp.path] = stamp
    return found


def is_same(stamp: FileStamp, item: ListedFile) -> bool:
    """Whether size and time prove that nothing changed."""
    if (stamp.size, stamp.mtime_ns, stamp.ctime_ns) != (item.size, item.mtime_ns, item.ctime_ns):
        return False
    if stamp.reason != item.trouble and (item.trouble or stamp.reason == SECRET):
        return False  # what counts as a secret is a setting
    return not stamp.racy or not stamp.hash


def compare(listed: Iterable[ListedFile], remembered: Mapping[str, FileStamp]) -> StaleFiles:
    """Files that are new, files that may have changed, and files that are gone."""
    suspects: list[ListedFile] = []
    seen: set[str] = set()
    for item in listed:
        seen.add(item.path)
        before = remembered.get(item.path)
        if before is None or not is_same(before, item):
            suspects.append(item)
    return StaleFiles(tuple(suspects), tuple(path for path in remembered if path not in seen))
