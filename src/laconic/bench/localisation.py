"""From the text of a commit or an issue to the functions that were changed: how many the ranked list names, and when.

A function is named when the line of its definition was printed as the file has it (its first 60 characters). The cost
is every character printed before, over four. Snapshots are laid out from bare clones: `laconic bench localisation
[FOLDER OF CLONES] [PART OF A REPOSITORY'S NAME]`.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

import msgspec

from laconic.bench.report import Bar, Cell, Options, Report, at_least, versions
from laconic.bench.snapshot import Snapshot, mirror_folder
from laconic.index.search import Ranked, rank_symbols
from laconic.index.workspace_index import Index
from laconic.records import Hit
from laconic.render.hits import hits_text

_BARS: Final = {1000: 0.75, 2000: 0.83, 4000: 0.89}
_SYMBOLS: Final = 400
_PREVIEW: Final = 72
_PAGE: Final = 1000  # tokens of one page; hits are grouped by file inside a page


class Function(msgspec.Struct, frozen=True):
    """One that was changed."""

    path: str
    name: str
    start: int
    end: int


class Task(msgspec.Struct, frozen=True):
    """A row of the data."""

    id: str
    family: str
    mirror: str
    parent_sha: str
    query: str
    functions: tuple[Function, ...]
    flags: dict[str, bool]

    @property
    def leaks(self) -> bool:
        """Whether the text itself says a path or a name that was changed."""
        return any(value for name, value in self.flags.items() if name.startswith("leak"))


class Outcome(msgspec.Struct, frozen=True):
    """How a task went: the share of its functions named within each budget."""

    task: Task
    named: dict[int, float]
    milliseconds: float


def run(options: Options) -> Report:
    """All tasks, those of one repository after another so that each index is only brought up to date."""
    mirror = mirror_folder(options.data, options.args)
    part = options.args[1] if len(options.args) > 1 else ""
    lines = (Path(options.data) / "localisation" / "public.jsonl").read_text("utf-8").splitlines()
    tasks = [msgspec.json.decode(line, type=Task) for line in lines]
    by_mirror: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if part in task.mirror:
            by_mirror[task.mirror].append(task)
    outcomes = [outcome for name, group in by_mirror.items() for outcome in _measured(mirror / name / "repo", group)]
    return _report(outcomes)


def _measured(clone: Path, tasks: Sequence[Task]) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        snapshot = Snapshot(clone, Path(scratch) / "code")
        snapshot.folder.mkdir()
        for task in tasks:
            snapshot.show(task.parent_sha)
            index = Index.open(snapshot.folder, Path(scratch) / "cache")
            index.build()
            started = perf_counter()
            rows = rank_symbols(index.store, task.query, _SYMBOLS)
            took = 1000 * (perf_counter() - started)
            index.close()
            yield Outcome(task, named_within(task, rows, snapshot), took)


def named_within(task: Task, rows: Sequence[Ranked], snapshot: Snapshot) -> dict[int, float]:
    """The share of the functions that the list names, by budget."""
    wanted = [(function.path, _definition(function, snapshot.lines(function.path))) for function in task.functions]
    at: dict[tuple[str, int], int] = {}
    printed = 0
    for page in _pages([_hit(row, snapshot) for row in rows]):
        for hit, cost in page:
            printed += cost
            if _verbatim(hit, snapshot):
                at.setdefault((hit.path, hit.line), (printed + 3) // 4)
    return {budget: sum(at.get(place, budget + 1) <= budget for place in wanted) / len(wanted) for budget in _BARS}


def _hit(row: Ranked, snapshot: Snapshot) -> Hit:
    """A symbol with the line that defines it, as the file has it."""
    assert row.symbol is not None
    text = snapshot.lines(row.path)
    line = text[row.symbol.line - 1].strip() if row.symbol.line <= len(text) else ""
    return Hit(row.path, row.symbol.line, "def", name=row.symbol.name, preview=line[:_PREVIEW], span=row.symbol.span)


def _pages(hits: Sequence[Hit]) -> Iterator[list[tuple[Hit, int]]]:
    """Hits with the characters that each adds, in the order of print: pages by rank, files together in a page."""
    page: list[Hit] = []
    for hit in hits:
        if page and len(hits_text([*page, hit])) > 4 * _PAGE:
            yield _costs(page)
            page = []
        page.append(hit)
    if page:
        yield _costs(page)


def _costs(page: Sequence[Hit]) -> list[tuple[Hit, int]]:
    groups: dict[str, list[Hit]] = defaultdict(list)
    for hit in page:
        groups[hit.path].append(hit)
    printed: list[Hit] = []
    costs: list[tuple[Hit, int]] = []
    before = 0
    for group in groups.values():
        for hit in sorted(group, key=lambda hit: hit.line):
            printed.append(hit)
            length = len(hits_text(printed))
            costs.append((hit, length - before))
            before = length
    return costs


def _definition(function: Function, lines: Sequence[str]) -> int:
    """The line that names a function, within the first fifteen of it."""
    name = re.sub(r"[\[\]'\"#]", "", function.name.rsplit(".", 1)[-1])
    for number in range(function.start, min(function.start + 15, function.end, len(lines)) + 1):
        if number <= len(lines) and name in lines[number - 1]:
            return number
    return function.start


def _verbatim(hit: Hit, snapshot: Snapshot) -> bool:
    lines = snapshot.lines(hit.path)
    return hit.line <= len(lines) and lines[hit.line - 1].strip()[:60].rstrip() in hit.preview


def _report(outcomes: Sequence[Outcome]) -> Report:
    groups = {
        "all": outcomes,
        "commits": [each for each in outcomes if each.task.family == "commit"],
        "issues": [each for each in outcomes if each.task.family == "issue"],
        "text leaks no path or name": [each for each in outcomes if not each.task.leaks],
    }
    rows: list[dict[str, Cell]] = []
    for name, group in groups.items():
        if group:
            times = sorted(each.milliseconds for each in group)
            shares: dict[str, Cell] = {f"{budget} tokens": _mean(group, budget) for budget in _BARS}
            rows.append({"tasks": name, "n": len(group), **shares, "ms p50": times[len(times) // 2]})
    bars: list[Bar] = [at_least(f"named in {each} tokens", _mean(outcomes, each), _BARS[each]) for each in _BARS]
    corpus = f"{len(outcomes)} tasks from {len({each.task.mirror for each in outcomes})} repositories"
    return Report(
        "localisation", corpus, "characters / 4", tuple(rows), tuple(bars), versions=versions("tree-sitter")
    )


def _mean(outcomes: Sequence[Outcome], budget: int) -> float:
    return sum(each.named[budget] for each in outcomes) / max(len(outcomes), 1)
