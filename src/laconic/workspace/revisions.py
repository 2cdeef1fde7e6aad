"""Two states of a repository and the files that differ: commits, branches, the index, the working tree.

Contents come from git's objects, and from the disk only where the working tree is one of the two states.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from laconic.edits.patch import FilePatch, sections
from laconic.errors import CommandFailed, UnknownName, Unreadable, UsageError
from laconic.records import FileChange
from laconic.workspace.git import git, top
from laconic.workspace.read_file import is_binary, read_bytes

INDEX: Final = "INDEX"
WORK: Final = "WORK"
_LARGEST: Final = 2_000_000
_OURS: Final = re.compile(r"(^|/)\.laconic-[0-9a-f]+-\d+-\d+\.tmp$")
_POINTER: Final = re.compile(rb"version https://\S+\n(?:ext-\S+ \S+\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n")
_STATUS: Final = {"A": "added", "D": "removed", "M": "changed", "R": "renamed", "C": "added", "T": "changed"}
_OPTIONS: Final = (
    "--raw", "-z", "-p", "--no-abbrev", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
    "--ignore-submodules=dirty",  # looking into one would start git there, with its own configuration
    "--src-prefix=a/", "--dst-prefix=b/", "--full-index",
    "--relative",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComparedStates:
    """What is compared; each side is a commit, INDEX or WORK."""

    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.old}..{self.new}"


class _Raw(msgspec.Struct, frozen=True):
    status: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    old_path: str
    new_path: str


def states(root: Path, wanted: str = "") -> ComparedStates:
    """What an agent means: `staged`, `unstaged`, `A..B`, `A...B`, `A^!` (one commit), or a commit to compare with.

    Nothing means the working tree against HEAD.
    """
    words = wanted.strip()
    if words.lower() in {"", "worktree", "uncommitted"}:
        return ComparedStates(_commit_or_empty(root, "HEAD"), WORK)
    if words.lower() in {"staged", "--cached", "--staged"}:
        return ComparedStates(_commit_or_empty(root, "HEAD"), INDEX)
    if words.lower() == "unstaged":
        return ComparedStates(INDEX, WORK)
    if words.endswith("^!"):
        return _of_commit(root, words[:-2])
    if "..." in words:
        left, _, right = words.partition("...")
        base = git(root, "merge-base", find_commit(root, left or "HEAD"), find_commit(root, right or "HEAD"))
        return ComparedStates(base.decode().strip(), find_commit(root, right or "HEAD"))
    if ".." in words:
        left, _, right = words.partition("..")
        return ComparedStates(find_commit(root, left or "HEAD"), _side(root, right or "HEAD"))
    return ComparedStates(find_commit(root, words), WORK)


def changes(root: Path, compared: ComparedStates, paths: Sequence[str] = (), context: int = 0) -> list[FileChange]:
    """The files that differ, with contents and hunks; untracked files count as added to the working tree."""
    raws, parts = _read_diff(
        git(root, "diff", *_OPTIONS, f"-U{context}", *_ends(compared), "--", *paths, seconds=120)
    )
    wanted = []
    for raw in raws:
        if not _OURS.search(raw.new_path):
            wanted.append(raw)
    blobs = _blobs(root, [sha for raw in wanted for sha in (raw.old_id, raw.new_id)])
    work = root if compared.new == WORK else None
    found = []
    for raw in wanted:
        found.append(_change(work, raw, parts.get(raw.new_path), blobs))
    if work:
        found = [change for change in found if not _is_stored_elsewhere(change)]
        found += _read_untracked(root, paths)
    return sorted(found, key=lambda change: change.path)


def _ends(compared: ComparedStates) -> list[str]:
    if compared.new == INDEX:
        return ["--cached", compared.old]
    if compared.new == WORK:
        if compared.old == INDEX:
            return []
        return [compared.old]
    return [compared.old, compared.new]


def _side(root: Path, name: str) -> str:
    if name in {INDEX, WORK}:
        return name
    return find_commit(root, name)


def find_commit(root: Path, name: str) -> str:
    """The id of a commit; a name that starts with a dash is never an option."""
    try:
        found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", seconds=10)
    except CommandFailed:
        if top(root) is None:
            raise Unreadable(
                f"{root} is not in a git repository.", "Name a patch file, or a folder of a repository as the root."
            ) from None
        raise UnknownName("commit or branch", name, fix="`git log --oneline` lists commits.") from None
    return found.decode().strip()


def _commit_or_empty(root: Path, name: str) -> str:
    """The id of a commit, or of the tree without files where there is none yet."""
    try:
        return find_commit(root, name)
    except UnknownName:
        return git(root, "hash-object", "-t", "tree", os.devnull, seconds=10).decode().strip()


def _of_commit(root: Path, name: str) -> ComparedStates:
    commit = find_commit(root, name)
    return ComparedStates(_commit_or_empty(root, f"{commit}^"), commit)


def _read_diff(output: bytes) -> tuple[list[_Raw], dict[str, FilePatch]]:
    """Git's list of files and its patches, which come in the same order."""
    head, _, patch = output.partition(b"\0\0")
    fields = iter(head.decode("utf-8", "surrogateescape").split("\0"))
    raws = []
    for field in fields:
        if field.startswith(":"):
            raws.append(_raw(field, fields))
    found = {}
    for section in sections(patch):
        found[section.new_path or section.old_path] = section
    return raws, found


