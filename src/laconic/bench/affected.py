"""Tests to run, on commits that changed both code and tests: are the test files of the commit in the list?

Each commit is laid out and indexed. "whole" asks with the whole change, whose own test files come first; "blind"
hides them, so that only the graph and names can find them.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from laconic.bench.diff import repositories, some_code
from laconic.bench.report import Cell, Options, Report, at_least, versions
from laconic.errors import Unreadable
from laconic.index.compare.symbols import Comparison, compare
from laconic.index.resolve import Code
from laconic.index.workspace_index import Index
from laconic.tools.affected import MOST, reaching
from laconic.workspace.classes import class_of
from laconic.workspace.revisions import changes, states

_COMMITS: Final = 4  # of each repository


def run(options: Options) -> Report:
    """Every repository that is there."""
    rows: list[dict[str, Cell]] = []
    for name, language in repositories().items():
        clone = Path(options.mirror) / name / "repo"
        if clone.is_dir():
            with tempfile.TemporaryDirectory() as folder:
                rows.append({"repository": name, "language": language, **_measure(clone, Path(folder))})
    if not rows:
        raise Unreadable(f"{options.mirror} holds no repository.", "Name the folder in the setting `bench.mirror`.")
    tests = sum(int(row["tests"] or 0) for row in rows)
    found = {way: sum(int(row[way] or 0) for row in rows) / max(1, tests) for way in ("whole", "blind")}
    return Report(
        name="affected",
        corpus=f"{sum(int(row['commits'] or 0) for row in rows)} commits that change code and tests",
        tokenizer="none",
        rows=tuple(rows),
        bars=(at_least(f"test files of the commit among the first {MOST}", found["whole"], 0.9),),
        notes=(f"blind: {found['blind']:.3f}",),
        versions=versions("tree-sitter"),
    )


def _measure(clone: Path, folder: Path) -> dict[str, Cell]:
    tree = folder / "tree"
    subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(clone), str(tree)], check=True)
    tests = whole = blind = commits = 0
    for commit in _commits(clone):
        subprocess.run(["git", "checkout", "-q", "--force", "--detach", commit], cwd=tree, check=True)
        index = Index.open(tree, folder / "cache")
        index.build()
        found = compare(changes(tree, states(tree, f"{commit}^!")))
        touched = {f.change.path for f in found.files if f.new and class_of(f.change.path) == "test"}
        hidden = Comparison(
            tuple(file for file in found.files if file.change.path not in touched),
            tuple(change for change in found.symbols if change.path not in touched),
        )
        code = Code(index.store, tree)
        commits += 1
        tests += len(touched)
        whole += len(touched & set(reaching(code, found)[:MOST]))
        blind += len(touched & set(reaching(code, hidden)[:MOST]))
        index.close()
    return {"commits": commits, "tests": tests, "whole": whole, "blind": blind}


def _commits(clone: Path) -> Iterator[str]:
    """Recent commits that change code and one to ten test files."""
    log = ["git", "log", "--no-merges", "--format=%H", "-n", "400"]
    listed = subprocess.run(log, cwd=clone, capture_output=True, text=True, check=True).stdout.split()
    found = 0
    for commit in listed:
        names = some_code(clone, commit)
        tests = [name for name in names if class_of(name) == "test"]
        if 0 < len(tests) <= MOST and len(tests) < len(names) and found < _COMMITS:
            found += 1
            yield commit
