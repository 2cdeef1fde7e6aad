"""Which files a workspace has, with the sizes and times that tell whether they changed.

Git decides where there is git, ignore files where not. Nothing outside the workspace is ever looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from laconic.workspace import git
from laconic.workspace.checkouts import is_work_tree_of
from laconic.workspace.ignore_files import IgnoreFiles
from laconic.workspace.secrets import NO_EXCEPTIONS, SECRET, SecretFiles

_NEVER: Final = frozenset({b".git", b".hg", b".svn", b".jj"})


class ListedFile(NamedTuple):
    """One file as the disk shows it."""

    path: str  # relative, forward slashes
    size: int
    mtime_ns: int
    ctime_ns: int = 0  # catches a change that keeps size and time of writing
    trouble: str = ""  # why it cannot be indexed, if that is already clear


def listing(root: Path, secrets: SecretFiles = NO_EXCEPTIONS) -> list[ListedFile]:
    """All files of a workspace, sorted by path."""
    found = {}
    for folder in list_folders(root):
        for item in folder.list_files(secrets):
            found[item.path] = item
    return [found[path] for path in sorted(found)]


class FolderFiles:
    """The files directly in one folder of a workspace, as the disk shows them."""

    __slots__ = ("_found", "_prefix", "_top", "path")

    def __init__(self, top: bytes, prefix: bytes, folder: bytes, found: list[tuple[bytes, os.stat_result]]) -> None:
        self._top = top
        self._prefix = prefix  # of the repository that they belong to
        self._found = found
        self.path = _decode(prefix + folder).rstrip("/")  # relative; empty: the top itself

    def __len__(self) -> int:
        return len(self._found)

    def list_files(self, secrets: SecretFiles) -> Iterator[ListedFile]:
        for name, status in self._found:
            whole = self._prefix + name
            yield _list_file(self._top, self._top + b"/" + whole, whole, status, secrets)

    def digest(self, salt: bytes) -> bytes:
        """A hash of all names, sizes and times: while it is the same, nothing in the folder has changed."""
        rows = []
        for name, status in self._found:
            trouble = ""
            if not stat.S_ISREG(status.st_mode):
                trouble = _file_trouble(self._top, self._top + b"/" + self._prefix + name, status)
            rows.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode, trouble))
        return blake2b(msgspec.msgpack.encode(rows), digest_size=12, salt=salt).digest()

    @property
    def newest_ns(self) -> int:
        """When the last of them was written or changed."""
        return max((max(status.st_mtime_ns, status.st_ctime_ns) for _, status in self._found), default=0)


def list_folders(root: Path) -> Iterator[FolderFiles]:
    """The folders of a workspace with their files; one that has none of its own may be left out."""
    top = os.fsencode(root.resolve())
    yield from _below(top, b"", top)


def _below(top: bytes, prefix: bytes, repository: bytes) -> Iterator[FolderFiles]:
    names = git.list_files(Path(os.fsdecode(repository)))
    # A workspace that an outer repository ignores as a whole is still a workspace.
    folders = _group(names) if names else IgnoreFiles(repository).walk(_NEVER)
    for folder, files in folders:
        found: list[tuple[bytes, os.stat_result]] = []
        inner: list[bytes] = []
        for name in files:
            try:
                status = os.lstat(repository + b"/" + name)
            except (OSError, ValueError):
                continue  # deleted, but still known to git
            if stat.S_ISDIR(status.st_mode):
                inner.append(name)
            else:
                found.append((name, status))
        yield FolderFiles(top, prefix, folder, found)
        for name in inner:
            full = repository + b"/" + name
            if name.rsplit(b"/", 1)[-1] not in _NEVER and _is_other_repository(repository, full):
                yield from _below(top, prefix + name + b"/", full)


def _group(names: Iterable[bytes]) -> Iterable[tuple[bytes, list[bytes]]]:
    """Names by their folder, which ends in a slash."""
    found: dict[bytes, list[bytes]] = {}
    for name in sorted(names):
        found.setdefault(name[: name.rfind(b"/") + 1], []).append(name)
    return found.items()


def _is_other_repository(outer: bytes, inner: bytes) -> bool:
    """Whether a folder has a repository of its own; a linked work tree of ours is another checkout, not more files."""
    entry = inner + b"/.git"
    if not os.path.lexists(entry):
        return False
    if not stat.S_ISREG(os.lstat(entry).st_mode):
        return True
    return not is_work_tree_of(Path(os.fsdecode(inner)), Path(os.fsdecode(outer)))


def look(root: Path, path: str, secrets: SecretFiles = NO_EXCEPTIONS) -> ListedFile | None:
    """One file as the disk shows it now; None if it is not there."""
    top = os.fsencode(root.resolve())
    name = os.fsencode(path)
    full = top + b"/" + name
    try:
        status = os.lstat(full)
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(status.st_mode):
        return None
    return _list_file(top, full, name, status, secrets)


def _list_file(top: bytes, full: bytes, name: bytes, status: os.stat_result, secrets: SecretFiles) -> ListedFile:
    trouble = _file_trouble(top, full, status)
    path = name.decode("utf-8", "backslashreplace")
    if path.encode() != name:
        trouble = "its name is not UTF-8"
    elif not trouble and secrets.is_secret(path):
        trouble = SECRET
    return ListedFile(
        path=_decode(name),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        trouble=trouble,
    )


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace").replace(os.sep, "/")


def _file_trouble(top: bytes, full: bytes, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return _link_trouble(top, full)
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return ""


def _link_trouble(top: bytes, full: bytes) -> str:
    """Why a link is not indexed; what it points to is listed under its own name, and a copy would double every hit."""
    try:
        target = os.path.realpath(full)
    except OSError as error:
        return f"a link that cannot be followed: {error.strerror}"
    if not target.startswith(top + b"/"):
        return "a link that leaves the workspace"
    return f"a link to {os.fsdecode(target[len(top) + 1 :])}"