def _raw(field: str, rest: Iterator[str]) -> _Raw:
    sides = len(field) - len(field.lstrip(":"))  # two for a file with conflicts, which is compared with both
    words = field[sides:].split(" ")
    modes, ids, status = words[: sides + 1], words[sides + 1 : -1], words[-1]
    if sides > 1:
        status = "U"
    old_path = next(rest)
    new_path = next(rest) if status[0] in "RC" else old_path
    return _Raw(
        status=status[0],
        old_mode=modes[0],
        new_mode=modes[-1],
        old_id=ids[0],
        new_id=ids[-1],
        old_path=old_path,
        new_path=new_path,
    )


def _change(work: Path | None, raw: _Raw, section: FilePatch | None, blobs: dict[str, bytes | None]) -> FileChange:
    """One file; what is new comes from the working tree where that is a side, whatever hash git computed for it."""
    status = _STATUS.get(raw.status, "unmerged")
    note = ""
    old = blobs.get(raw.old_id) if status != "added" else None
    if status != "removed":
        new = blobs.get(raw.new_id)
    else:
        new = None
    if "160000" in {raw.old_mode, raw.new_mode}:
        note, old, new = f"submodule {raw.old_id[:8]} -> {raw.new_id[:8]}", None, None
    elif work and status not in {"removed", "unmerged"}:
        try:
            new = read_bytes(work, raw.new_path, _LARGEST)
        except Unreadable as error:
            note = error.problem.removeprefix(f"{raw.new_path} ").rstrip(".")
    if raw.status in "MRT" and raw.old_mode != raw.new_mode and not note:
        note = f"mode {raw.old_mode} -> {raw.new_mode}"
        if raw.old_id == raw.new_id and raw.status == "M":
            status = "mode"
    if status in {"changed", "mode"} and old is not None and old == new:
        status = "mode"
    if any(side is not None and is_binary(side) for side in (old, new)):
        note = "binary"
    return FileChange(
        path=raw.new_path,
        status=status,
        old_path=raw.old_path if raw.old_path != raw.new_path else "",
        old=old,
        new=new,
        note=note,
        hunks=section.hunks if section else (),
    )


def _is_stored_elsewhere(change: FileChange) -> bool:
    """Whether git has a pointer of git-lfs, and the work tree the very file that it stands for: no filter is run."""
    pointer = _POINTER.fullmatch(change.old or b"")
    if change.status != "changed" or change.new is None or pointer is None:
        return False
    return len(change.new) == int(pointer[2]) and sha256(change.new).hexdigest() == pointer[1].decode()


def _read_untracked(root: Path, paths: Sequence[str]) -> Iterator[FileChange]:
    listed = git(root, "ls-files", "-o", "--exclude-standard", "-z", "--", *paths, seconds=60)
    for name in listed.decode("utf-8", "surrogateescape").split("\0"):
        if not name or name.endswith("/") or _OURS.search(name):
            continue
        try:
            data = read_bytes(root, name, _LARGEST)
        except Unreadable as error:
            yield FileChange(name, "added", note=error.problem)
            continue
        yield FileChange(name, "added", new=data, note="binary" if is_binary(data) else "")


def _blobs(root: Path, ids: Sequence[str]) -> dict[str, bytes | None]:
    """The contents of objects by id; those that are too large, or not in this clone, are None."""
    wanted = sorted({sha for sha in ids if sha.strip("0")})
    if not wanted:
        return {}
    checked = git(root, "cat-file", "--batch-check", seconds=60, given="\n".join(wanted).encode()).decode()
    sizes = {}
    for line in checked.splitlines():
        if fields := line.split():
            sizes[fields[0]] = fields
    fit = [sha for sha in wanted if sizes[sha][1] == "blob" and int(sizes[sha][2]) <= _LARGEST]
    output = b""
    if fit:
        output = git(root, "cat-file", "--batch", seconds=120, given="\n".join(fit).encode())
    found: dict[str, bytes | None] = dict.fromkeys(wanted)
    position = 0
    for sha in fit:
        end = output.index(b"\n", position)
        size = int(output[position:end].split()[2])
        found[sha] = output[end + 1 : end + 1 + size]
        position = end + size + 2
    return found


def read_patched(root: Path, patch: bytes) -> list[FileChange]:
    """The files of a patch that is not applied yet: as they are on disk, and as the patch would leave them."""
    found = []
    for section in sections(patch):
        path = section.new_path or section.old_path
        if section.old_path:
            old = read_bytes(root, section.old_path, _LARGEST)
        else:
            old = None
        if section.new_path and not section.binary:
            new = section.apply(old or b"")
        else:
            new = None
        status = "changed"
        if old is None:
            status = "added"
        elif not section.new_path:
            status = "removed"
        elif section.old_path != section.new_path:
            status = "renamed"
        before = section.old_path if status == "renamed" else ""
        note = "binary" if section.binary else ""
        found.append(
            FileChange(path=path, status=status, old_path=before, old=old, new=new, note=note, hunks=section.hunks)
        )
    if not found:
        raise UsageError("The file contains no unified diff.", "Give the output of `git diff` or `diff -u`.")
    return found
