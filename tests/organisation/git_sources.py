"""Small repositories to fetch from."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_source(folder: Path, files: dict[str, str]) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    return commit(folder, files)


def commit(folder: Path, files: dict[str, str], removed: tuple[str, ...] = ()) -> Path:
    """Another commit on top."""
    for path in removed:
        (folder / path).unlink()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    _git(folder, "add", "--all")
    _git(folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "-m", "work")
    return folder


def _git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True)
