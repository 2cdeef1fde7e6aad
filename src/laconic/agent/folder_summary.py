"""The folder at the start of a session, in a few lines: what is in it, and what git says about it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from laconic.errors import LaconicError
from laconic.render.plural import count_of
from laconic.workspace.git import git
from laconic.workspace.listing import listing

_ENTRIES: Final = 24  # of the folder
_CHANGES: Final = 12  # files that git calls changed


def describe_workspace(root: Path) -> str:
    """Files by top-level entry, the branch, and what is not committed; empty for an empty folder."""
    paths = []
    for file in listing(root):
        paths.append(file.path)
    counts = Counter(path.split("/", 1)[0] for path in paths)
    if not counts:
        return ""
    folders = set()
    for path in paths:
        if "/" in path:
            folders.add(path.split("/", 1)[0])
    entries: list[str] = []
    for name, count in sorted(counts.items()):
        entries.append(f"{name}/ ({count})" if name in folders else name)
    lines = [f"The folder has {count_of(counts.total(), 'file')}: {_list_some(entries, _ENTRIES)}."]
    lines += _describe_git(root)
    return "\n".join(lines)


def _describe_git(root: Path) -> list[str]:
    try:
        said = git(root, "status", "--porcelain", "--branch", "--untracked-files=normal", ".")
    except LaconicError:
        return []
    head, *changed = said.decode("utf-8", "replace").splitlines()
    branch = head.removeprefix("## ").split("...", 1)[0]
    if not changed:
        return [f"Git: {branch}, nothing to commit."]
    return [f"Git: {branch}, not committed: {_list_some([line.strip() for line in changed], _CHANGES)}."]


def _list_some(names: list[str], most: int) -> str:
    shown = ", ".join(names[:most])
    if len(names) <= most:
        return shown
    return f"{shown} and {len(names) - most} more"
