"""Bring an index up to date: read what changed, batch by batch, each batch one transaction.

A build that is killed leaves whole batches behind; the next one completes the rest. One writer at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from laconic.index.changes import Changes, Known, compare, known
from laconic.index.prepared import Prepared
from laconic.index.preparing import Job, Preparer
from laconic.index.store import Store
from laconic.workspace.listing import listing
from laconic.workspace.lock import held

_BATCH_FILES: Final = 200
_BATCH_BYTES: Final = 4_000_000

Progress = Callable[[int, int], None]  # files done, files in all


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a build did."""

    written: int = 0
    unchanged: int = 0  # looked into, but the same bytes
    removed: int = 0
    seconds: float = 0.0
    locked: bool = False  # another process is writing: nothing was done


def lock_of(store: Store) -> Path:
    """The file that the one writer of an index holds."""
    return store.path.with_name(store.path.name + ".lock")


def build(store: Store, root: Path, preparer: Preparer, progress: Progress, *, seconds: float = 0.0) -> Outcome:
    """Make the whole workspace fresh; waits at most `seconds` for another writer."""
    with held(lock_of(store), seconds=seconds) as got:
        if not got:
            return Outcome(locked=True)
        remembered = known(store)
        return apply(store, root, compare(listing(root), remembered), remembered, preparer, progress=progress)


def apply(
    store: Store,
    root: Path,
    changes: Changes,
    remembered: dict[str, Known],
    preparer: Preparer,
    *,
    progress: Progress,
) -> Outcome:
    """Write changes that were found; the caller holds the lock."""
    started = time.perf_counter()
    if not changes:
        if store.meta("building") or not store.meta("built"):
            _finish(store)
        return Outcome(seconds=time.perf_counter() - started)
    total = len(changes.suspects)
    with store.writing():
        removed = store.drop(changes.gone)
        if total > _BATCH_FILES:
            store.set_meta("building", f"0/{total}")
    jobs = [Job(item, remembered[item.path].hash if item.path in remembered else b"") for item in changes.suspects]
    before = {job.item.path: job.before for job in jobs}
    done = written = 0
    for batch in _batches(preparer.prepared(root, jobs)):
        with store.writing():
            for file in batch:
                if file.hash and file.hash == before[file.path]:
                    store.touch(file)
                else:
                    store.put(file)
                    written += 1
            done += len(batch)
            if total > _BATCH_FILES:
                store.set_meta("building", f"{done}/{total}")
        progress(done, total)
    _finish(store)
    return Outcome(written, done - written, removed, time.perf_counter() - started)


def _finish(store: Store) -> None:
    with store.writing():
        store.connection.execute("DELETE FROM meta WHERE key = 'building'")
        store.set_meta("built", str(int(time.time())))


def _batches(files: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    batch: list[Prepared] = []
    volume = 0
    for file in files:
        batch.append(file)
        volume += file.size
        if len(batch) >= _BATCH_FILES or volume >= _BATCH_BYTES:
            yield batch
            batch, volume = [], 0
    if batch:
        yield batch
