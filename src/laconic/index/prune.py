"""Keep an index small: delete versions of files that nobody holds, and rebuild the full-text tables without them."""

from __future__ import annotations

from typing import Final

from laconic.errors import Unreadable
from laconic.index.content_record import digest
from laconic.index.reference_blobs import names_in
from laconic.index.search_words import describe_content, place_words
from laconic.index.store import Store
from laconic.index.store.file_queries import count_files
from laconic.index.store.rows import StoredVersion
from laconic.workspace.read_file import as_text, read_listed

_FEW: Final = 500  # versions that are never worth the trouble


def collect_unheld(store: Store, *, keep_some: bool = True) -> None:
    """Delete versions that no checkout holds, once a checkout has let go of as many as it holds.

    The newest stay, for whoever switches branches goes back soon. Without `keep_some`, none do.
    """
    enough = max(_FEW, count_files(store))
    if keep_some and int(store.meta("left", "0")) <= enough:
        return
    unheld = store.unheld_versions()
    if keep_some:
        unheld = unheld[: -enough // 2]
    with store.writing():
        for number in unheld:
            store.delete_version(number)
        store.set_meta("left", "0")


def too_many_dead(store: Store) -> bool:
    """Whether more versions of files are dead than alive: ranking counts them, and so does the disk."""
    dead = int(store.meta("dead", "0"))
    return dead > _FEW and dead > count_files(store)


def compact(store: Store) -> None:
    """One transaction: readers see the old tables until the new ones are complete. The caller holds the lock.

    The words come from the files themselves. A version whose text is nowhere any more is deleted.
    """
    with store.writing():
        store.clear_words()
        for version in store.all_versions():
            if version.state == "skipped":
                continue
            text = _read_text(version)
            if text is None:
                store.release_version(version.id)
                continue
            words = describe_content(text, store.symbols_of_version(version.id))
            rows = place_words(version.path, words, bare=version.file_class == "data")
            packed = store.packed_references_of_version(version.id)
            mentioned = " ".join(names_in(packed)) if packed else ""
            store.put_words(version.id, mentioned, words.identifiers, rows)
        store.set_meta("dead", "0")
        store.forget_meta("purge")


def _read_text(version: StoredVersion) -> str | None:
    """The text of a version from a checkout that holds it; None where that has changed, or nobody does."""
    if version.root is None:
        return None
    try:
        data = read_listed(f"{version.root}/{version.path}", version.path)
    except Unreadable:
        return None
    if digest(data) != version.hash:
        return None
    return as_text(data)
