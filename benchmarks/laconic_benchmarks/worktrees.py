"""One index for many checkouts: what a work tree costs, how soon it answers, and whether its answers are right.

Work trees of Django at different commits, each asked once by a fresh process; a switch between branches that differ in
500 files; and random states of a small repository (commits, dirty files, renames, deletions), whose index must hold the
same rows as one that is built from nothing. Needs bare clones of both. `--steps N`: how many random states.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from laconic.config import child_environment
from laconic.index import catalog
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic.workspace.git import git_in_own
from laconic_benchmarks.index.measured import spread
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions
from laconic_benchmarks.snapshot import mirror_folder

_LARGE: Final = "django+django"
_SMALL: Final = "pallets+click"
_TREES: Final = 50
_STATES: Final = 200
_SWITCHED: Final = 500  # files in which two branches differ


def run(options: Options) -> Report:
    """All three parts, in folders that are removed afterwards."""
    clones = mirror_folder(options)
    trees, states = _TREES, options.steps or _STATES
    if options.quick:
        trees, states = 5, 10
    with tempfile.TemporaryDirectory(prefix="laconic-worktrees-") as scratch:
        large = _clone(clones / _LARGE / "repo", Path(scratch) / "large")
        cache = Path(scratch) / "cache"
        first, share, times = _grow(large, cache, trees, options)
        switches = _switch(large, cache)
        small = _clone(clones / _SMALL / "repo", Path(scratch) / "small")
        same = _compare_states(small, Path(scratch), states, Random(options.seed), options)
    rows: list[dict[str, Cell]] = [
        {"what": "first build", "n": 1, "max ms": first * 1000},
        {"what": "first answer in a work tree", **spread(times)},
        {"what": f"answer after a switch of {_SWITCHED} files", **spread(switches)},
        {"what": "random states", "n": states, "same rows": same},
    ]
    return Report(
        name="worktrees",
        corpus=f"{trees} work trees of django/django, states of pallets/click",
        tokenizer="none",
        rows=tuple(rows),
        bars=(
            at_most("disk of one work tree, share of the index", share, 0.01),
            at_most("first right answer in a work tree, p95 s", sorted(times)[int(len(times) * 0.95)], 0.5),
            at_most("right answer after a switch, longest s", max(switches), 1.0),
            at_least("states whose index equals one built from nothing", same / states, 1),
        ),
        versions=versions("tree-sitter"),
    )


def _clone(source: Path, target: Path) -> Path:
    git_in_own(source.parent, "clone", "--quiet", str(source), str(target), seconds=300)
    return target


def _ask(root: Path, cache: Path, name: str) -> float:
    """Seconds that a fresh process takes to find a definition; it must name the right file."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "laconic", "search", name],
        cwd=root,
        env=child_environment({"LACONIC_CACHE_DIR": str(cache)}),
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - started
    if "django/db/models/query.py" not in done.stdout:
        raise AssertionError(f"the answer in {root} is wrong: {done.stdout[:200]}")
    return seconds


def _grow(root: Path, cache: Path, trees: int, options: Options) -> tuple[float, float, list[float]]:
    """Seconds of the first build, the share that a work tree adds to the index, and times of first answers."""
    first = _ask(root, cache, "QuerySet.filter")
    file = catalog.place(cache, root)
    before = file.stat().st_size
    times = []
    for number in range(trees):
        options.progress(f"work tree {number + 1} of {trees}")
        tree = root.parent / f"tree{number}"
        git_in_own(root, "worktree", "add", "--quiet", "--detach", str(tree), "HEAD", seconds=120)
        times.append(_ask(tree, cache, "QuerySet.filter"))
    return first, (file.stat().st_size - before) / before / trees, times


def _switch(root: Path, cache: Path) -> list[float]:
    """Seconds until a right answer after going to a branch that differs in many files, and back."""
    git_in_own(root, "checkout", "--quiet", "-b", "side", seconds=120)
    files = sorted(root.glob("tests/**/*.py"))[:_SWITCHED]
    for path in files:
        path.write_bytes(path.read_bytes() + b"\n\ndef only_on_the_side():\n    pass\n")
    _commit(root, "side")
    _ask(root, cache, "QuerySet.filter")
    times = []
    for branch in ("-", "side", "-", "side"):
        git_in_own(root, "checkout", "--quiet", branch, seconds=120)
        times.append(_ask(root, cache, "QuerySet.filter"))
    return times


def _commit(root: Path, said: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    git_in_own(root, *who, "commit", "--quiet", "--all", "--message", said, seconds=120)


def _compare_states(root: Path, scratch: Path, states: int, random: Random, options: Options) -> int:
    """How many random states have the rows of an index that is built from nothing."""
    commits = git_in_own(root, "log", "--format=%H", "--max-count=400", seconds=60).decode().split()
    same = 0
    for number in range(states):
        if number % 20 == 0:
            options.progress(f"state {number} of {states}, {same} the same")
        _disturb(root, commits, random)
        same += _fingerprint(root, scratch / "shared") == _fingerprint(root, scratch / f"alone{number}")
    return same


def _disturb(root: Path, commits: list[str], random: Random) -> None:
    git_in_own(root, "checkout", "--quiet", "--force", random.choice(commits), seconds=120)
    files = sorted(root.glob("src/**/*.py"))
    for path in random.sample(files, min(4, len(files))):
        what = random.randrange(4)
        if what == 0:
            path.unlink()
        elif what == 1:
            path.rename(path.with_name(f"renamed_{path.name}"))
        elif what == 2:
            path.write_bytes(path.read_bytes() + b"\n\ndef planted():\n    pass\n")
        else:
            path.with_name("new.py").write_bytes(path.read_bytes())


def _fingerprint(root: Path, cache: Path) -> str:
    with closing(Index.open(root, cache)) as index:
        index.build(seconds=30)
        return index.store.fingerprint()
