"""Which files a file can know of through what it imports, directly or by way of others."""

from __future__ import annotations

from typing import Final

from laconic.index.resolve.code import Code
from laconic.index.resolve.modules import locate

_WIDEST: Final = 600  # files; a file that leads to more of them may know of all


def can_reach(code: Code, file: int, wanted: int) -> bool:
    """Whether a type that one file declares can be known in another: some chain of imports must lead there."""
    reached = _read_reach(code, file)
    return reached is None or wanted in reached


def _read_reach(code: Code, file: int) -> frozenset[int] | None:
    """All files that a file leads to; nothing when they are too many."""
    key = ("reach", file)
    if key in code.derived:
        kept = code.derived[key]
        return kept if isinstance(kept, frozenset) else None
    found = {file}
    queue = [file]
    while queue and len(found) <= _WIDEST:
        for each in _find_imported(code, queue.pop()):
            if each not in found:
                found.add(each)
                queue.append(each)
    reach = frozenset(found) if len(found) <= _WIDEST else None
    code.derived[key] = reach
    return reach


def _find_imported(code: Code, file: int) -> tuple[int, ...]:
    key = ("imported", file)
    kept = code.derived.get(key)
    if isinstance(kept, tuple):
        return kept
    source = code.sources[file]
    found: dict[int, None] = {}
    if source.dialect.shared == "folder":
        for beside in code.by_folder[source.folder]:
            found[beside.id] = None
    for each in code.imports(file):
        if each.module:
            found.update(dict.fromkeys(locate(code, source, each.module).files))
    imported = tuple(each for each in found if each in code.sources)
    code.derived[key] = imported
    return imported
