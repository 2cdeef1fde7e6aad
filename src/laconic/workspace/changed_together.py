"""Which files changed together before, from git's log. Knows nothing of what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from laconic.errors import CommandFailed
from laconic.workspace.git import git

_COMMITS: Final = 1000  # of the past; more say little about today
_SWEEPING: Final = 40  # files from which a commit is a sweep over the code and ties nothing together


def read_commit_files(root: Path, until: str = "HEAD") -> list[list[str]]:
    """The files of each commit up to a revision, latest first; nothing where git has no history."""
    wanted = ("-n", str(_COMMITS), "--no-merges", "--name-only", "--relative", "-z", "--format=%x00")
    try:
        out = git(root, "log", *wanted, "--end-of-options", until, "--", seconds=10)
    except CommandFailed:
        return []
    commits = (part.decode("utf-8", "surrogateescape").split("\0") for part in out.split(b"\0\0"))
    named = ([name for name in (each.strip("\n") for each in commit) if name] for commit in commits)
    found: list[list[str]] = []
    for files in named:
        if 1 < len(files) <= _SWEEPING:
            found.append(files)
    return found
