"""Where the indexes of all workspaces are. Removing one removes only Laconic's files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Final

from laconic.errors import IndexUnavailable, UsageError
from laconic.index.prune import collect_unheld
from laconic.index.schema import VERSION
from laconic.index.store import Store, remove
from laconic.workspace.checkouts import identify
from laconic.workspace.system_folders import why_not_a_project

_FOLDER: Final = "index"
_ABANDONED: Final = 7 * 86_400  # seconds after which the index of another version is removed
_COMMITS: Final = "commits"  # the folder with the files of commits that were asked about
_ROOTS: Final = "roots"  # the folder whose files name the checkouts that an index serves


def place(cache: Path, root: Path) -> Path:
    """The index file of a workspace, whether it exists or not: one for all checkouts of a repository."""
    if _is_commit(cache, root):
        return root.parent.parent / f"{VERSION:08x}.sqlite"
    name, identity = identify(root.resolve())
    label = "".join(char if char.isalnum() or char in "-_." else "-" for char in name)[:40] or "root"
    return cache / _FOLDER / f"{label}-{_key(identity)}" / f"{VERSION:08x}.sqlite"


def commit_folder(cache: Path, root: Path, commit: str) -> Path:
    """Where the files of a commit are kept: beside the index of its repository."""
    return place(cache, root).parent / _COMMITS / commit


def _is_commit(cache: Path, root: Path) -> bool:
    return root.parent.name == _COMMITS and root.parent.parent.parent == cache / _FOLDER


def _key(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()


def _note(file: Path, root: Path) -> Path:
    """The file that names a checkout."""
    return file.parent / _ROOTS / _key(str(root.resolve()))


def is_known(cache: Path, root: Path) -> bool:
    """Whether a workspace was indexed before."""
    return _note(place(cache, root), root).exists()


def claim(cache: Path, root: Path, *, force: bool = False) -> Path:
    """The index file of a workspace, in a folder that is made on first use, for the owner only.

    A folder that is hardly meant as a code base is refused, unless it is forced or was before.
    """
    file = place(cache, root)
    if _is_commit(cache, root):
        return file
    name = _note(file, root)
    if not force and (why := why_not_a_project(root)) and not name.exists():
        fix = f"Name the folder of a project; to index it anyway, run `laconic index --yes {root}` or add force=true."
        raise UsageError(f"Should all of {root} be indexed? It does not look like a project: {why}.", fix)
    try:
        name.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for owned in (cache, cache / _FOLDER, file.parent, name.parent):
            owned.chmod(0o700)
        if not name.exists():
            _drop_other_notes(cache, name)
            name.write_text(str(root.resolve()), "utf-8", "surrogateescape")
        name.touch()  # when it was last used
    except OSError as error:
        advice = "Set cache_dir to a folder that you may write to."
        raise IndexUnavailable(f"The index cannot be stored in {cache}: {error.strerror}.", advice) from None
    for old in file.parent.glob("*.sqlite"):
        if old != file and time.time() - old.stat().st_mtime > _ABANDONED:
            remove(old)
    return file


def _drop_other_notes(cache: Path, name: Path) -> None:
    """A folder whose repository has another address now leaves the index of the old one."""
    for other in (cache / _FOLDER).glob(f"*/{_ROOTS}/{name.name}"):
        if other != name:
            _forget(other.parent.parent / f"{VERSION:08x}.sqlite", other)


def workspaces(cache: Path) -> Iterator[tuple[Path, Path]]:
    """Every indexed workspace: its root and its index file."""
    for name in sorted((cache / _FOLDER).glob(f"*/{_ROOTS}/*")):
        yield Path(name.read_text("utf-8", "surrogateescape")), name.parent.parent / f"{VERSION:08x}.sqlite"


def recent_workspaces(cache: Path) -> list[tuple[Path, Path]]:
    """Every indexed workspace, the last used first."""
    return sorted(workspaces(cache), key=lambda known: -_note(known[1], known[0]).stat().st_mtime_ns)


def forget(cache: Path, root: Path) -> None:
    """Remove a workspace from its index, and the index with the last one. The folder itself may be gone."""
    root = root.resolve()
    for known, file in list(workspaces(cache)):
        if known == root:
            _forget(file, _note(file, root))


def forget_repository(cache: Path, root: Path) -> None:
    """Remove the index of a workspace with all checkouts that share it, to build it from nothing."""
    shutil.rmtree(place(cache, root).parent, ignore_errors=True)


def _forget(file: Path, note: Path) -> None:
    root = Path(note.read_text("utf-8", "surrogateescape"))
    note.unlink(missing_ok=True)
    if not any(note.parent.iterdir()):
        shutil.rmtree(file.parent, ignore_errors=True)
        return
    with closing(Store.open(file, root)) as store:
        with store.writing():
            store.forget_checkout()
        collect_unheld(store, keep_some=False)
