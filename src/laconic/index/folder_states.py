"""Which folders are as they were when the index last took their files in: those need not be compared file by file.

A folder's state is a hash of the names, sizes and times of its files. Rows of the index are read only where it differs.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from binascii import Error as BadText
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from laconic.index.changes import StaleFiles, compare, read_known_files
from laconic.index.store import Store
from laconic.index.store.file_queries import count_files, read_paths
from laconic.workspace.listing import FolderFiles, ListedFile, list_folders, listing
from laconic.workspace.secrets import SecretFiles

_META: Final = "folders"
_YOUNG: Final = 2_000_000_000  # nanoseconds after which a file's time is sure to tell of the next change


class _SavedStates(msgspec.Struct):
    files: int  # rows that the index had: with fewer or more, somebody else has changed it
    folders: dict[str, bytes]


@dataclass(slots=True)
class FolderLook:
    """What a look at the disk found."""

    changes: StaleFiles
    folders: tuple[str, ...] = ()  # all that hold files
    files: int = -1  # that a workspace has; less than none: its folders cannot be told apart
    states: dict[str, bytes] = field(default_factory=dict)  # of all folders that the index now holds, once it is done
    unchanged: dict[str, bytes] = field(default_factory=dict)  # of those that it held before


def look_at_folders(store: Store, root: Path, secrets: SecretFiles, now_ns: int) -> FolderLook:
    """Compare the disk with the index. `now_ns` is a moment before the look."""
    before = _read(store)
    salt = secrets.fingerprint
    look = FolderLook(StaleFiles((), ()), files=0)
    items: list[ListedFile] = []
    others: list[FolderFiles] = []
    seen: set[str] = set()
    for folder in list_folders(root):
        if folder.path in seen:  # two repositories have files in one folder
            items = listing(root, secrets)
            folders = dict.fromkeys(item.path.rpartition("/")[0] for item in items)
            return FolderLook(compare(items, read_known_files(store)), tuple(folders))
        seen.add(folder.path)
        look.files += len(folder)
        state = folder.digest(salt)
        if before.get(folder.path) == state:
            look.unchanged[folder.path] = state
        else:
            others.append(folder)
        if folder.newest_ns + _YOUNG < now_ns:
            look.states[folder.path] = state
    look.folders = tuple(seen)
    for folder in others:
        items.extend(folder.list_files(secrets))
    if not before:
        look.changes = compare(items, read_known_files(store))
        return look
    # A folder that was too young to be remembered and has gone since is in neither: only the count of files tells.
    if others or before.keys() - look.unchanged.keys() or look.files != count_files(store):
        found = compare(items, read_known_files(store, [item.path for item in items]))
        look.changes = StaleFiles(found.suspects, _find_gone(store, look.unchanged, {item.path for item in items}))
    return look


def save_states(store: Store, look: FolderLook) -> None:
    """Remember what was looked at, once its changes were brought in; what could not be is looked at again."""
    saved = _SavedStates(count_files(store), look.states)
    if saved.files != look.files:
        saved.folders = look.unchanged
    text = b64encode(zlib.compress(msgspec.msgpack.encode(saved, order="sorted"), 1)).decode()
    if text != store.meta(_META):
        with store.writing():
            store.set_meta(_META, text)


def _read(store: Store) -> dict[str, bytes]:
    """The states of folders; none where the index is not what it was, or is to be parsed again."""
    text = store.meta(_META)
    if not text or store.outdated:
        return {}
    try:
        saved = msgspec.msgpack.decode(zlib.decompress(b64decode(text)), type=_SavedStates)
    except (ValueError, zlib.error, BadText):
        return {}
    if saved.files != count_files(store):
        return {}
    return saved.folders


def _find_gone(store: Store, unchanged: Collection[str], present: set[str]) -> tuple[str, ...]:
    gone = []
    for path in read_paths(store):
        if path.rpartition("/")[0] not in unchanged and path not in present:
            gone.append(path)
    return tuple(gone)
