"""Hold a client's first prompt back until our server has listed its tools.

Claude Code sends a prompt of its command line before any server can have answered. The next prompt has our tools, and so
finds nothing in the cache. Our server therefore leaves a mark when it has sent its list, and a hook of the client waits
for the mark of the server that this client started.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from laconic.workspace.processes import RunningProcess, descendants, list_processes

WAIT_WORDS: Final = "hook --client $PPID || true"  # behind the program; it never stops a client from starting
_FOLDER: Final = "listed"  # in the state folder
_SERVER: Final = re.compile(r"\blaconic(?:\.exe)? mcp\b(?!.* --around\b)")
_PATIENCE: Final = 10.0  # seconds for a server that has started
_GRACE: Final = 0.3  # seconds for one that has not
_LOOK: Final = 0.5  # seconds between two looks at the processes
_STEP: Final = 0.02  # seconds between two looks for a mark
_TAKEN_UP: Final = 0.2  # seconds after which the client has taken the list up
_OLD: Final = 24 * 3600.0  # seconds after which a mark is removed that a killed server left


def start_hook(program: str) -> dict[str, object]:
    """The hook as Claude Code's settings hold it, beside others of a session's start. What it prints is in no prompt."""
    hook = {"type": "command", "command": f"{program} {WAIT_WORDS}", "timeout": int(2 * _PATIENCE)}
    return {"matcher": "startup|resume", "hooks": [hook]}


class ListedMark:
    """The mark of this process."""

    def __init__(self, state: Path) -> None:
        self._file = _mark(state / _FOLDER, os.getpid(), os.getppid())

    def put(self) -> None:
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file.touch()

    def remove(self) -> None:
        with suppress(OSError):
            self._file.unlink(missing_ok=True)


def wait_for_tools(client: int, state: Path) -> None:
    """Return when all servers that the client started have listed their tools, or when none will say so."""
    folder = state / _FOLDER
    processes = list_processes()
    if not _prepare(folder, processes):
        return
    begun = time.monotonic()
    while (waited := time.monotonic() - begun) < _PATIENCE:
        servers = find_servers(processes, client)
        if not servers and waited >= _GRACE:
            return
        if servers and _wait_for_marks(folder, servers):
            time.sleep(_TAKEN_UP)
            return
        if not servers:
            time.sleep(_STEP)
        processes = list_processes()


def find_servers(processes: Sequence[RunningProcess], client: int) -> list[RunningProcess]:
    """Our servers that the client started, each once, also behind a program such as `uvx`."""
    started = descendants(processes, client)
    found = []
    for process in started:
        if _SERVER.search(process.command) and not _starts_another(process, started):
            found.append(process)
    return found


def _starts_another(process: RunningProcess, started: Sequence[RunningProcess]) -> bool:
    return any(other.parent == process.pid and _SERVER.search(other.command) for other in started)


def _wait_for_marks(folder: Path, servers: Sequence[RunningProcess]) -> bool:
    """Whether all of them have marked their lists; looks for a while."""
    until = time.monotonic() + _LOOK
    while time.monotonic() < until:
        if all(_mark(folder, server.pid, server.parent).exists() for server in servers):
            return True
        time.sleep(_STEP)
    return False


def _mark(folder: Path, server: int, parent: int) -> Path:
    """Under both numbers, because the system gives the number of a process that ended to another."""
    return folder / f"{parent}-{server}"


def _prepare(folder: Path, processes: Sequence[RunningProcess]) -> bool:
    """Whether servers can leave marks there; removes those that killed servers left."""
    running = {str(process.pid) for process in processes}
    latest = time.time() - _OLD
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for mark in folder.iterdir():
            if mark.stat().st_mtime < latest and mark.name.rpartition("-")[2] not in running:
                mark.unlink(missing_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
