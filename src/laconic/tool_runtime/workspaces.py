"""The other code bases that are indexed on this machine: their names, and their tools, opened when they are asked for.

A path in one of them is written `@name/path`, in answers and in calls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from laconic.errors import IndexUnavailable, UnknownName
from laconic.index import catalog
from laconic.index.commit_trees import open_commit
from laconic.workspace.revisions import find_commit

if TYPE_CHECKING:
    from laconic.tool_runtime.runtime import ToolRuntime
    from laconic.tool_runtime.tool import Tool, ToolCall

ALL: Final = "all"
MARK: Final = "@"
_PLAIN: Final = re.compile(r"[^\w.+-]")


def name_workspaces(roots: list[Path]) -> dict[str, Path]:
    """A short name for each folder: its own, with that of the folder above where several are called so."""
    often = Counter(root.name for root in roots)
    found: dict[str, Path] = {}
    for root in roots:
        name = root.name or "root"
        if often[root.name] > 1:
            name = f"{root.parent.name}.{root.name}"
        name = _PLAIN.sub("-", name)
        number = 1
        while name in found:
            number += 1
            name = f"{name.rpartition('~')[0] or name}~{number}"
        found[name] = root
    return found


class Workspaces:
    """All indexed workspaces as one session sees them."""

    default = ""  # what a call that names none asks; empty: the session's own

    def __init__(self, own: ToolRuntime, open_other: Callable[[Path, str], ToolRuntime]) -> None:
        self._own = own
        self._open_other = open_other
        self._opened: dict[Path, ToolRuntime] = {}
        self._names: dict[str, Path] = {}

    def close(self) -> None:
        for runtime in self._opened.values():
            runtime.close()
        self._opened.clear()

    def read_names(self) -> dict[str, Path]:
        """The names of all workspaces whose folders exist, that of the session included."""
        roots: dict[Path, None] = {self._own.root: None}
        for root, _ in catalog.workspaces(self._own.cache):
            if root.is_dir():
                roots[root] = None
        self._names = name_workspaces(list(roots))
        return self._names

    def select(self, text: str, tool: Tool, call: ToolCall) -> list[ToolRuntime]:
        """The workspaces that a call names: `all`, or names and folders, separated by commas; its own comes first."""
        names = self.read_names()
        wanted: dict[Path, None] = {}
        for word in re.split(r"[,\s]+", text.strip()):
            if word.lower() in {ALL, "*"}:
                wanted |= dict.fromkeys(names.values())
            elif word:
                wanted[self._find(word, names)] = None
        chosen = sorted(wanted, key=lambda root: root != self._own.root)
        found: list[ToolRuntime] = []
        for root in chosen:
            found.append(self._runtime(root))
        return found

    def find_path(self, path: str) -> tuple[ToolRuntime, str] | None:
        """The workspace that `@name/path` leads to, and the path in it."""
        if not path.startswith(MARK):
            return None
        name, _, inner = path[len(MARK) :].partition("/")
        root = self._names.get(name) or self.read_names().get(name)
        if root is None or (self._own.root / path).exists():
            return None
        return self._runtime(root), inner

    def open_commit(self, runtime: ToolRuntime, name: str) -> ToolRuntime:
        """A commit of a workspace as a workspace of its own; its paths are written `commit:path`."""
        commit = find_commit(runtime.root, name)
        folder = catalog.commit_folder(self._own.cache, runtime.root, commit)
        prefix = f"{runtime.prefix}{name}:"
        known = self._opened.get(folder)
        if known is None or known.prefix != prefix or not folder.is_dir():
            if known is not None:
                known.close()
            self._opened[folder] = self._open_other(open_commit(self._own.cache, runtime.root, commit), prefix)
        return self._opened[folder]

    def _find(self, word: str, names: dict[str, Path]) -> Path:
        name = word.removeprefix(MARK).rstrip("/")
        if name in names:
            return names[name]
        folder = Path(word).expanduser()
        if folder.is_absolute() and folder.resolve() in names.values():
            return folder.resolve()
        if word == ".":
            return self._own.root
        same = [known for known in names if known.lower() == name.lower() or known.rpartition(".")[2] == name]
        if len(same) == 1:
            return names[same[0]]
        near = tuple(same or get_close_matches(name, names, n=5, cutoff=0.5))
        raise UnknownName(
            "indexed workspace", word, near, "`workspace` with action=list shows all; add indexes another."
        )

    def _runtime(self, root: Path) -> ToolRuntime:
        if root == self._own.root:
            return self._own
        if root not in self._opened:
            name = next(name for name, known in self._names.items() if known == root)
            self._opened[root] = self._open_other(root, f"{MARK}{name}/")
        return self._opened[root]


def is_usable(runtime: ToolRuntime) -> bool:
    """Whether the index of a workspace can be asked."""
    try:
        return bool(runtime.index.store.meta("built"))
    except IndexUnavailable:
        return False
