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


class Blob(NamedTuple):
    """A file of a commit."""

    id: str
    size: int
    path: str


def write_commit(root: Path, commit: str, folder: Path) -> None:
    """Write what a commit has below a folder of its repository to another folder, which appears when it is complete."""
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True, mode=0o700)
    try:
        for some in split_by_size(list_blobs(root, commit)):
            write_blobs(root, draft, some)
        try:
            draft.rename(folder)
        except OSError:
            if not folder.is_dir():  # if it is there, another process was faster
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def list_blobs(root: Path, commit: str) -> Iterator[Blob]:
    """The files of a commit that can be indexed: no links, no submodules, nothing that is large or leads elsewhere."""
    listed = git(root, "ls-tree", "-r", "-l", "-z", commit, seconds=60)
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        about, _, path = entry.partition("\t")
        fields = about.split()
        if len(fields) != 4 or fields[0] not in _FILE_MODES or not fields[3].isdigit():
            continue
        if int(fields[3]) <= LIMIT and is_inside(path):
            yield Blob(fields[2], int(fields[3]), path)


def is_inside(path: str) -> bool:
    """Whether a path of a commit stays within the folder that it is written to."""
    parts = PurePosixPath(path).parts
    forbidden = {"..", ".git", "/"}
    return bool(parts) and not path.startswith("/") and not forbidden.intersection(part.lower() for part in parts)


def split_by_size(blobs: Iterator[Blob]) -> Iterator[list[Blob]]:
    """As many as are asked of git in one go."""
    some: list[Blob] = []
    volume = 0
    for blob in blobs:
        some.append(blob)
        volume += blob.size
        if volume >= _AT_ONCE:
            yield some
            some, volume = [], 0
    if some:
        yield some


def write_blobs(root: Path, folder: Path, blobs: list[Blob]) -> None:
    """Write files of a commit to a folder, each of them whole or not at all."""
    output = git(root, "cat-file", "--batch", seconds=120, given="\n".join(blob.id for blob in blobs).encode())
    at = 0
    for blob in blobs:
        end = output.index(b"\n", at)
        fields = output[at:end].split()
        if len(fields) != 3:  # a partial clone has not all
            at = end + 1
            continue
        size = int(fields[2])
        _write_whole(folder, blob.path, output[end + 1 : end + 1 + size])
        at = end + size + 2


def _write_whole(folder: Path, path: str, data: bytes) -> None:
    place = folder / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):  # a file of the commit before has the name of a folder of this one
        _clear_way(folder, path)
        place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    draft = place.with_name(f".laconic-{os.getpid()}.tmp")
    draft.write_bytes(data)
    draft.replace(place)


def _clear_way(folder: Path, path: str) -> None:
    for parent in (folder / path).parents:
        if parent != folder and parent.is_file():
            parent.unlink()
