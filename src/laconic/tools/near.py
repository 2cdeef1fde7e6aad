"""Paths that resemble one that was not found."""

from __future__ import annotations

from difflib import SequenceMatcher, get_close_matches
from pathlib import PurePosixPath

from laconic.index.workspace_index import Index

_LOOKED_AT = 20_000


def near_paths(index: Index, path: str, most: int = 3) -> tuple[str, ...]:
    """Files whose name is the same or close."""
    rows = index.store.connection.execute("SELECT path FROM files LIMIT ?", (_LOOKED_AT,)).fetchall()
    wanted = PurePosixPath(path.lower())
    known = {str(row[0]): PurePosixPath(str(row[0]).lower()) for row in rows}
    same = [name for name, pure in known.items() if pure.name == wanted.name]
    if same:
        return tuple(sorted(same, key=lambda name: -SequenceMatcher(None, name, path).ratio())[:most])
    stems = {pure.name: name for name, pure in known.items()}
    return tuple(stems[name] for name in get_close_matches(wanted.name, stems, n=most, cutoff=0.6))
