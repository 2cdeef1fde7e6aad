"""A copy of a workspace in which a program can do what it likes: what it writes there is gone afterwards.

Files that git does not ignore are copied. Folders that it ignores hold what was installed (`node_modules`, `.venv`): they
are linked. What was built or cached before is left out, for a program would write there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from laconic.errors import UsageError
from laconic.workspace.listing import ListedFile, listing

_MOST_FILES: Final = 200_000
_MOST_BYTES: Final = 2_000_000_000
_IGNORED_FILE: Final = 5_000_000  # bytes of an ignored file that is copied: one that was generated beside the sources
_LEFT_OUT: Final = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "target", "build", "dist", "out", ".gradle", "__pycache__", ".mypy_cache",
        ".ruff_cache", ".pytest_cache", ".hypothesis", ".tox", ".nox", ".eslintcache", ".tsbuildinfo", ".coverage",
    }
)  # fmt: skip
_FIX: Final = "Run the tool yourself, and name its output in `file`."


@contextmanager
def working_copy(root: Path) -> Iterator[Path]:
    """A folder with what the workspace holds; it is removed at the end."""
    files = listing(root)
    if len(files) > _MOST_FILES or sum(file.size for file in files) > _MOST_BYTES:
        raise UsageError("The workspace is too large to be copied for a tool that must not change it.", _FIX)
    with TemporaryDirectory(prefix="laconic-copy-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder).resolve() / root.name
        copy.mkdir()
        _copy_files(root, copy, files)
        _link_ignored(root, copy, files)
        yield copy


def find_changed(root: Path, before: Sequence[ListedFile]) -> list[str]:
    """The files that are not as they were."""
    now = set(listing(root))
    found: list[str] = []
    for file in before:
        if file not in now:
            found.append(file.path)
    return found


def _copy_files(root: Path, copy: Path, files: Sequence[ListedFile]) -> None:
    for file in files:
        source, target = root / file.path, copy / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(source, target, follow_symlinks=False)
        except OSError:
            continue  # it went away meanwhile, or is no file that can be read


def _link_ignored(root: Path, copy: Path, files: Sequence[ListedFile]) -> None:
    folders = {""}
    for file in files:
        parts = file.path.split("/")[:-1]
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    known = folders | {file.path for file in files}
    for folder in folders:
        for entry in os.scandir(root / folder):
            path = f"{folder}/{entry.name}".lstrip("/")
            if path in known or entry.name in _LEFT_OUT:
                continue
            if entry.is_dir(follow_symlinks=False):
                (copy / path).symlink_to(root / path, target_is_directory=True)
            elif entry.is_file(follow_symlinks=False) and entry.stat().st_size <= _IGNORED_FILE:
                shutil.copy2(entry.path, copy / path)
