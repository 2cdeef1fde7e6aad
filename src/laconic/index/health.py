"""Examine everything that an index needs, and name what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import msgspec

from laconic.errors import LaconicError
from laconic.index import catalog
from laconic.index.changes import compare, read_known_files
from laconic.index.parse.pool import ParsePool
from laconic.index.store import Store
from laconic.index.store.statistics import read_statistics_of_file
from laconic.records import ParseFailure
from laconic.render.plural import count_of
from laconic.workspace.git import repository_of, version
from laconic.workspace.listing import listing
from laconic.workspace.secrets import NO_EXCEPTIONS, SecretFiles

_ROOM: Final = 1_000_000  # bytes that the cache folder must still take
_OLDEST: Final = (3, 34)  # the first SQLite with trigrams


class HealthFinding(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    what: str
    well: bool
    seen: str
    advice: str = ""


def examine(root: Path, cache: Path, secrets: SecretFiles = NO_EXCEPTIONS) -> list[HealthFinding]:
    """All findings, in the order in which to fix them."""
    checks: list[Callable[[], Iterator[HealthFinding]]] = [
        _sqlite,
        lambda: _cache(cache),
        lambda: _git(root),
        _parser,
        lambda: _index(root, cache, secrets),
    ]
    found: list[HealthFinding] = []
    for check in checks:
        try:
            found += check()
        except (LaconicError, OSError, sqlite3.Error) as error:
            found.append(HealthFinding("examination", False, str(error)))
    return found


def _sqlite() -> Iterator[HealthFinding]:
    well = sqlite3.sqlite_version_info[:2] >= _OLDEST
    if well:
        with closing(sqlite3.connect(":memory:")) as connection:
            try:
                connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')")
            except sqlite3.OperationalError:
                well = False
    advice = "Use a Python whose SQLite has FTS5 with trigrams (3.34 or later)."
    if well:
        advice = ""
    yield HealthFinding("sqlite", well, sqlite3.sqlite_version, advice)


def _cache(cache: Path) -> Iterator[HealthFinding]:
    place = cache
    while not os.path.lexists(place):
        place = place.parent
    try:
        with TemporaryFile(dir=place) as probe:  # permissions do not tell: a file system may be read-only, or full
            probe.write(bytes(_ROOM))
            probe.flush()
            well = True
    except OSError:
        well = False
    yield HealthFinding(
        "cache folder", well, str(cache), "" if well else "Set cache_dir to a folder that you may write to."
    )


def _git(root: Path) -> Iterator[HealthFinding]:
    try:
        found = version(root)
        repository = repository_of(root)
    except LaconicError as error:
        yield HealthFinding("git", False, str(error), "Until then, ignore files decide what belongs to a workspace.")
        return
    inside = repository.top if repository else None
    yield HealthFinding("git", True, f"{found}; {f'work tree {inside}' if inside else 'no repository here'}")


def _parser() -> Iterator[HealthFinding]:
    with ParsePool(1) as pool:
        outcome = next(iter(pool.parse_many([("probe.py", b"def probe():\n    pass\n")])))[1]
    if isinstance(outcome, ParseFailure) or not outcome.definitions:
        why = "a function was not found"
        if isinstance(outcome, ParseFailure):
            why = outcome.reason
        yield HealthFinding("parser", False, why, "Install laconic again.")
    else:
        yield HealthFinding("parser", True, "parses in a separate process")


def _index(root: Path, cache: Path, secrets: SecretFiles) -> Iterator[HealthFinding]:
    root = root.resolve()
    file = catalog.place(cache, root)
    build = f"Run `laconic index {root}`."
    if not file.exists():
        yield HealthFinding("index", True, "none yet: the first question builds it.", f"{build[:-1]} to have it now.")
        return
    store = Store.open(file, root)
    try:
        verdict = store.check()
        if verdict != "ok":
            yield HealthFinding(
                "index", False, f"{file} is damaged: {verdict}.", f"Run `laconic index --rebuild {root}`."
            )
            return
        stale = len(compare(listing(root, secrets), read_known_files(store)))
        numbers = read_statistics_of_file(file, root)
    finally:
        store.close()
    size = f"{numbers.files} files, {numbers.symbols} symbols, {numbers.index_bytes / 1e6:.1f} MB"
    yield HealthFinding(
        "index", bool(numbers.built), size, "" if numbers.built else f"It was never completed. {build}"
    )
    if stale:
        fresh = f"{count_of(stale, 'file')} changed; the next question brings the index up to date"
    else:
        fresh = "every file is up to date"
    yield HealthFinding("fresh", True, fresh)
    if numbers.failed:
        yield HealthFinding(
            "failed files", False, f"{numbers.failed} could not be parsed", "Their text is still searched."
        )
