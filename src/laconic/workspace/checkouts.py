"""Which checkouts belong together: work trees and clones of one repository, seen from the same folder in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from laconic.errors import WorkspaceError
from laconic.workspace.git import repository_of
from laconic.workspace.repository import Repository

_ORIGIN: Final = "remote.origin.url"
_SCHEME: Final = re.compile(r"^([a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_BEHIND: Final = re.compile(r"[?#].*$", re.DOTALL)  # where a token may stand


def identify(root: Path) -> tuple[str, str]:
    """A name for people, and a text that is equal for all checkouts of the same code."""
    try:
        repository = repository_of(root)
    except WorkspaceError:
        repository = None
    if repository is None or repository.top is None:
        return root.name, str(root)
    below = root.relative_to(repository.top).as_posix()
    origin = normalise_origin(repository.config().get(_ORIGIN, ""))
    if origin:
        return origin.rpartition("/")[2], f"{origin} {below}"
    return _name(repository), f"{repository.common_dir} {below}"


def normalise_origin(url: str) -> str:
    """Where a repository was cloned from, without scheme, login and suffix: nothing of a secret stays in it."""
    text = _BEHIND.sub("", url.strip())
    text = _SCHEME.sub("", text).rpartition("@")[2]
    if ":" in text and not text.startswith(("/", ".")):
        text = text.replace(":", "/", 1)  # host:path, as ssh writes it
    host, slash, path = text.partition("/")
    return (host.lower() + slash + path).rstrip("/").removesuffix(".git")


def is_work_tree_of(folder: Path, other: Path) -> bool:
    """Whether a folder is a work tree of the same repository as another folder."""
    try:
        inner, outer = repository_of(folder), repository_of(other)
    except WorkspaceError:
        return False
    return inner is not None and outer is not None and inner.common_dir == outer.common_dir


def _name(repository: Repository) -> str:
    if repository.common_dir.name == ".git":
        return repository.common_dir.parent.name
    return repository.common_dir.name
