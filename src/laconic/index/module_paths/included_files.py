"""Files named by path in the program text: C and C++ includes, Ruby requires."""

from __future__ import annotations

import posixpath
from typing import Final

from laconic.index.name_meaning import FOREIGN, Meaning, module
from laconic.index.resolve.code import Code, SourceFile

_GENERATED: Final = frozenset({"config.h", "version.h", "config.hpp", "version.hpp"})  # every project has its own


def publish_headers(code: Code) -> list[str]:
    """Headers as others include them: those at the top, or below a folder for that."""
    found: list[str] = []
    for source in code.sources.values():
        if source.file_class != "source" or not source.path.endswith((".h", ".hpp", ".hh")):
            continue
        outside, _, inner = f"/{source.path}".rpartition("/include/")
        at_top = "/" not in source.path
        if (outside or inner != source.path or at_top) and posixpath.basename(inner) not in _GENERATED:
            found.append(inner.removeprefix("/"))
    return found


def locate_included(code: Code, source: SourceFile, name: str) -> Meaning:
    """The file next to the asking one, else the only one (or the nearest) whose path ends so."""
    if "." in posixpath.basename(name) or source.language != "ruby":
        wanted = name
    else:
        wanted = f"{name}.rb"
    beside = posixpath.normpath(posixpath.join(source.folder, wanted))
    if found := code.by_path.get(beside):
        return module([found.id])
    tail = wanted.lstrip("./")
    ends = []
    for each in code.by_basename.get(posixpath.basename(tail), ()):
        if each.path == tail or each.path.endswith(f"/{tail}"):
            ends.append(each)
    if not ends:
        return FOREIGN
    return module([max(ends, key=lambda each: len(posixpath.commonpath([each.path, source.path]))).id])
