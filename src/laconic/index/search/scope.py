"""Which files a query may look into: its filters as a set of files that every source of hits is asked within."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from laconic.index.search.query import Filters
from laconic.index.store import Store

_ALIASES: Final = {
    **{"js": "javascript", "ts": "typescript", "py": "python", "rs": "rust", "rb": "ruby", "cs": "csharp"},
    **{"c#": "csharp", "c++": "cpp", "golang": "go", "kt": "kotlin", "md": "markdown", "sh": "bash", "shell": "bash"},
}


@dataclass(frozen=True)
class Scope:
    """The files that are looked into; `files` is None when there is no limit."""

    files: frozenset[int] | None = None
    kinds: tuple[str, ...] = ()
    paths: Callable[[str], bool] | None = None

    @cached_property
    def ids(self) -> str:
        """The files as JSON, for `json_each`."""
        return msgspec.json.encode(sorted(self.files or ())).decode()

    def limit(self, column: str) -> tuple[str, tuple[str, ...]]:
        """A condition on a column with file ids, and its parameters."""
        if self.files is None:
            return "", ()
        return f" AND {column} IN (SELECT value FROM json_each(?))", (self.ids,)

    @property
    def empty(self) -> bool:
        return self.files is not None and not self.files


def scope_of(store: Store, filters: Filters) -> Scope:
    """The scope that filters describe."""
    if not filters:
        return Scope()
    wanted, unwanted = matcher(filters.paths), matcher(filters.without)
    languages = {_ALIASES.get(name, name) for name in filters.languages}
    found: dict[int, str] = {}
    for number, path, language, file_class in store.connection.execute("SELECT id, path, language, class FROM files"):
        if filters.paths and not wanted(path):
            continue
        if filters.without and unwanted(path):
            continue
        if languages and not any(language == name or language.startswith(name) for name in languages):
            continue
        if filters.tests is not None and (file_class == "test") != filters.tests:
            continue
        found[number] = path
    limited = bool(filters.paths or filters.without or languages or filters.tests is not None)
    inside = frozenset(found.values())
    return Scope(frozenset(found) if limited else None, filters.kinds, inside.__contains__ if limited else None)


def matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    """Whether any of the globs matches a path. A glob without a slash is tried on the last part too; a folder covers
    what is below it; `**` crosses folders and `*` does not."""
    if not globs:
        return lambda path: False
    whole = re.compile("|".join(f"(?:{_translate(glob)})" for glob in globs))
    return lambda path: whole.fullmatch(path) is not None


def _translate(glob: str) -> str:
    glob = glob.removeprefix("./").strip("/") if glob not in {".", "./", "/"} else "**"
    out = ""
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            out, at = out + ".*", at + 2
        elif glob[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif glob[at] == "?":
            out, at = out + "[^/]", at + 1
        else:
            out, at = out + re.escape(glob[at]), at + 1
    anywhere = "(?:.*/)?" if "/" not in glob else ""
    return f"{anywhere}{out}(?:/.*)?"
