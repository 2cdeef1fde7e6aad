"""Lay out and index the code that questions are about; both stay in the cache folder for the next run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from laconic.index.search import search
from laconic.index.workspace_index import Index
from laconic_benchmarks.report import Options
from laconic_benchmarks.search_questions.documentation import (
    ask,
    choose_documented,
    find_documented,
    is_removed,
    remove_documentation,
)
from laconic_benchmarks.search_questions.public_benchmark import PublicSet
from laconic_benchmarks.search_questions.questions import FoundPlace, Question
from laconic_benchmarks.snapshot import Snapshot

_DOCUMENTED: Final = 25  # questions from the documentation of one repository
_DEPTH: Final = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """An index with the questions that it is asked."""

    index: Index
    questions: list[Question]


@contextmanager
def open_public(given: PublicSet, mirror: Path, options: Options) -> Iterator[Asked]:
    """The code of a public set as it is."""
    work = Path(options.cache) / "questions" / given.repository.name
    _lay_out(given.repository.clone(mirror), given.repository.tree, work / "code")
    index = Index.open(work / "code", work / "index")
    try:
        index.build(seconds=1200)
        yield Asked(index, given.questions)
    finally:
        index.close()


@contextmanager
def open_documented(clone: Path, tree: str, name: str, options: Options) -> Iterator[Asked]:
    """The code of a repository without its documentation, some of which became questions."""
    work = Path(options.cache) / "questions" / f"{name}-documented"
    shutil.rmtree(work / "code", ignore_errors=True)
    _lay_out(clone, tree, work / "code")
    index = Index.open(work / "code", work / "index")
    try:
        index.build(seconds=1200)
        found = find_documented(index.store)
        chosen = choose_documented(found, Random(name), _DOCUMENTED)
        remove_documentation(work / "code", found)
        index.build(seconds=1200)
        yield Asked(index, [ask(each) for each in chosen if is_removed(index.store, each)])
    finally:
        index.close()


def _lay_out(clone: Path, tree: str, folder: Path) -> None:
    if folder.is_dir():
        return
    staging = folder.with_name("part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    Snapshot(clone, staging).show(tree)
    staging.rename(folder)


def find_places(index: Index, question: Question, depth: int = _DEPTH) -> list[FoundPlace]:
    """What a search without any model finds, best first. A definition that was asked for is found by its own line."""
    found = []
    for hit in search(index, question.text, semantic=False, limit=depth).hits:
        first, last = hit.line, hit.line
        if hit.span is not None and question.category != "documentation":
            first, last = hit.span.start, hit.span.end
        found.append(FoundPlace(hit.path, first, last))
    return found
