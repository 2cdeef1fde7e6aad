"""Walk a folder that git does not know, leaving out what its ignore files name."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_FILES: Final = (b".gitignore", b".ignore")
# Folders that are never somebody's source, and large: left out even where no ignore file says so.
_HEAVY: Final = frozenset(
    {b"node_modules", b"__pycache__", b".venv", b".tox", b".nox", b".mypy_cache", b".ruff_cache", b".pytest_cache"}
)


class IgnoreFiles:
    """The ignore files of one folder and all below it."""

    def __init__(self, top: bytes) -> None:
        self._top = top

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
            if entry.name in never or (inside and entry.name in _HEAVY) or (specs and _matches(specs, name, inside)):
                continue
            if inside:
                folders.append(name + b"/")
            else:
                files.append(name)
        yield folder, sorted(files)
        for name in sorted(folders):
            yield from self._walk(name, never, specs)


def _spec(files: list[bytes]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # only folders without git need it

    lines: list[str] = []
    for file in files:
        try:
            lines += Path(os.fsdecode(file)).read_bytes().decode("utf-8", "replace").splitlines()
        except OSError:
            continue
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets that a later Python may read otherwise
        return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    """Whether a line can be read; git passes over those that cannot."""
    from pathspec import GitIgnoreSpec

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
