"""Which parts of a repository lie outside the working folder, and which parts of it git takes orders from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

_HOOKS: Final = re.compile(r"^\s*hookspath\s*=\s*\"?([^\"\n#;]+)", re.IGNORECASE | re.MULTILINE)
_ORDERS: Final = ("config", "config.worktree", "hooks", "modules", "worktrees", "info", "commondir")


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
    yield from hook_folders(root)


def hook_folders(root: Path) -> Iterator[Path]:
    """Where `core.hooksPath` says that hooks are, inside the working folder."""
    try:
        text = (root / ".git" / "config").read_text("utf-8", "replace")
    except OSError:
        return
    for found in _HOOKS.finditer(text):
        path = (root / found[1].strip()).resolve()
        if path != root and path.is_relative_to(root) and path.exists():
            yield path


def _find_linked_repository(root: Path) -> Path | None:
    """The repository of a linked worktree, if it knows this worktree: a folder may claim any repository as its own."""
    try:
        pointer = (root / ".git").read_text("utf-8").removeprefix("gitdir:").strip()
        own = (root / pointer).resolve()
        back = Path((own / "gitdir").read_text("utf-8").strip())
        common = (own / (own / "commondir").read_text("utf-8").strip()).resolve()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    if (own / back).resolve() == (root / ".git").resolve():
        return common
    return None
