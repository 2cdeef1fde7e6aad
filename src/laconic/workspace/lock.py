"""A lock between processes that the operating system releases when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PAUSE: Final = 0.02

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@contextmanager
def hold_lock(path: Path, *, seconds: float = 0.0) -> Iterator[bool]:
    """Hold the lock file for the block; False when someone else still has it after the time given."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        deadline = time.monotonic() + seconds
        while not (got := _take(handle)) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        yield got
    finally:
        os.close(handle)  # closing releases it
