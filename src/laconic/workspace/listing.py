"""Which files a workspace has, with the sizes and times that tell whether they changed.

Git decides where there is git, ignore files where not. Nothing outside the workspace is ever looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from laconic.workspace import git
from laconic.workspace.checkouts import is_work_tree_of
from laconic.workspace.ignoring import Ignored
from laconic.workspace.secrets import NO_EXCEPTIONS, SECRET, SecretFiles

_NEVER: Final = frozenset({b".git", b".hg", b".svn", b".jj"})


class Listed(NamedTuple):
    """One file as the disk shows it."""

    path: str  # relative, forward slashes
    size: int
    mtime_ns: int
    ctime_ns: int = 0  # catches a change that keeps size and time of writing
    trouble: str = ""  # why it cannot be indexed, if that is already clear


def listing(root: Path, secrets: SecretFiles = NO_EXCEPTIONS) -> list[Listed]:
    """All files of a workspace, sorted by path."""
    top = os.fsencode(root.resolve())
    found = {}
    for item in _below(top, b"", top, secrets):
        found[item.path] = item
    return [found[path] for path in sorted(found)]


def _below(top: bytes, prefix: bytes, folder: bytes, secrets: SecretFiles) -> Iterator[Listed]:
    names = git.list_files(Path(os.fsdecode(folder)))
    # A workspace that an outer repository ignores as a whole is still a workspace.
    walked: Iterable[bytes] = names or Ignored(folder).walk(_NEVER)
    for name in walked:
        full = folder + b"/" + name
        try:
            status = os.lstat(full)
        except (OSError, ValueError):
            continue  # deleted, but still known to git
        if stat.S_ISDIR(status.st_mode):
            if name.rsplit(b"/", 1)[-1] not in _NEVER and _is_other_repository(folder, full):
                yield from _below(top, prefix + name + b"/", full, secrets)
            continue
        if (item := _list_file(top, full, prefix + name, status, secrets)) is not None:
            yield item


def _is_other_repository(outer: bytes, inner: bytes) -> bool:
    """Whether a folder has a repository of its own; a linked work tree of ours is another checkout, not more files."""
    entry = inner + b"/.git"
    if not os.path.lexists(entry):
        return False
    if not stat.S_ISREG(os.lstat(entry).st_mode):
        return True
    return not is_work_tree_of(Path(os.fsdecode(inner)), Path(os.fsdecode(outer)))


def look(root: Path, path: str, secrets: SecretFiles = NO_EXCEPTIONS) -> Listed | None:
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


def _list_file(top: bytes, full: bytes, name: bytes, status: os.stat_result, secrets: SecretFiles) -> Listed | None:
    trouble = ""
    if stat.S_ISLNK(status.st_mode):
        trouble = _link_trouble(top, full)
    elif not stat.S_ISREG(status.st_mode):
        trouble = "not a regular file"
    path = name.decode("utf-8", "backslashreplace")
    if path.encode() != name:
        trouble = "its name is not UTF-8"
    elif not trouble and secrets.is_secret(path):
        trouble = SECRET
    return Listed(path.replace(os.sep, "/"), status.st_size, status.st_mtime_ns, status.st_ctime_ns, trouble)


def _link_trouble(top: bytes, full: bytes) -> str:
    """Why a link is not indexed; what it points to is listed under its own name, and a copy would double every hit."""
    try:
        target = os.path.realpath(full)
    except OSError as error:
        return f"a link that cannot be followed: {error.strerror}"
    if not target.startswith(top + b"/"):
        return "a link that leaves the workspace"
    return f"a link to {os.fsdecode(target[len(top) + 1 :])}"
