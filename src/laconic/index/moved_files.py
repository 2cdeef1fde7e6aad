"""Take over what the index knows of files that were moved, renamed or copied: equal bytes are not parsed again."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path

from laconic.index.content_record import content_key, digest
from laconic.index.prepared_file import HELD, PreparedFile, read
from laconic.index.reference_blobs import names_in
from laconic.index.schema import PARSER
from laconic.index.search_words import describe_content, place_words
from laconic.index.store import Store
from laconic.index.store.file_queries import KnownContent, find_contents
from laconic.workspace.file_classes import class_of
from laconic.workspace.listing import ListedFile
from laconic.workspace.read_file import as_text


def take_over_moved(store: Store, root: Path, suspects: Sequence[ListedFile], known: Collection[str]) -> set[str]:
    """The paths whose contents were known under other paths, now held; `known` are paths that need no such look."""
    new = [item for item in suspects if item.path not in known and item.size and not item.trouble]
    contents = find_contents(store, {item.size for item in new}, PARSER)
    taken: set[str] = set()
    if not contents:
        return taken
    sizes = {content.size for content in contents.values()}
    with store.writing():
        for item in new:
            if item.size in sizes and _take_over(store, root, item, contents):
                taken.add(item.path)
    return taken


def _take_over(store: Store, root: Path, item: ListedFile, contents: dict[bytes, KnownContent]) -> bool:
    checked = time.time_ns()
    data = read(root, item)
    if isinstance(data, PreparedFile):
        return False
    key = digest(data)
    content = contents.get(key)
    if content is None or content_key(item.path, data) != content_key(content.path, data):
        return False
    file_class = class_of(item.path, data)
    number = store.copy_version(content.id, item.path, file_class)
    words = describe_content(as_text(data), store.symbols_of_version(number))
    packed = store.packed_references_of_version(number)
    mentioned = " ".join(names_in(packed)) if packed else ""
    rows = place_words(item.path, words, bare=file_class == "data")
    store.put_words(number, mentioned, words.identifiers, rows)
    return store.hold(
        PreparedFile(
            path=item.path,
            size=item.size,
            mtime_ns=item.mtime_ns,
            ctime_ns=item.ctime_ns,
            checked_ns=checked,
            hash=key,
            state=HELD,
        )
    )
