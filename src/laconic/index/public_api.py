"""The names that a code base offers to others: what it exports, or else its public definitions, the most used first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from laconic.index.store import Store
from laconic.index.store.file_queries import read_exported_names, read_outermost_sources
from laconic.index.store.symbol_queries import read_public_names

_MOST: Final = 40
_LOOKED_AT: Final = 300  # definitions whose uses are counted
_FILES: Final = 30  # files of JavaScript that are read
_ASIDE: Final = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?|benchmarks?|scripts?|tools|support|internal|testdata|testFixtures|tests?)/"
)
_FEW: Final = 3  # names with which a file says too little of what is offered
_SHARE: Final = 0.2  # of the lines of the largest language that one needs to say what is offered
# Words that most code of a language uses for what others wrote, and what no list of exports names.
_COMMON: Final = frozenset(
    {"main", "new", "default", "setup", "derive", "Debug", "Clone", "Default", "Result", "Error"}
)
_ONE_LANGUAGE: Final = {"typescript": "javascript", "tsx": "javascript", "c": "cpp"}
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
    main = _find_main_languages(store, prefix)
    found: list[tuple[str, str]] = []
    for path, name in read_exported_names(store):
        file = store.file(path)
        if file is not None and _ONE_LANGUAGE.get(file.language, file.language) in main:
            found.append((path, name))
    own = [path for path in read_outermost_sources(store, "javascript") if _is_own(path, prefix)]
    for path in own[:_FILES]:
        for name in _EXPORTED.findall(read(path)):
            found.append((path, name))
    return _outermost(found, prefix)


def _outermost(found: Iterable[tuple[str, str]], prefix: str) -> list[str]:
    """Names of the files that lie highest; what only examples and tools offer is not offered."""
    own = []
    for path, name in found:
        if _is_own(path, prefix) and _may_be_offered(name):
            own.append((path.count("/"), name))
    if not own:
        return []
    own.sort(key=lambda each: each[0])
    least = own[0][0]
    highest = list(dict.fromkeys(name for depth, name in own if depth == least))
    if len(highest) >= _FEW:
        return highest
    return list(dict.fromkeys(name for depth, name in own if depth <= least + 1))


def _may_be_offered(name: str) -> bool:
    return len(name) > 1 and not name.startswith(("_", "*")) and name not in _COMMON


def _find_main_languages(store: Store, prefix: str) -> frozenset[str]:
    """The languages in which much of a code base is written: a script of another offers nothing."""
    lines = Counter[str]()
    for file in store.files():
        if file.file_class == "source" and file.language and _is_own(file.path, prefix):
            lines[_ONE_LANGUAGE.get(file.language, file.language)] += file.lines
    most = max(lines.values(), default=0)
    return frozenset(language for language, count in lines.items() if count >= _SHARE * most)


def _find_defined(store: Store, prefix: str) -> list[str]:
    """Public definitions at the top of files, those first that most files mention."""
    names: dict[str, None] = {}
    for path, name in read_public_names(store, _KINDS):
        if _is_own(path, prefix) and _may_be_offered(name):
            names[str(name)] = None
        if len(names) == _LOOKED_AT:
            break
    known = list(names)
    uses = {name: len(store.files_mentioning(name)) for name in known}
    return sorted(known, key=lambda name: -uses[name])


def _is_own(path: str, prefix: str) -> bool:
    """Whether a file below a folder is part of what it offers."""
    return path.startswith(prefix) and not _ASIDE.search(path[len(prefix) :])
