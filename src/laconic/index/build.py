"""Bring an index up to date: read what changed, batch by batch, each batch one transaction.

A build that is killed leaves whole batches behind; the next one completes the rest. One writer at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from laconic.index.changes import StaleFiles, is_same, read_known_files
from laconic.index.folder_states import look_at_folders, save_states
from laconic.index.moved_files import take_over_moved
from laconic.index.parse_files import FilePreparer, ParseJob
from laconic.index.parse_order import ParseOrder, WantedFiles, sort_suspects
from laconic.index.prepared_file import HELD, PreparedFile
from laconic.index.prune import collect_unheld, compact, too_many_dead
from laconic.index.schema import PARSER
from laconic.index.store import Store
from laconic.index.store.file_queries import FileStamp, read_versions
from laconic.workspace.listing import ListedFile
from laconic.workspace.secrets import NO_EXCEPTIONS, SECRET, SecretFiles

_NONE: Final = frozenset[bytes]()
_BATCH_FILES: Final = 200
_BATCH_BYTES: Final = 4_000_000

Progress = Callable[[int, int], None]  # files done, files in all


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did."""

    written: int = 0
    unchanged: int = 0  # looked into, but the same bytes
    removed: int = 0
    seconds: float = 0.0
    locked: bool = False  # another process is writing: nothing was done


def build(
    store: Store,
    root: Path,
    preparer: FilePreparer,
    progress: Progress,
    *,
    secrets: SecretFiles = NO_EXCEPTIONS,
    seconds: float = 0.0,
    wanted: WantedFiles | None = None,
    clock: Callable[[], int] = time.time_ns,
) -> BuildResult:
    """Make the whole workspace fresh, first what is `wanted`; waits at most `seconds` for another writer."""
    with store.lock(seconds) as got:
        if not got:
            return BuildResult(locked=True)
        older = store.outdated
        look = look_at_folders(store, root, secrets, clock())
        outcome = _apply(store, root, look.changes, preparer, progress, wanted=wanted or WantedFiles())
        if outcome.written or outcome.removed or older or not store.meta("built"):
            _finish(store)
        collect_unheld(store, keep_some=not older)
        if older or too_many_dead(store):
            compact(store)
        save_states(store, look)
        store.shrink()
        return outcome


def bring_in(
    store: Store, root: Path, changes: StaleFiles, preparer: FilePreparer, *, seconds: float = 2.0
) -> BuildResult:
    """Write changes that were found a moment ago."""
    with store.lock(seconds) as got:
        if not got:
            return BuildResult(locked=True)
        outcome = _apply(store, root, changes, preparer, lambda done, total: None, wanted=WantedFiles())
        collect_unheld(store)
        return outcome


def _apply(
    store: Store, root: Path, changes: StaleFiles, preparer: FilePreparer, progress: Progress, *, wanted: WantedFiles
) -> BuildResult:
    started = time.perf_counter()
    before = read_known_files(store, [item.path for item in changes.suspects])
    # Another process may have brought some of them in while we waited for the lock.
    suspects = [item for item in changes.suspects if not (held := before.get(item.path)) or not is_same(held, item)]
    total = len(suspects)
    counting = total > _BATCH_FILES
    secret = [item.path for item in suspects if _becomes_secret(item, before)]
    if secret:  # what it held leaves the disk, not only the tables
        store.overwrite_deleted()
        with store.writing():
            store.erase(secret)
            store.set_meta("purge", "1")
    with store.writing():
        removed = store.drop(changes.gone)
        if counting:
            store.set_meta("building", f"0/{total}")
    done = count = 0
    sort_suspects(suspects)
    versions = _read_versions(store, suspects)
    moved = take_over_moved(store, root, suspects, versions)
    if moved:
        count = done = len(moved)
        suspects = [item for item in suspects if item.path not in moved]
    jobs = ParseOrder([ParseJob(item, versions.get(item.path, _NONE)) for item in suspects], wanted)
    for batch in _batches(preparer.prepare(root, jobs), jobs.urgent):
        with store.writing():
            count += sum(_put(store, file, before) for file in batch)
            done += len(batch)
            if counting:
                store.set_meta("building", f"{done}/{total}")
        progress(done, total)
    if store.meta("purge"):  # also what a killed build left behind
        compact(store)
        store.shrink()
    if store.meta("building") and not store.outdated:  # also what a killed build left behind
        _finish(store)
    return BuildResult(count, done - count, removed, time.perf_counter() - started)


def _becomes_secret(item: ListedFile, before: dict[str, FileStamp]) -> bool:
    return item.trouble == SECRET and item.path in before and before[item.path].reason != SECRET


def _put(store: Store, file: PreparedFile, before: dict[str, FileStamp]) -> bool:
    if file.hash and file.path in before and before[file.path].hash == file.hash:
        store.touch(file)
        return False
    if file.state == HELD:  # if its version has gone meanwhile, the next look finds the file missing
        return store.hold(file)
    store.put(file)
    return True


def _read_versions(store: Store, suspects: Sequence[ListedFile]) -> dict[str, frozenset[bytes]]:
    """The hashes of what the index already holds of these files, of other checkouts and of earlier."""
    found: dict[str, frozenset[bytes]] = {}
    for path, hashes in read_versions(store, [item.path for item in suspects], PARSER).items():
        found[path] = frozenset(hashes)
    return found


def _finish(store: Store) -> None:
    with store.writing():
        store.forget_meta("building")
        store.set_meta("built", str(int(time.time())))


def _batches(files: Iterable[PreparedFile], urgent: set[str]) -> Iterator[list[PreparedFile]]:
    """Files to write at once; a batch ends early after the last file that somebody waits for."""
    batch: list[PreparedFile] = []
    volume = 0
    for file in files:
        batch.append(file)
        volume += file.size
        waited = file.path in urgent
        urgent.discard(file.path)
        if len(batch) >= _BATCH_FILES or volume >= _BATCH_BYTES or (waited and not urgent):
            yield batch
            batch, volume = [], 0
    if batch:
        yield batch
