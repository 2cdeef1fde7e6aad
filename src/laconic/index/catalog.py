"""Where the indexes of all workspaces are, and what is in each. Removing one removes only Laconic's files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

from laconic.errors import IndexUnavailable, UsageError
from laconic.index.schema import VERSION
from laconic.index.store import remove
from laconic.workspace.roots import why_not_a_project

_FOLDER: Final = "index"
_ABANDONED: Final = 7 * 86_400  # seconds after which the index of another version is removed
_ROOT: Final = "root"  # the file that names the workspace


def place(cache: Path, root: Path) -> Path:
    """The index file of a workspace, whether it exists or not."""
    root = root.resolve()
    label = "".join(char if char.isalnum() or char in "-_." else "-" for char in root.name)[:40] or "root"
    key = blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return cache / _FOLDER / f"{label}-{key}" / f"{VERSION:08x}.sqlite"


def is_known(cache: Path, root: Path) -> bool:
    """Whether a workspace was indexed before."""
    return (place(cache, root).parent / _ROOT).exists()


def claim(cache: Path, root: Path, *, force: bool = False) -> Path:
    """The index file of a workspace, in a folder that is made on first use, for the owner only.

    A folder that is hardly meant as a code base is refused, unless it is forced or was before.
    """
    file = place(cache, root)
    name = file.parent / _ROOT
    if not force and (why := why_not_a_project(root)) and not name.exists():
        fix = f"Name the folder of a project; to index it anyway, run `laconic index --yes {root}` or add force=true."
        raise UsageError(f"Should all of {root} be indexed? It does not look like a project: {why}.", fix)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for owned in (cache, cache / _FOLDER, file.parent):
            owned.chmod(0o700)
        if not name.exists():
            name.write_text(str(root.resolve()), "utf-8", "surrogateescape")
    except OSError as error:
        advice = "Set cache_dir to a folder that you may write to."
        raise IndexUnavailable(f"The index cannot be stored in {cache}: {error.strerror}.", advice) from None
    for old in file.parent.glob("*.sqlite"):
        if old != file and time.time() - old.stat().st_mtime > _ABANDONED:
            remove(old)
    return file


def workspaces(cache: Path) -> Iterator[tuple[Path, Path]]:
    """Every indexed workspace: its root and its index file."""
    for name in sorted((cache / _FOLDER).glob(f"*/{_ROOT}")):
        yield Path(name.read_text("utf-8", "surrogateescape")), name.parent / f"{VERSION:08x}.sqlite"


def forget(cache: Path, root: Path) -> None:
    """Remove the index of a workspace."""
    folder = place(cache, root).parent
    shutil.rmtree(folder, ignore_errors=True)
