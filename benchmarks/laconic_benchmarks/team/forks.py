"""Repositories for an organisation: fetched ones, and forks of them with changes of their own, as bare repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from laconic.config import child_environment
from laconic.errors import Unreadable

_WHO: Final = {
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@localhost",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@localhost",
}
_FILES: Final = range(10, 3_000)  # of a repository that is taken


@dataclass(frozen=True)
class BenchRepository:
    """One repository. `secret` stands in its own code only."""

    name: str
    path: Path
    secret: str

    @property
    def workspace(self) -> str:
        return self.name.replace("/", "+")


def make_repositories(mirrors: Path, folder: Path, count: int, forks: int) -> list[BenchRepository]:
    """Copies of the smallest fetched repositories that are whole, each with forks."""
    found: list[BenchRepository] = []
    for source in _smallest(mirrors, count):
        owner, _, name = source.parent.name.partition("+")
        for number in range(forks + 1):
            full = f"{owner}/{name}" if not number else f"fork{number}-{owner}/{name}"
            path = folder / full.replace("/", "+")
            _share(source, path)
            repository = BenchRepository(full, path, sha256(full.encode()).hexdigest()[:12])
            push(repository, 0)
            found.append(repository)
    if not found:
        raise Unreadable(f"{mirrors} holds no repository.", "Name the folder in the setting `bench.mirror`.")
    return found


def push(repository: BenchRepository, number: int) -> str:
    """A commit on top: a new function in a file of its own. Returns its name."""
    name = f"marker{number}_{repository.secret}"
    index = repository.path / f"bench-index-{os.getpid()}"
    text = f'def {name}(value):\n    """Own work number {number}."""\n    return helper_{repository.secret}(value)\n'
    blob = _git(repository.path, "hash-object", "-w", "--stdin", given=text)
    head = _git(repository.path, "rev-parse", "HEAD")
    _git(repository.path, "read-tree", head, index=index)
    path = f"own/marker_{number}.py"
    _git(repository.path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
    tree = _git(repository.path, "write-tree", index=index)
    commit = _git(repository.path, "commit-tree", tree, "-p", head, "-m", f"work {number}")
    _git(repository.path, "update-ref", "HEAD", commit)
    index.unlink()
    return name


def _smallest(mirrors: Path, count: int) -> Sequence[Path]:
    sized: list[tuple[int, Path]] = []
    for source in mirrors.glob("*/repo"):
        try:
            files = _git(source, "ls-tree", "-r", "--name-only", "HEAD").count("\n")
        except subprocess.CalledProcessError:
            continue
        if files in _FILES:
            sized.append((files, source))
    sized.sort()
    whole = (source for _, source in sized if _is_whole(source))
    return list(islice(whole, count))


def _is_whole(source: Path) -> bool:
    """A mirror may lack its largest files, and git writes no tree that names what it has not."""
    named = _git(source, "rev-list", "--objects", "--missing=print", "--max-count=1", "HEAD")
    return not any(line.startswith("?") for line in named.splitlines())


def _share(source: Path, path: Path) -> None:
    """A bare repository that borrows the objects of another."""
    branch = _git(source, "symbolic-ref", "HEAD")
    commit = _git(source, "rev-parse", "HEAD")
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True, capture_output=True)
    (path / "objects" / "info" / "alternates").write_text(f"{source / 'objects'}\n", "utf-8")
    _git(path, "symbolic-ref", "HEAD", branch)
    _git(path, "update-ref", branch, commit)


def _git(folder: Path, *args: str, given: str = "", index: Path | None = None) -> str:
    environment = {**_WHO, "GIT_DIR": str(folder)}
    if index is not None:
        environment["GIT_INDEX_FILE"] = str(index)
    done = subprocess.run(
        ["git", *args],
        check=True,
        capture_output=True,
        text=True,
        input=given,
        env=child_environment(environment),
        cwd=folder,
    )
    return done.stdout.strip()
