"""Commits that were asked about: their files lie beside the index that they share with all checkouts. Few are kept."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Final

from laconic.index import catalog
from laconic.index.prune import collect_unheld
from laconic.index.store import Store
from laconic.workspace.commit_files import write_commit

KEPT: Final = 6  # commits of a repository


def open_commit(cache: Path, root: Path, commit: str) -> Path:
    """The folder with the files of a commit, written on first use."""
    folder = catalog.commit_folder(cache, root, commit)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_commit(root, commit, folder)
        _drop_oldest(cache, folder)
    os.utime(folder)
    return folder


def _drop_oldest(cache: Path, newest: Path) -> None:
    """Forget the commits that nobody asked about for longest."""
    known = [each for each in newest.parent.iterdir() if each.is_dir() and each != newest and each.suffix != ".tmp"]
    known.sort(key=lambda each: -each.stat().st_mtime)
    for old in known[KEPT - 1 :]:
        with closing(Store.open(catalog.place(cache, old), old)) as store:
            with store.writing():
                store.forget_checkout()
            collect_unheld(store)
        shutil.rmtree(old, ignore_errors=True)
