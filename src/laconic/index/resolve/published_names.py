"""Under which names the code of a workspace is imported elsewhere, and which of such names a workspace imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from laconic.index.languages import dialect_of
from laconic.index.resolve.code import Code
from laconic.index.store.file_queries import read_imported_modules

_BOUNDARY: Final = re.compile(r"(?:::|[./\\])")

PublishedName = tuple[str, str]  # a family of languages, and a name in it


def published_names(code: Code) -> frozenset[PublishedName]:
    """What others write to import code of this workspace."""
    kept = code.derived.get("published")
    if isinstance(kept, frozenset):
        return kept
    found: set[PublishedName] = set()
    for language in sorted({source.language for source in code.sources.values()}):
        dialect = dialect_of(language)
        if dialect.publish is not None:
            for name in dialect.publish(code):
                found.add((dialect.family, name))
    names = code.derived["published"] = frozenset(found)
    return names


def imported_names(code: Code) -> frozenset[PublishedName]:
    """What the files of this workspace import: each module, and each name that it begins with."""
    kept = code.derived.get("imported")
    if isinstance(kept, frozenset):
        return kept
    found: set[PublishedName] = set()
    for language, module in read_imported_modules(code.store):
        family = dialect_of(language).family
        for name in beginnings(module):
            found.add((family, name))
    names = code.derived["imported"] = frozenset(found)
    return names


def beginnings(module: str) -> Iterator[str]:
    """`a.b.c` begins with `a`, `a.b` and itself; a relative import begins with nothing that has a name."""
    if module.startswith("."):
        return
    for mark in _BOUNDARY.finditer(module):
        yield module[: mark.start()]
    yield module


def imports_from(code: Code, other: Code) -> bool:
    """Whether a workspace imports what another publishes, and does not publish that itself."""
    shared = published_names(other) & imported_names(code)
    return bool(shared) and not shared <= published_names(code)
