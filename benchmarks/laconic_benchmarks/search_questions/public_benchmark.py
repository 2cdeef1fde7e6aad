"""The public benchmark of the project semble (MIT licence): questions in words and names, with the files that are right.

It is read from a clone of that project, and nothing of it is kept here. It pins 63 repositories; a repository is used
if a clone holds the pinned commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from laconic.errors import CommandFailed, Unreadable
from laconic.workspace.git import git
from laconic_benchmarks.search_questions.questions import Question, Target

_CLONES: Final = ("MinishLab+semble", "michalfedyna+semble")  # the project, and a public copy of it


class PinnedRepository(msgspec.Struct, frozen=True):
    """A row of the benchmark's list of repositories."""

    name: str
    language: str
    url: str
    revision: str
    benchmark_root: str | None = None

    @property
    def tree(self) -> str:
        """What git is asked for: the folder that is measured, at the pinned commit."""
        return f"{self.revision}:{self.benchmark_root or ''}"

    def clone(self, mirror: Path) -> Path:
        """Where the bare clone of the repository is."""
        owner_and_name = self.url.removesuffix(".git").split("github.com/")[1]
        return mirror / owner_and_name.replace("/", "+") / "repo"


class _Lines(msgspec.Struct, frozen=True):
    path: str
    start_line: int | None = None
    end_line: int | None = None


class _Annotation(msgspec.Struct, frozen=True):
    query: str
    relevant: list[str | _Lines] = []
    secondary: list[str | _Lines] = []
    category: str = "semantic"


class PublicSet(NamedTuple):
    """A repository that can be measured, with its questions."""

    repository: PinnedRepository
    questions: list[Question]


def read_public_sets(mirror: Path) -> Iterator[PublicSet]:
    """The repositories whose clones hold the pinned commit."""
    clone = _find_clone(mirror)
    rows = msgspec.json.decode(_show(clone, "benchmarks/repos.json"), type=list[PinnedRepository])
    for repository in sorted(rows, key=lambda row: row.name):
        if not _has_commit(repository.clone(mirror), repository.revision):
            continue
        written = _show(clone, f"benchmarks/annotations/{repository.name}.json")
        questions = []
        for row in msgspec.json.decode(written, type=list[_Annotation]):
            questions.append(Question(row.query, row.category, tuple(map(_target, [*row.relevant, *row.secondary]))))
        yield PublicSet(repository, questions)


def _find_clone(mirror: Path) -> Path:
    for name in _CLONES:
        if (mirror / name / "repo").is_dir():
            return mirror / name / "repo"
    raise Unreadable(
        f"{mirror} holds no clone of the benchmark.",
        f"Clone github.com/{_CLONES[0].replace('+', '/')} into it, bare.",
    )


def _show(clone: Path, path: str) -> bytes:
    return git(clone, "show", f"HEAD:{path}")


def _has_commit(clone: Path, commit: str) -> bool:
    if not clone.is_dir():
        return False
    try:
        return git(clone, "cat-file", "-t", commit).strip() == b"commit"
    except CommandFailed:
        return False


def _target(given: str | _Lines) -> Target:
    if isinstance(given, str):
        return Target(given)
    return Target(given.path, given.start_line or 0, given.end_line or 0)
