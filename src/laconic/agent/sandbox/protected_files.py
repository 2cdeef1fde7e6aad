"""Keep commands from changing files that other programs obey: git's, and those of the clients in the folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from laconic.agent.sandbox.git_folders import hook_folders, orders
from laconic.agent.sandbox.rules import SandboxRules
from laconic.clients.registry import project_names


@contextmanager
def guard(rules: SandboxRules) -> Iterator[SandboxRules]:
    """The rules for one command: guarded names may be read.

    A name that is not there is held by an empty folder while the command runs, for nothing can be mounted on nothing, and
    git does not list an empty folder. One that a killed run has left is taken away by the next.
    """
    names = []
    for name in (".git", *project_names()):
        names.append(rules.root / name)
    held = [path for path in names if _hold(path)]
    try:
        yield rules.extend((path, "read") for path in _unchangeable(rules, names))
    finally:
        for path in held:
            with suppress(OSError):  # somebody has put something there
                path.rmdir()


def _unchangeable(rules: SandboxRules, names: Iterable[Path]) -> Iterator[Path]:
    """`.git` as a whole; if the user lets commands change it, only what makes git run something."""
    writable = {path for path, access in rules.places if access == "write"}
    candidates = [*names, *hook_folders(rules.root)]
    if rules.root / ".git" in writable:
        candidates += orders(rules.root)
    for path in candidates:
        if path not in writable and path.exists() and not path.is_symlink():
            yield path


def _hold(path: Path) -> bool:
    """Whether there is nothing under a name but an empty folder, which is put there if need be."""
    if not path.exists() and not path.is_symlink():
        path.mkdir()
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
