"""Which programs run on this machine, and who started them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from laconic.errors import CommandFailed
from laconic.workspace.process import run

_KERNEL: Final = Path("/proc")
_FOLDER: Final = Path("/dev")  # where `ps` is run: it is everywhere, and no program is in it


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process, the one that started it, and its command line."""

    pid: int
    parent: int
    command: str


def list_processes() -> list[RunningProcess]:
    """All that this user may see; none where the system does not say."""
    if (_KERNEL / "self" / "stat").exists():
        return list(_read_kernel())
    try:
        listed = run(["ps", "-axo", "pid=,ppid=,args="], _FOLDER, seconds=5)
    except CommandFailed:
        return []
    return list(_read_table(listed.output.decode("utf-8", "replace")))


def descendants(processes: Sequence[RunningProcess], ancestor: int) -> list[RunningProcess]:
    """Those that a process started, and that these started in turn."""
    found: list[RunningProcess] = []
    above = {ancestor}
    while above:
        started = []
        for process in processes:
            if process.parent in above:
                started.append(process)
        found += started
        above = {process.pid for process in started}
    return found


def _read_kernel() -> Iterator[RunningProcess]:
    for folder in _KERNEL.glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            state, parent = (folder / "stat").read_text("utf-8", "replace").rsplit(")", 1)[-1].split()[:2]
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if state != "Z":
                yield RunningProcess(int(folder.name), int(parent), command.strip())


def _read_table(listed: str) -> Iterator[RunningProcess]:
    for line in listed.splitlines():
        columns = line.split(None, 2)
        if len(columns) == 3:
            yield RunningProcess(int(columns[0]), int(columns[1]), columns[2])
