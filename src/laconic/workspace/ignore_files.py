"""Walk a folder that git does not know, leaving out what its ignore files name."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.errors import Unreadable
from laconic.workspace.read_file import read_listed

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_FILES: Final = (b".gitignore", b".ignore")
_LARGEST: Final = 1_000_000  # bytes of such a file
_STARS: Final = 3  # in one name, and folders of any name in one pattern: more would take very long to try
_LONGEST: Final = 4_096  # characters of a pattern
_SLOW: Final = 0.002  # seconds that one name may take before it counts
_PATIENCE: Final = 10.0  # seconds that slow names may take in all: then nothing is left out any more
# Folders that are never somebody's source, and large: left out even where no ignore file says so.
_HEAVY: Final = frozenset(
    {b"node_modules", b"__pycache__", b".venv", b".tox", b".nox", b".mypy_cache", b".ruff_cache", b".pytest_cache"}
)


class IgnoreFiles:
    """The ignore files of one folder and all below it."""

    def __init__(self, top: bytes) -> None:
        self._top = top
        self._left = _PATIENCE

    def walk(self, never: frozenset[bytes]) -> Iterator[tuple[bytes, list[bytes]]]:
        """Each folder with the files directly in it, named from the top; links are named, never followed."""
        yield from self._walk(b"", never, [])

    def _walk(
        self, folder: bytes, never: frozenset[bytes], specs: list[tuple[int, GitIgnoreSpec]]
    ) -> Iterator[tuple[bytes, list[bytes]]]:
        try:
            entries = list(os.scandir(self._top + b"/" + folder))
        except OSError:
            return
        here = sorted(entry.name for entry in entries if entry.name in _FILES)
        if here:
            specs = [*specs, (len(folder), _spec([self._top + b"/" + folder + name for name in here]))]
        files: list[bytes] = []
        folders: list[bytes] = []
        for entry in entries:
            name = folder + entry.name
            inside = entry.is_dir(follow_symlinks=False)
            if (
                entry.name in never
                or (inside and entry.name in _HEAVY)
                or (specs and self._leaves_out(specs, name, inside))
            ):
                continue
            if inside:
                folders.append(name + b"/")
            else:
                files.append(name)
        yield folder, sorted(files)
        for name in sorted(folders):
            yield from self._walk(name, never, specs)

    def _leaves_out(self, specs: list[tuple[int, GitIgnoreSpec]], name: bytes, folder: bool) -> bool:
        if self._left <= 0:
            return False
        start = time.thread_time()
        found = _matches(specs, name, folder)
        took = time.thread_time() - start
        if took > _SLOW:
            self._left -= took
        return found


def _spec(files: list[bytes]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # only folders without git need it

    lines: list[str] = []
    for file in files:
        try:
            lines += read_listed(os.fsdecode(file), "", _LARGEST).decode("utf-8", "replace").splitlines()
        except Unreadable:
            continue
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets that a later Python may read otherwise
        return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    """Whether a line can be read, and tried in a reasonable time; git passes over those that cannot be read."""
    from pathspec import GitIgnoreSpec

    names = line.split("/")
    if len(line) > _LONGEST or names.count("**") > _STARS:
        return False
    if any(name.count("*") > _STARS for name in names):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _matches(specs: list[tuple[int, GitIgnoreSpec]], name: bytes, folder: bool) -> bool:
    """The innermost ignore file that says anything about a name decides."""
    text = os.fsdecode(name) + ("/" if folder else "")
    for at, spec in reversed(specs):
        verdict = spec.check_file(text[at:]).include
        if verdict is not None:
            return verdict
    return False
