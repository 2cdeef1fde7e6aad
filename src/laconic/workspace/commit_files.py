"""The files of a commit as a folder of plain files. Nothing is checked out: no filter, hook or link takes part."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from laconic.workspace.git import git
from laconic.workspace.read_file import LIMIT

_FILE_MODES: Final = frozenset({"100644", "100755"})
_AT_ONCE: Final = 16_000_000  # bytes that are asked of git in one go


class _Blob(NamedTuple):
    id: str
    size: int
    path: str


def write_commit(root: Path, commit: str, folder: Path) -> None:
    """Write what a commit has below a folder of its repository to another folder, which appears when it is complete."""
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True, mode=0o700)
    try:
        for some in _split(_list_blobs(root, commit)):
            _write(root, draft, some)
        try:
            draft.rename(folder)
        except OSError:
            if not folder.is_dir():  # if it is there, another process was faster
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _list_blobs(root: Path, commit: str) -> Iterator[_Blob]:
    """The files of a commit that can be indexed: no links, no submodules, nothing that is large or leads elsewhere."""
    listed = git(root, "ls-tree", "-r", "-l", "-z", commit, seconds=60)
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        about, _, path = entry.partition("\t")
        fields = about.split()
        if len(fields) != 4 or fields[0] not in _FILE_MODES or not fields[3].isdigit():
            continue
        if int(fields[3]) <= LIMIT and _is_inside(path):
            yield _Blob(fields[2], int(fields[3]), path)


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    forbidden = {"..", ".git", "/"}
    return bool(parts) and not path.startswith("/") and not forbidden.intersection(part.lower() for part in parts)


def _split(blobs: Iterator[_Blob]) -> Iterator[list[_Blob]]:
    some: list[_Blob] = []
    volume = 0
    for blob in blobs:
        some.append(blob)
        volume += blob.size
        if volume >= _AT_ONCE:
            yield some
            some, volume = [], 0
    if some:
        yield some


def _write(root: Path, folder: Path, blobs: list[_Blob]) -> None:
    output = git(root, "cat-file", "--batch", seconds=120, given="\n".join(blob.id for blob in blobs).encode())
    at = 0
    for blob in blobs:
        end = output.index(b"\n", at)
        fields = output[at:end].split()
        if len(fields) != 3:  # a partial clone has not all
            at = end + 1
            continue
        size = int(fields[2])
        place = folder / blob.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(output[end + 1 : end + 1 + size])
        at = end + size + 2
