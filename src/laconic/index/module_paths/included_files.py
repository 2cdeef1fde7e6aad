"""Files named by path in the program text: C and C++ includes, Ruby requires."""

from __future__ import annotations

import posixpath

from laconic.index.meaning import FOREIGN, Meaning, module
from laconic.index.resolve.code import Code, SourceFile


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
