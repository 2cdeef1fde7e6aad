"""Ask git about a folder; every question has a time limit and an answer for "there is no git here"."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from laconic.errors import CommandFailed
from laconic.workspace.process import run

# Optional locks would make a reader write to the repository; hooks and pagers have no place here.
_GIT: Final = ("git", "--no-optional-locks", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false")
_QUIET: Final = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def git(folder: Path, *args: str, seconds: float = 30.0, given: bytes = b"") -> bytes:
    """The output of one git command; failure is an error that quotes git."""
    done = run([*_GIT, *args], folder, seconds=seconds, given=given, environment=_QUIET)
    if done.code:
        complaint = done.complaints.decode("utf-8", "replace").strip()[-300:]
        raise CommandFailed(f"git {args[0]} failed: {complaint}")
    return done.output


def top(folder: Path) -> Path | None:
    """The top of the work tree that holds a folder, or None."""
    try:
        found = git(folder, "rev-parse", "--show-toplevel", seconds=5).rstrip(b"\n")
    except CommandFailed:
        return None
    return Path(found.decode("utf-8", "surrogateescape")) if found else None


def home(folder: Path) -> Path:
    """The workspace that a command means when it is given in a folder: the top of its work tree.

    A work tree that is somebody's whole home folder is not a code base: there the folder itself is meant.
    """
    folder = folder.resolve()
    found = top(folder)
    return folder if found is None or found == Path.home() else found.resolve()


def listed(folder: Path) -> list[bytes] | None:
    """Tracked and untracked, not ignored names below a folder; None where git has no say.

    A name that is a folder on disk is a repository of its own (a submodule, or one that lies within).
    """
    try:
        out = git(folder, "ls-files", "-co", "--exclude-standard", "-z", seconds=60)
    except CommandFailed:
        return None
    return list(dict.fromkeys(name.rstrip(b"/") for name in out.split(b"\0") if name))
