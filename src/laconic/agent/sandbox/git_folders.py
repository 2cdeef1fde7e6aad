"""Which parts of repositories lie outside the working folder, and from which files in it git takes orders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from laconic.workspace.git import find_user_hooks, list_repositories_within
from laconic.workspace.git_config import list_config
from laconic.workspace.repository import read_small

_ORDERS: Final = ("config", "config.worktree", "hooks", "modules", "worktrees", "info", "commondir")
_INCLUDED: Final = 50  # files that a configuration includes, one by the other
_DEPTH: Final = 3  # folders in which repositories are looked for that git does not name
_LOOKED: Final = 5_000  # folders that are looked at for that
_HEAVY: Final = frozenset({"node_modules", ".venv", "__pycache__", ".tox", "target", "dist", "build"})


def git_places(root: Path) -> Iterator[tuple[Path, Literal["read"]]]:
    """What git needs to see outside the working folder: the rest of the repository, or that of a linked worktree."""
    linked = _find_linked_repository(root)
    if linked is not None:
        yield linked, "read"
    if not (root / ".git").exists():
        for folder in root.parents:
            if (folder / ".git").exists():
                yield folder, "read"
                return


def orders(root: Path) -> Iterator[Path]:
    """Files and folders below `.git` that make git run something, and hooks that are kept elsewhere in the folder."""
    folder = root / ".git"
    if not folder.is_dir():
        return
    for name in _ORDERS:
        yield folder / name


def hook_folders(top: Path) -> list[Path]:
    """Where the configuration of a repository, or the user's, says that hooks are."""
    found = []
    for _, name, value in _read_settings(top):
        if name == "core.hookspath":
            found.append(top / _expand(value))
    own = find_user_hooks(top)
    if own:
        found.append(top / _expand(own))
    return found


def included_files(top: Path) -> list[Path]:
    """Files that the configuration of a repository includes."""
    found = []
    for file, name, value in _read_settings(top):
        if _includes(name):
            found.append(file.parent / _expand(value))
    return found


def find_git_dir(top: Path) -> Path:
    """The folder that `.git` stands for."""
    entry = top / ".git"
    if entry.is_file():
        pointer = read_small(entry).decode("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
        return Path(os.path.normpath(top / pointer))
    return entry


def find_nested(root: Path) -> list[Path]:
    """Work trees inside the working folder: submodules, and repositories that lie within."""
    found: dict[Path, None] = {}
    for name in list_repositories_within(root):
        place = root / os.fsdecode(name)
        if os.path.lexists(place / ".git"):
            found[place] = None
    looked, level = 0, [root]
    for _ in range(_DEPTH):
        below: list[Path] = []
        for folder in level:
            looked += 1
            if looked > _LOOKED:
                return list(found)
            for inner in _list_folders(folder):
                if os.path.lexists(inner / ".git"):
                    found[inner] = None
                below.append(inner)
        level = below
    return list(found)


def _list_folders(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and entry.name != ".git" and entry.name not in _HEAVY:
            yield Path(entry.path)


def _read_settings(top: Path) -> Iterator[tuple[Path, str, str]]:
    """What a repository's configuration says, each with its file; files that it includes are read too."""
    folder = find_git_dir(top)
    waiting, seen = [folder / "config", folder / "config.worktree"], set[Path]()
    while waiting and len(seen) < _INCLUDED:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name, value in list_config(read_small(file).decode("utf-8", "surrogateescape")):
            yield file, name, value
            if _includes(name):
                waiting.append(Path(os.path.normpath(file.parent / _expand(value))))


def _includes(name: str) -> bool:
    return name == "include.path" or (name.startswith("includeif.") and name.endswith(".path"))


def _expand(value: str) -> Path:
    """A path as git reads it."""
    if value.startswith("~/"):
        return Path.home() / value[2:]
    return Path(value)


def _find_linked_repository(root: Path) -> Path | None:
    """The repository of a linked worktree, if it knows this worktree: a folder may claim any repository as its own."""
    try:
        pointer = (root / ".git").read_text("utf-8").removeprefix("gitdir:").strip()
        own = Path(os.path.realpath(root / pointer))
        back = Path((own / "gitdir").read_text("utf-8").strip())
        common = Path(os.path.realpath(own / (own / "commondir").read_text("utf-8").strip()))
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    if os.path.realpath(own / back) == os.path.realpath(root / ".git"):
        return common
    return None
