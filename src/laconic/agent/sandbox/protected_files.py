"""Keep commands from changing files that other programs obey: git's, and those of the clients in the folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from laconic.agent.sandbox.git_folders import find_git_dir, hook_folders, included_files, orders
from laconic.agent.sandbox.rules import Access, SandboxRules
from laconic.clients.around_setup import list_project_files
from laconic.clients.registry import project_names


@contextmanager
def guard(rules: SandboxRules) -> Iterator[SandboxRules]:
    """The rules for one command: guarded names may be read.

    A name that is not there is held while the command runs, for nothing can be mounted on nothing: by an empty folder,
    which git does not list, or by an empty file that a configuration includes. One that a killed run has left is taken
    away by the next. Nothing can be mounted on a link either: one that the command has changed is put back.
    """
    names = [rules.root / name for name in (".git", *project_names())]
    repositories = [rules.root, *rules.nested]
    files, folders = _list_git_files(rules.root, repositories)
    held = [path for path in [*names, *folders] if _hold_folder(path)]
    held_files = [path for path in files if _hold_file(path)]
    names += [*files, *folders, *list_project_files(rules.root), *(each / ".git" for each in rules.nested)]
    links = {path: str(path.readlink()) for path in names if path.is_symlink() and _is_below(rules.root, path)}
    try:
        yield rules.extend(_make_places(rules, [*names, *(Path(os.path.realpath(path)) for path in links)]))
    finally:
        for path in held:
            with suppress(OSError):  # somebody has put something there
                path.rmdir()
        for path in held_files:
            with suppress(OSError):
                if not path.stat().st_size:
                    path.unlink()
        for path, target in links.items():
            _restore(path, target)


def _list_git_files(root: Path, repositories: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Files and folders in the working folder from which git takes orders, outside of `.git`."""
    files: list[Path] = []
    folders: list[Path] = []
    for top in repositories:
        files += included_files(top)
        folders += hook_folders(top)
        if not (top / ".git").is_dir():
            folders.append(find_git_dir(top))
    return _keep_below(root, files), _keep_below(root, folders)


def _keep_below(root: Path, paths: Iterable[Path]) -> list[Path]:
    """Those that are in the working folder, without links on the way."""
    kept = []
    for path in paths:
        plain = Path(os.path.realpath(path.parent), path.name)
        if path.name != ".." and _is_below(root, plain):
            kept.append(plain)
    return kept


def _is_below(root: Path, path: Path) -> bool:
    return path != root and path.is_relative_to(root)


def _make_places(rules: SandboxRules, paths: Iterable[Path]) -> Iterator[tuple[Path, Access]]:
    """`.git` as a whole; if the user lets commands change it, only what makes git run something.

    The folders around a guarded place become places of their own, so that they cannot be moved away with it.
    """
    writable = {path for path, access in rules.places if access == "write"}
    candidates = [*paths]
    if rules.root / ".git" in writable:
        candidates += orders(rules.root)
    guarded = set()
    for path in candidates:
        if path not in writable and path.exists() and not path.is_symlink() and _is_below(rules.root, path):
            guarded.add(path)
    for path in guarded:
        if guarded.isdisjoint(path.parents):
            yield path, "read"
            for folder in path.parents:
                if _is_below(rules.root, folder) and folder not in writable:
                    yield folder, "write"


def _hold_folder(path: Path) -> bool:
    """Whether there is nothing under a name but an empty folder, which is put there if need be."""
    if not path.exists() and not path.is_symlink() and path.parent.is_dir():
        path.mkdir()
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def _hold_file(path: Path) -> bool:
    """The same with an empty file."""
    if not path.exists() and not path.is_symlink() and path.parent.is_dir():
        path.touch()
    return path.is_file() and not path.is_symlink() and not path.stat().st_size


def _restore(path: Path, target: str) -> None:
    """A link as it was; what was put in its place is moved aside."""
    with suppress(OSError):
        if path.is_symlink() and str(path.readlink()) == target:
            return
        if os.path.lexists(path):
            number = 1
            while os.path.lexists(aside := path.with_name(f"{path.name}.changed-{number}")):
                number += 1
            path.rename(aside)
        path.symlink_to(target)
