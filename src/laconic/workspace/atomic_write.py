"""Write a file atomically: at every moment it is either the old version or the new one.

A new content is written beside its file, forced to disk, and renamed over it. Mode, owner and extended attributes stay;
a link keeps pointing where it did, because callers pass the file it points to. A file with several names is the
exception: a rename would part them, so it is written in place, and the journal repairs a write that was cut short.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_BLOCK: Final = 4096  # bytes
_NEW_MODE: Final = 0o666  # less the user's mask
# They say something about the old content, and the system takes them away when a file is written.
_OF_CONTENT: Final = frozenset({"security.capability", "security.ima", "security.evm"})


def stage(beside: Path, target: Path, data: bytes) -> None:
    """Write the new content of a target to a file beside it, with the target's mode and owner, forced to disk."""
    status = target.stat() if target.exists() else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(beside, flags, _NEW_MODE if status is None else 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if status is not None:
            _like(handle, status)
            _copy_attributes(target, handle)
        file.flush()
        os.fsync(handle)


def put(staged: Path, target: Path, *, fresh: bool) -> None:
    """Let a staged file take its target's place; a fresh one never takes the place of a file that came meanwhile."""
    if fresh and hasattr(os, "link"):
        try:
            os.link(staged, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            staged.rename(target)
        else:
            staged.unlink()
    else:
        staged.replace(target)
    sync_folder(target.parent)


def has_other_names(target: Path) -> bool:
    """Whether a file has hard links."""
    try:
        return target.stat().st_nlink > 1
    except OSError:
        return False


def write_in_place(target: Path, data: bytes) -> None:
    """Write over the content of a file, so that all its names see it. A reader may meet a part of it."""
    flags = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(target, flags), "wb") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def is_cut_short(now: bytes, before: bytes, after: bytes) -> bool:
    """Whether a content is what a write in place leaves when it is cut short: at every place the old or the new byte."""
    if not min(len(before), len(after)) <= len(now) <= max(len(before), len(after)):
        return False
    for start in range(0, len(now), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(now)))
        if now[block] in (before[block], after[block]):
            continue
        old, new = before[block].ljust(_BLOCK, b"\0"), after[block].ljust(_BLOCK, b"\0")
        if any(byte not in pair for byte, *pair in zip(now[block], old, new, strict=False)):
            return False
    return True


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of our own in one step, forced to disk."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    stage(part, path, data)
    part.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _like(handle: int, status: os.stat_result) -> None:
    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
        with suppress(PermissionError):  # another's file in a folder of ours becomes ours, as with any editor
            os.fchown(handle, status.st_uid, status.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, status.st_mode & 0o7777)


def _copy_attributes(target: Path, handle: int) -> None:
    """Extended attributes, access lists among them, as far as the system has them and lets us."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(target):
            if name not in _OF_CONTENT:
                with suppress(OSError):
                    os.setxattr(handle, name, os.getxattr(target, name))
