"""A small repository and its index."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laconic.index.workspace_index import Index


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., None]:
    """Runs git in the repository."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]

    def run(*args: str) -> None:
        subprocess.run(["git", *identity, *args], cwd=tmp_path / "code", check=True, capture_output=True)

    return run


@pytest.fixture
def root(tmp_path: Path, git: Callable[..., None]) -> Path:
    root = tmp_path / "code"
    root.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (root / name).write_text(f"this is {name}\n")
    (root / ".gitignore").write_text("ignored.txt\n")
    (root / "ignored.txt").write_text("no")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    time.sleep(0.1)  # files that were just written are looked at twice: let them be older than one tick
    return root


@pytest.fixture
def index(root: Path, tmp_path: Path) -> Iterator[Index]:
    index = Index.open(root, tmp_path / "cache")
    yield index
    index.close()
