"""Start a program for which a folder is read-only, by whatever path it tries to write there.

The folder is mounted read-only in a namespace of the program's own (bubblewrap). Everything else is as it is: this keeps
files from being changed by accident or by a setting, and is no sandbox for code that nobody trusts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from laconic.errors import CommandFailed
from laconic.workspace.process import run
from laconic.workspace.programs import find_program

_ALWAYS: Final = ("--dev-bind", "/", "/", "--die-with-parent", "--cap-drop", "ALL")
# From the strongest on: what a container forbids differs.
_NAMESPACES: Final = (
    ("--unshare-user", "--unshare-pid", "--proc", "/proc"),
    ("--unshare-user",),
    ("--unshare-pid", "--proc", "/proc"),
    (),
)
_SECONDS: Final = 15.0


def protect(
    command: Sequence[str], folder: Path, writable: Path, environment: Mapping[str, str] | None = None
) -> tuple[list[str], str]:
    """The command line under which `command` cannot change a folder, and why there is none (the command itself, then).

    `writable` stays writable even if it lies in the folder.
    """
    try:
        program = find_program("bwrap", folder, environment)
    except CommandFailed:
        return list(command), "bubblewrap is not installed"
    place, other = str(folder.resolve()), str(writable.resolve())
    for namespaces in _NAMESPACES:
        mounts = ["--ro-bind", place, place, "--bind", other, other, "--chdir", other]
        words = [program, *_ALWAYS, *namespaces, *mounts, "--"]
        if _is_read_only([*words, "test", "-w", place], writable, environment):
            return [*words, *command], ""
    return list(command), "bubblewrap does not work here"


def _is_read_only(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None) -> bool:
    """Whether a test that the folder is writable runs, and says no."""
    try:
        done = run(command, folder, seconds=_SECONDS, environment=environment)
    except CommandFailed:
        return False
    return done.code == 1 and not done.complaints
