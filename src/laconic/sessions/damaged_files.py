"""Move damaged files aside under a separate name instead of deleting them at once: the newest few are kept."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

log = logging.getLogger("laconic.gateway.files")
Identity = tuple[int, int]  # device and number of a file
_KEPT: Final = 2
_MARK: Final = ".ruined-"


def identity(path: Path) -> Identity | None:
    """Which file is at a path; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def list_ruined(path: Path) -> list[Path]:
    """What was moved aside from this path, oldest first."""
    found = []
    with suppress(OSError):
        for other in path.parent.iterdir():
            number = other.name.removeprefix(path.name + _MARK)
            if number != other.name and number.isdigit():
                found.append((int(number), other))
    return [other for _, other in sorted(found)]


def set_aside(path: Path, *companions: str) -> Path:
    """Move a damaged file, with the files beside it that end so; where it is now."""
    before = list_ruined(path)
    target = _next(path, before)
    for companion in (*companions, ""):  # the file itself last: without it nobody takes the others for its own
        with suppress(FileNotFoundError):
            path.with_name(path.name + companion).rename(target.with_name(target.name + companion))
    for old in (*before, target)[:-_KEPT]:
        remove(old, *companions)
    log.warning("%s was damaged: it is now %s, and a new one is begun", path, target.name)
    return target


def keep_copy(path: Path) -> Path:
    """The same for a file that is repaired in its place."""
    before = list_ruined(path)
    target = _next(path, before)
    shutil.copy2(path, target)
    for old in (*before, target)[:-_KEPT]:
        remove(old)
    log.warning("%s was damaged: it is repaired, and as it was it is now %s", path, target.name)
    return target


def _next(path: Path, before: list[Path]) -> Path:
    if before:
        number = int(before[-1].name.rsplit("-", 1)[1]) + 1
    else:
        number = 1
    return path.with_name(f"{path.name}{_MARK}{number}")


def remove(path: Path, *companions: str) -> None:
    for companion in (*companions, ""):
        path.with_name(path.name + companion).unlink(missing_ok=True)


@contextmanager
def claim(path: Path) -> Iterator[None]:
    """Only one process at a time replaces a file."""
    if sys.platform == "win32":
        yield
        return
    lock = path.with_name(f"{path.name}.lock")
    with lock.open("ab") as file:
        lock.chmod(0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
