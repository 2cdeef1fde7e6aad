"""Report the condition of one of Laconic's files without changing it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from laconic.sessions.damaged_files import list_ruined
from laconic.sessions.database import fault_of

_WAIT: Final = 2.0  # seconds for a writer to end
_ROOM: Final = 100_000_000  # bytes of a disk below which writes may soon fail
_ADVICE: Final = {
    "locked": "End the process that holds it: until then, requests pass unchanged.",
    "damaged": "Laconic moves it aside and starts a new one when it next uses it.",
    "read-only": "Let its owner write to the file and its folder, or set cache_dir.",
    "full": "Free some disk space.",
}


class FileCondition(NamedTuple):
    """One thing that was seen."""

    well: bool
    text: str
    advice: str = ""


def examine_file(path: Path) -> Iterator[FileCondition]:
    """All that is to be said of a file; nothing when there is none."""
    for old in list_ruined(path):
        yield FileCondition(False, f"{old} was damaged and moved aside.", "Delete it if you do not need it.")
    if not path.exists():
        return
    if path.suffix == ".json":
        problem = _json(path)
    else:
        problem = _database(path)
    if problem is not None:
        yield problem
        return
    free = shutil.disk_usage(path.parent).free
    if free < _ROOM:
        yield FileCondition(False, f"{path}: {free / 1e6:.0f} MB are free on its disk.", _ADVICE["full"])
    else:
        yield FileCondition(True, f"{path}: sound, {path.stat().st_size / 1e6:.1f} MB")


def _json(path: Path) -> FileCondition | None:
    try:
        msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        return FileCondition(False, f"{path}: {error}.", _ADVICE["damaged"])
    return None


def _database(path: Path) -> FileCondition | None:
    """Read every page, and take the lock of a writer for a moment."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)) as base:
            said = str(base.execute("PRAGMA quick_check(1)").fetchone()[0])
            if said != "ok":
                return FileCondition(False, f"{path}: {said}.", _ADVICE["damaged"])
            base.execute("BEGIN IMMEDIATE")
            base.execute("ROLLBACK")
    except sqlite3.Error as error:
        return FileCondition(False, f"{path}: {error}.", _ADVICE.get(fault_of(error), "Check the cache folder."))
    return None
