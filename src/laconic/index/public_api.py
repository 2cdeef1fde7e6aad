"""The names that a code base offers to others: what it exports, or else its public definitions, the most used first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from laconic.index.store import Store
from laconic.index.store.file_queries import read_exported_names, read_outermost_sources
from laconic.index.store.symbol_queries import read_public_names

_MOST: Final = 40
_LOOKED_AT: Final = 300  # definitions whose uses are counted
_FILES: Final = 30  # files of JavaScript that are read
_ASIDE: Final = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?|benchmarks?|scripts?|tools|internal|testdata)/"
)
_EXPORTED: Final = re.compile(r"^(?:module\.)?exports\.(\w+)\s*=", re.MULTILINE)
_KINDS: Final = (
    "class",
    "interface",
    "record",
    "enum",
    "struct",
    "trait",
    "function",
    "type",
    "object",
    "annotation",
)


def find_public_names(store: Store, prefix: str, read: Callable[[str], str]) -> list[str]:
    """The names, at most so many. `read` gives the text of a file."""
    exported = _find_exported(store, prefix, read)
    if exported:
        return exported[:_MOST]
    return _find_defined(store, prefix)[:_MOST]


def _find_exported(store: Store, prefix: str, read: Callable[[str], str]) -> list[str]:
    """What lists of exports name, what packages of Python import from their own modules, and `exports.name = `."""
    found = read_exported_names(store)
    own = [path for path in read_outermost_sources(store, "javascript") if _is_own(path, prefix)]
    for path in own[:_FILES]:
        for name in _EXPORTED.findall(read(path)):
            found.append((path, name))
    return _outermost(found, prefix)


def _outermost(found: Iterable[tuple[str, str]], prefix: str) -> list[str]:
    """Names of the files that lie highest; what only examples and tools offer is not offered."""
    own = []
    for path, name in found:
        if (
            path.startswith(prefix)
            and not _ASIDE.search(path[len(prefix) :])
            and not name.startswith("_")
            and name != "*"
        ):
            own.append((path.count("/"), name))
    if not own:
        return []
    least = min(own)[0]
    return list(dict.fromkeys(name for depth, name in own if depth <= least + 1))


def _find_defined(store: Store, prefix: str) -> list[str]:
    """Public definitions at the top of files, those first that most files mention."""
    names: dict[str, None] = {}
    for path, name in read_public_names(store, _KINDS):
        if _is_own(path, prefix) and not name.startswith("_"):
            names[str(name)] = None
        if len(names) == _LOOKED_AT:
            break
    known = list(names)
    uses = {name: len(store.files_mentioning(name)) for name in known}
    return sorted(known, key=lambda name: -uses[name])


def _is_own(path: str, prefix: str) -> bool:
    """Whether a file below a folder is part of what it offers."""
    return path.startswith(prefix) and not _ASIDE.search(path[len(prefix) :])
