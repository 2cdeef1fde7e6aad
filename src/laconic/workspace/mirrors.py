"""Bare mirrors of an organisation's repositories: fetch the newest commit, list it, bring a folder of plain files to it.

Only addresses that an administrator registered are fetched, with the operator's own git configuration for logins.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from laconic.errors import CommandFailed
from laconic.workspace.commit_files import is_inside, list_blobs, split_by_size, write_blobs, write_commit
from laconic.workspace.git import fetch_into_own, git_in_own

_HEAD: Final = "refs/laconic/head"
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")
_FETCH: Final = 900.0  # seconds


def fetch_mirror(mirror: Path, url: str, branch: str = "") -> str:
    """Bring a mirror up to date, made if it is not there; the newest commit of the branch, or of the default one."""
    if not (mirror / "HEAD").exists():
        mirror.mkdir(parents=True, exist_ok=True, mode=0o700)
        git_in_own(mirror, "init", "--bare", "--quiet", ".")
    source = f"refs/heads/{branch}" if branch else "HEAD"
    fetch_into_own(mirror, url, f"+{source}:{_HEAD}", seconds=_FETCH)
    return git_in_own(mirror, "rev-parse", _HEAD).decode().strip()


def list_blob_ids(mirror: Path, commit: str) -> list[bytes]:
    """What tells one tree from another: the ids of its files."""
    found = []
    for blob in list_blobs(mirror, commit):
        found.append(bytes.fromhex(blob.id))
    return found


def update_folder(mirror: Path, folder: Path, commit: str, befores: tuple[str, ...]) -> None:
    """Bring a folder to a commit. It holds one of the commits before, or a mixture of them."""
    known = [before for before in dict.fromkeys(befores) if before and _has_commit(mirror, before)]
    if not folder.is_dir() or not known or len(known) < len(set(filter(None, befores))):
        _replace_folder(mirror, folder, commit)
        return
    changed: dict[str, _ChangedFile] = {}
    for before in known:
        for file in _compare(mirror, before, commit):
            changed[file.path] = file
    wanted = {file.path for file in changed.values() if file.blob}
    for path, file in changed.items():
        if not file.blob:
            _remove(folder, path)
    blobs = []
    for blob in list_blobs(mirror, commit):
        if blob.path in wanted:
            blobs.append(blob)
            wanted.discard(blob.path)
    for path in wanted:  # it became a link, a submodule, or too large
        _remove(folder, path)
    for some in split_by_size(iter(blobs)):
        write_blobs(mirror, folder, some)


class _ChangedFile(NamedTuple):
    path: str
    blob: str  # empty: it is gone


def _replace_folder(mirror: Path, folder: Path, commit: str) -> None:
    old = folder.with_name(f"{folder.name}.{os.getpid()}.old")
    if folder.is_dir():
        folder.rename(old)
    write_commit(mirror, commit, folder)
    shutil.rmtree(old, ignore_errors=True)


def _has_commit(mirror: Path, commit: str) -> bool:
    if not _COMMIT.fullmatch(commit):
        return False
    try:
        git_in_own(mirror, "cat-file", "-e", f"{commit}^{{tree}}")
    except CommandFailed:
        return False
    return True


def _compare(mirror: Path, before: str, after: str) -> Iterator[_ChangedFile]:
    output = git_in_own(mirror, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", before, after)
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        words = about.split(" ")
        if len(words) == 5 and is_inside(path):
            blob = "" if words[4] == "D" else words[3]
            yield _ChangedFile(path, blob)


def _remove(folder: Path, path: str) -> None:
    place = folder / path
    place.unlink(missing_ok=True)
    for parent in place.parents:
        if parent == folder:
            break
        try:
            parent.rmdir()
        except OSError:  # something is left in it
            break
