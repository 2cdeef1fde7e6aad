"""Watch folders for changes through the operating system, without a thread: events wait until they are read.

Only Linux tells in this way; elsewhere there is no `FolderWatch`, and callers look at the disk from time to time.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

_CREATE, _DELETE, _MODIFY, _ATTRIB, _CLOSE_WRITE = 0x100, 0x200, 0x2, 0x4, 0x8
_MOVED: Final = 0x40 | 0x80
_ONLYDIR, _OVERFLOW, _IGNORED, _ISDIR = 0x0100_0000, 0x4000, 0x8000, 0x4000_0000
_WANTED: Final = _CREATE | _DELETE | _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _ONLYDIR
_EVENT: Final = struct.Struct("iIII")
_BUFFER: Final = 1 << 16


class WatchEvents(NamedTuple):
    """What happened since the last time."""

    paths: frozenset[str]  # files with an event, relative to the root
    lost: bool  # folders came or went, or events were dropped: look at everything


class FolderWatch:
    """Watches some folders of a workspace, not what is below them."""

    def __init__(self, root: Path, handle: int) -> None:
        self._root = root
        self._handle = handle
        self._folders: dict[int, str] = {}
        self._watched: set[str] = set()
        self._libc = ctypes.CDLL(None, use_errno=True)

    @classmethod
    def open(cls, root: Path) -> FolderWatch | None:
        """A watch without folders yet; None where the system has none to give."""
        if sys.platform != "linux":
            return None
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError:
            return None
        if handle >= 0:
            return cls(root, handle)
        return None

    def close(self) -> None:
        os.close(self._handle)

    def add(self, folders: Iterable[str]) -> bool | None:
        """Watch these folders too: True if any is new, None when the system will watch no more."""
        new = False
        for folder in folders:
            if folder in self._watched:
                continue
            place = os.fsencode(self._root / folder)
            number = self._libc.inotify_add_watch(self._handle, place, ctypes.c_uint32(_WANTED))
            if number < 0:
                if ctypes.get_errno() in {errno.ENOSPC, errno.ENOMEM}:
                    return None
                continue  # it is gone again
            self._folders[number] = f"{folder}/" if folder else ""
            self._watched.add(folder)
            new = True
        return new

    def wait(self, seconds: float) -> bool:
        """Wait until something happens; False when nothing did."""
        try:
            return bool(select.select([self._handle], [], [], seconds)[0])
        except (OSError, ValueError):  # closed meanwhile
            return False

    def take_events(self) -> WatchEvents:
        """All events since the last call; costs next to nothing when there are none."""
        paths: set[str] = set()
        lost = False
        while True:
            try:
                data = os.read(self._handle, _BUFFER)
            except BlockingIOError:
                break
            at = 0
            while at < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                name = data[at - length : at].rstrip(b"\0")
                if mask & _IGNORED:
                    self._watched.discard(self._folders.pop(number, "").rstrip("/"))
                if mask & (_OVERFLOW | _IGNORED) or (mask & _ISDIR and mask & (_CREATE | _DELETE | _MOVED)):
                    lost = True
                elif name and not mask & _ISDIR:
                    paths.add(self._folders.get(number, "") + name.decode("utf-8", "backslashreplace"))
        return WatchEvents(frozenset(paths), lost)


def folders_of(paths: Iterable[str]) -> set[str]:
    """All folders on the way to some files, the root included."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
