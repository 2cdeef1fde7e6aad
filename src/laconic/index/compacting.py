"""Rebuild the full-text tables when too many of their rows belong to files that no longer exist."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from laconic.errors import Unreadable
from laconic.index.store import Store
from laconic.index.store.file_queries import count_files
from laconic.index.words import documents
from laconic.workspace.reading import as_lines, read_listed

_FEW: Final = 500  # dead rows that are never worth the trouble


def too_many_dead(store: Store) -> bool:
    """Whether more versions of files are dead than alive: ranking counts them, and so does the disk."""
    dead = int(store.meta("dead", "0"))
    return dead > _FEW and dead > count_files(store)


def compact(store: Store, root: Path) -> None:
    """One transaction: readers see the old tables until the new ones are complete. The caller holds the lock."""
    with store.writing():
        store.clear_words()
        for file in list(store.files()):
            if file.state == "skipped":
                continue
            try:
                lines = as_lines(read_listed(f"{root}/{file.path}", file.path))
            except Unreadable:
                continue  # the next look at the disk drops it
            words = documents(file.path, lines, store.symbols_in(file.id), bare=file.file_class == "data")
            store.put_words(file.id, store.packed_references(file.id), words.identifiers, words.rows)
        store.set_meta("dead", "0")
        store.forget_meta("purge")
