"""Fit the weights of `task_ranking` and `line_scores` to changes that people made: fit_ranking.py CLONES WORK

CLONES is a folder of bare clones (owner+name/repo), WORK one for indexes, which stay for the next run. A task is the
message of a commit, an answer the lines that it changed; commits that change much, only tests or only text are left
out. Each repository is indexed at a few commits, and the changes soon after each are carried back to it. Leave out of
CLONES what the ranking is to be measured on. Needs numpy and scipy. Prints the three tables of weights.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np  # type: ignore[import-not-found, unused-ignore]
from scipy.optimize import minimize  # type: ignore[import-not-found, import-untyped, unused-ignore]

from laconic.edits.source import split
from laconic.index.catalog import place
from laconic.index.search.file_evidence import Features, TaskFiles
from laconic.index.search.line_scores import Lines, Place, lines_in_functions, lines_outside_functions
from laconic.index.search.task_query import TaskQuery
from laconic.index.search.task_ranking import READ, extract_features, find_candidates, rerank
from laconic.index.store import Store, Symbol
from laconic.index.symbol_kinds import WITH_BODY
from laconic.index.workspace_index import Index
from laconic_benchmarks.snapshot import Snapshot

_SNAPSHOTS: Final = (150, 650, 1500, 3000)  # commits before the newest at which a repository is indexed
_AFTER: Final = 150  # commits after each that are looked at
_TASKS: Final = 45  # that are taken of them
_EDITS: Final = 15  # at most, in no more than six files
_FILES: Final = 6
_LINES_OF: Final = 0.4  # share of the tasks whose lines are looked at
_OTHERS: Final = 0.12  # share of the lines that were not changed
_CODE: Final = re.compile(r"\.(java|kt|jsx?|mjs|cjs|tsx?|mts|go|rs|c|cc|h|hpp|cpp|cs|swift|py|rb|svelte|vue)$")
_ASIDE: Final = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata|fixtures|examples?|docs?|e2e|benchmarks?|vendor|node_modules|dist)(/|$)"
    r"|(^|/)(test_|conftest)|_test\.|\.test\.|\.spec\.|_spec\.|Tests?\.",
    re.I,
)
_NO_TASK: Final = re.compile(
    r"(Merge|Bump|Release|Prepare|Update (CHANGELOG|dep)|chore\(deps|chore\(release|build\(deps|v?\d+\.\d+|Revert"
    r"|docs?[:(]|ci[:(]|style[:(]|Rename|Format|Lint|Translat)",
    re.I,
)
_TRAILER: Final = re.compile(
    r"(?mi)^\s*(Co-authored|Signed-off|Reviewed-|Change-Id|Generated with|cherry|closes? #|fixes? #|refs? #).*$"
)
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? ")

Edit = tuple[str, int, int]  # path, first and last line


class Task(NamedTuple):
    commit: str  # that is indexed
    text: str
    edits: list[Edit]


def git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *words], capture_output=True, check=False).stdout.decode(
        "utf-8", "replace"
    )


def hunks(clone: Path, before: str, after: str, *paths: str) -> Iterator[tuple[str, int, int, int, int]]:
    """Path, first line and count before, the same after."""
    path = ""
    for line in git(clone, "diff", "-U0", "--no-color", "--no-renames", before, after, "--", *paths).split("\n"):
        if line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") else ""
        elif path and (found := _HUNK.match(line)):
            yield path, int(found[1]), int(found[2] or 1), int(found[3]), int(found[4] or 1)


def carried_back(clone: Path, snapshot: str, parent: str, edits: Iterable[Edit]) -> list[Edit]:
    """Edits of a later version of some files in lines of the indexed one; none if one of them is not there."""
    found: list[Edit] = []
    for path, first, last in edits:
        moved = []
        for line in (first, last):
            shift = 0
            for _, _, old, start, new in hunks(clone, snapshot, parent, path):
                begin = start if new else start + 1
                if line >= begin + new:
                    shift += old - new
                elif line >= begin:
                    return []
            moved.append(line + shift)
        found.append((path, moved[0], moved[1]))
    return found


def tasks_after(clone: Path, commits: Sequence[str], at: int) -> Iterator[Task]:
    snapshot = commits[at + 1]
    for commit in commits[at : max(0, at - _AFTER) : -1]:
        text = _TRAILER.sub("", git(clone, "log", "-1", "--format=%B", commit)).strip()
        text = re.sub(r"\s*\(#\d+\)(?=\n|$)", "", text, count=1)
        if len(text) < 25 or _NO_TASK.match(text):
            continue
        parent = f"{commit}^"
        edits = [
            (path, max(start, 1), max(start + count - 1, start, 1))
            for path, start, count, _, _ in hunks(clone, parent, commit)
            if _CODE.search(path) and not _ASIDE.search(path)
        ]
        if 1 <= len(edits) <= _EDITS and len({path for path, _, _ in edits}) <= _FILES:
            there = git(clone, "ls-tree", "--name-only", "-r", snapshot, "--", *{path for path, _, _ in edits})
            if {path for path, _, _ in edits} <= set(there.split("\n")) and (
                moved := carried_back(clone, snapshot, parent, edits)
            ):
                yield Task(snapshot, text[:12_000], moved)


def prepared(clone: Path, work: Path) -> list[Task]:
    """Tasks of a repository, with their indexes in the work folder."""
    noted = work / "tasks.json"
    if noted.exists():
        return [
            Task(commit, text, [tuple(edit) for edit in edits])
            for commit, text, edits in json.loads(noted.read_text())
        ]
    work.mkdir(parents=True, exist_ok=True)
    every = git(clone, "log", "--no-merges", "--format=%H", "HEAD").split()
    commits = git(clone, "log", "--first-parent", "--no-merges", "--format=%H", "HEAD").split()
    commits = commits if len(commits) > 0.6 * len(every) else every
    shown = Snapshot.kept(clone, work)
    tasks: list[Task] = []
    for at in (each for each in _SNAPSHOTS if each < len(commits) - 20):
        found = [task for task, _ in zip(tasks_after(clone, commits, at), range(_TASKS), strict=False)]
        if len(found) >= 5:
            shown.show(found[0].commit)
            index = Index.open(shown.folder, work / found[0].commit[:12])
            index.build()
            index.close()
            tasks += found
    noted.write_text(json.dumps(tasks))
    shutil.rmtree(shown.folder)
    (work / "shown.json").unlink()
    return tasks


class Blobs:
    """Files of a commit, as lines."""

    def __init__(self, clone: Path) -> None:
        command = ["git", "-C", str(clone), "cat-file", "--batch"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._files: dict[str, list[str]] = {}

    def lines(self, commit: str, path: str) -> list[str]:
        name = f"{commit}:{path}"
        if name not in self._files:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(f"{name}\n".encode())
            self._process.stdin.flush()
            head = self._process.stdout.readline().split()
            data = self._process.stdout.read(int(head[2]) + 1)[:-1] if len(head) == 3 else b""
            if len(self._files) > 3_000:
                self._files.clear()
            self._files[name] = list(split(data).lines) if len(data) < 1_000_000 else []
        return self._files[name]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


Seen = tuple[Task, Store, TaskFiles]


def looked_at(clone: Path, work: Path, tasks: Iterable[Task]) -> Iterator[Seen]:
    blobs = Blobs(clone)
    for task in tasks:
        store = Store.open(place(work / task.commit[:12], work / "code"))
        yield task, store, TaskFiles(TaskQuery(store, task.text), partial(blobs.lines, task.commit))
        store.close()
    blobs.close()


Table = dict[str, Any]  # names of columns, rows, what is to be predicted, weights and tasks of the rows


def table(found: Sequence[Mapping[str, float]], wanted: Sequence[float]) -> Table:
    return {
        "names": list(found[0]),
        "rows": np.array([list(each.values()) for each in found], np.float32),
        "wanted": np.array(wanted, np.float32),
    }


def symbols_of(clone: Path, work: Path) -> list[Table]:
    """For each task its candidates, and how many of the changes are in each."""
    made: list[Table] = []
    for task, store, files in looked_at(clone, work, prepared(clone, work)):
        rows = find_candidates(store, files.query)[:READ]
        changed = [
            float(sum(row.path == path and _touches(row.symbol, first, last) for path, first, last in task.edits))
            for row in rows
        ]
        if any(changed):
            made.append(table(extract_features(rows, files), changed))
    return made


def _touches(symbol: Symbol | None, first: int, last: int) -> bool:
    return symbol is not None and symbol.kind in WITH_BODY and symbol.start <= last and first <= symbol.end


def flat(parts: Iterable[tuple[Features, Lines]]) -> dict[Place, Features]:
    """Each line once, with all that speaks for it."""
    found: dict[Place, Features] = {}
    for common, lines in parts:
        for at, seen in lines:
            if at not in found:
                found[at] = common | seen
    return found


def lines_of(clone: Path, work: Path, weights: Mapping[str, float]) -> list[tuple[Table, Table]]:
    """For a share of the tasks their lines in and outside of functions, and how much of a change each is."""
    chance = random.Random(clone.parent.name)
    made: list[tuple[Table, Table]] = []
    tasks = [task for task in prepared(clone, work) if chance.random() < _LINES_OF]
    for task, store, files in looked_at(clone, work, tasks):
        ranked = rerank(find_candidates(store, files.query), files, weights)
        if not ranked:
            continue
        part = {
            (path, line): 1 / (last - first + 1)
            for path, first, last in task.edits
            for line in range(first, last + 1)
        }
        within = flat(lines_in_functions(ranked, files))
        beside = flat(lines_outside_functions(ranked, files, store.symbols_of_path))
        beside = {at: seen for at, seen in beside.items() if at not in within}
        both = []
        for lines in (within, beside):
            kept = {at: seen for at, seen in lines.items() if at in part or chance.random() < _OTHERS}
            both.append(table(list(kept.values()), [part.get(at, 0.0) for at in kept]) if kept else {})
        if all(both):
            made.append((both[0], both[1]))
    return made


def fitted(rows: Any, loss: Callable[[Any, Any], tuple[float, Any]], strict: float) -> Any:
    """Weights with the smallest loss; columns are brought to one scale for it."""
    middle, spread = rows.mean(0), rows.std(0)
    fixed = spread < 1e-6
    middle[fixed], spread[fixed] = 0.0, 1.0
    scaled = ((rows - middle) / spread).astype(np.float32)

    def both(weights: Any) -> tuple[float, Any]:
        value, slope = loss(scaled @ weights.astype(np.float32), scaled)
        return value + strict * float(weights @ weights), slope.astype(float) + 2 * strict * weights

    found = minimize(both, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x / spread
    if fixed.any():
        found[np.argmax(fixed)] -= float(found[~fixed] @ middle[~fixed])
    return found


def fit_symbols(tables: Sequence[Table]) -> dict[str, float]:
    """Among the candidates of a task those that were changed are to be the likely ones."""
    tables = [each for each in tables if each["wanted"].any()]
    sizes = [len(each["rows"]) for each in tables]
    group, starts = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([[0], np.cumsum(sizes)[:-1]])
    wanted = np.concatenate([np.minimum(t["wanted"], 3) / np.minimum(t["wanted"], 3).sum() for t in tables])

    def loss(sums: Any, rows: Any) -> tuple[float, Any]:
        sums = sums - np.maximum.reduceat(sums, starts)[group]
        whole = np.add.reduceat(np.exp(sums), starts)
        likely = np.exp(sums) / whole[group]
        value = -float((wanted * (sums - np.log(whole)[group])).sum()) / len(sizes)
        return value, rows.T @ (likely - wanted) / len(sizes)

    weights = fitted(np.concatenate([each["rows"] for each in tables]), loss, 3e-3)
    return dict(zip(tables[0]["names"], map(float, weights), strict=True))


def fit_lines(tables: Sequence[Table]) -> dict[str, float]:
    """How much of a change to expect in a line; tasks with many changes count less for each."""
    wanted = np.concatenate([each["wanted"] for each in tables])
    weight = np.concatenate(
        [
            np.where(each["wanted"] > 0, 1, 1 / _OTHERS) / np.sqrt(max(0.5, float(each["wanted"].sum())))
            for each in tables
        ]
    )
    whole = float((wanted * weight).sum())

    def loss(sums: Any, rows: Any) -> tuple[float, Any]:
        sums = np.clip(sums, -20, 8)
        expected = np.exp(sums)
        value = float(((expected - wanted * sums) * weight).sum()) / whole
        return value, rows.T @ ((expected - wanted) * weight) / whole

    weights = fitted(np.concatenate([each["rows"] for each in tables]), loss, 1e-4)
    return dict(zip(tables[0]["names"], map(float, weights), strict=True))


def main(clones: Path, work: Path) -> None:
    places = sorted(each.parent for each in clones.glob("*+*/repo"))
    with ProcessPoolExecutor() as pool:
        repositories = [(each / "repo", work / each.name) for each in places]
        symbols = list(pool.map(symbols_of, *zip(*repositories, strict=True)))
        # Lines are learned with the order that symbols get from the other half of the repositories.
        halves = [fit_symbols([each for part in symbols[half::2] for each in part]) for half in (0, 1)]
        other = [halves[1 - at % 2] for at in range(len(repositories))]
        lines = [each for part in pool.map(lines_of, *zip(*repositories, strict=True), other) for each in part]
    found = {
        "WEIGHTS": fit_symbols([each for part in symbols for each in part]),
        "INSIDE": fit_lines([each for each, _ in lines]),
        "OUTSIDE": fit_lines([each for _, each in lines]),
    }
    print(f"# {sum(map(len, symbols))} tasks of {len(places)} repositories; lines of {len(lines)}")
    for name, weights in found.items():
        print(name)
        print("\n".join(f'    "{each}": {value:.3f},' for each, value in weights.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
