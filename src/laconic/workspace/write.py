"""Put bytes on disk so that a file is old or new at every moment, never half.

A new content is written beside its file, forced to disk, and renamed over it. Mode and owner stay; a link keeps
pointing where it did, because callers pass the file it points to.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_NEW_MODE: Final = 0o666  # less the user's mask


def stage(beside: Path, target: Path, data: bytes) -> None:
    """Write the new content of a target to a file beside it, with the target's mode and owner, forced to disk."""
    status = target.stat() if target.exists() else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(beside, flags, _NEW_MODE if status is None else 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if status is not None:
            _like(handle, status)
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
