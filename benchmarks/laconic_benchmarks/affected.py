"""Tests to run, on the commits of the benchmark of changes: are the test files of the commit in the list?

Each repository is laid out and indexed once and then moved from commit to commit. "whole" asks with the whole change,
whose own test files come first; "blind" hides them, so that calls, words, history, names and places must find them.
The history ends before the commit.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from laconic.errors import Unreadable
from laconic.index.affected.impact import MOST, reaching
from laconic.index.compare.symbols import Comparison, compare
from laconic.index.resolve import Code
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic.workspace.changed_together import read_commit_files
from laconic.workspace.file_classes import class_of
from laconic.workspace.git import git, git_in_own
from laconic.workspace.revisions import changes, states
from laconic_benchmarks.diff import is_code, measured_commits, repositories, some_code
from laconic_benchmarks.report import Options, Report, at_least, versions

_COMMITS: Final = 12  # of each repository at least; recent ones join those of the benchmark of changes
_LANGUAGES: Final = 4


def run(options: Options) -> Report:
    """Every repository that is there, or those that are named."""
    rows: list[dict[str, Cell]] = []
    for name, language in repositories().items():
        clone = Path(options.mirror) / name / "repo"
        if clone.is_dir() and (not options.args or name in options.args):
            with tempfile.TemporaryDirectory() as folder:
                rows.append({"repository": name, "language": language, **_measure(clone, Path(folder))})
    if not rows:
        raise Unreadable(f"{options.mirror} holds no repository.", "Name the folder in the setting `bench.mirror`.")
    tests = sum(int(row["tests"] or 0) for row in rows)
    found = {way: sum(int(row[way] or 0) for row in rows) / max(1, tests) for way in ("whole", "blind")}
    commits = sum(int(row["commits"] or 0) for row in rows)
    return Report(
        name="affected",
        corpus=f"{commits} commits that change code and tests",
        tokenizer="none",
        rows=tuple(rows),
        bars=(
            at_least("commits", commits, 60),
            at_least("languages", len({row["language"] for row in rows}), _LANGUAGES),
            at_least(f"test files of the commit among the first {MOST}", found["whole"], 0.9),
        ),
        notes=(f"blind: {found['blind']:.3f}",),
        versions=versions("tree-sitter"),
    )


def _measure(clone: Path, folder: Path) -> dict[str, Cell]:
    tree = folder / "tree"
    git_in_own(folder, "clone", "-q", "--local", "--no-checkout", str(clone), str(tree), seconds=600)
    tests = whole = blind = 0
    commits = _commits(clone)
    for commit in commits:
        git_in_own(tree, "checkout", "-q", "--force", "--detach", commit, seconds=600)
        index = Index.open(tree, folder / "cache")
        index.build()
        found = compare(changes(tree, states(tree, f"{commit}^!")))
        touched = {file.change.path for file in found.files if file.new and _is_test(file.change.path)}
        hidden = Comparison(
            tuple(file for file in found.files if file.change.path not in touched),
            tuple(change for change in found.symbols if change.path not in touched),
        )
        code = Code(index.store, tree)
        past = read_commit_files(tree, f"{commit}^")
        tests += len(touched)
        whole += len(touched & set(reaching(code, found, past)[:MOST]))
        blind += len(touched & set(reaching(code, hidden, past)[:MOST]))
        index.close()
    return {"commits": len(commits), "tests": tests, "whole": whole, "blind": blind}


def _commits(clone: Path) -> list[str]:
    """The commits of the benchmark of changes that change code and tests, and recent ones, oldest first."""
    chosen = [commit for commit in measured_commits(clone) if _fits(clone, commit)]
    for commit in git(clone, "log", "--no-merges", "--format=%H", "-n", "400", seconds=600).decode().split():
        if len(chosen) >= _COMMITS:
            break
        if commit not in chosen and _fits(clone, commit):
            chosen.append(commit)
    return git(clone, "rev-list", "--no-walk=sorted", "--reverse", *chosen, seconds=600).decode().split()


def _fits(clone: Path, commit: str) -> bool:
    """Whether a commit changes code and tests, and no more tests than the list is long."""
    names = some_code(clone, commit)
    return 0 < sum(map(_is_test, names)) <= MOST and not all(map(_is_test, names))


def _is_test(path: str) -> bool:
    return class_of(path) == "test" and is_code(path)
