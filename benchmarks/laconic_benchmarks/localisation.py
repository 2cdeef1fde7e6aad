"""From the text of a commit or an issue to the functions that were changed: what is named, what is shown, and when.

Measured are the plain ranked list of symbols and the `context` tool, each budget in a call of its own: its default form,
in which names and lines share the room, by what it names and by the edited lines that it shows; and its form
`show="code"`, which is all lines, by those lines.

A function is named when the line of its definition was printed as the file has it (its first 60 characters). The cost
is every character printed before, over four. Snapshots are laid out from bare clones: `laconic bench localisation
[FOLDER OF CLONES] [PART OF A REPOSITORY'S NAME]`. The index of each commit is kept below the cache folder
(`corpora/localisation`), so that a second run is fast.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Final, TypeVar

import msgspec

from laconic.config import load
from laconic.index.catalog import place
from laconic.index.search import RankedSymbol, rank_symbols
from laconic.index.workspace_index import Index
from laconic.records import Hit
from laconic.render.hits import by_file, enclosing, hit_line
from laconic.render.table import Cell
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.printed import Line, printed
from laconic_benchmarks.report import Bar, Options, Report, at_least, sampled, versions
from laconic_benchmarks.snapshot import Snapshot, clone_of, part_of_name, with_clones

_BARS: Final = {1000: 0.75, 2000: 0.83, 4000: 0.89}
_CONTEXT_BARS: Final = {1000: 0.80, 2000: 0.87, 4000: 0.92}
_EDIT_BARS: Final = {2000: 0.50, 4000: 0.62, 8000: 0.72}
_SYMBOLS: Final = 400
_SIGNATURE: Final = 15  # lines in which the name of a function is looked for
_PREVIEW: Final = 72
_PAGE: Final = 1000  # tokens of one page; hits are grouped by file inside a page


class Function(msgspec.Struct, frozen=True):
    """One that was changed."""

    path: str
    name: str
    start: int
    end: int


class Changed(msgspec.Struct, frozen=True):
    """A file that was changed, with the ranges of lines."""

    path: str
    edits: tuple[tuple[int, int], ...]


class Task(msgspec.Struct, frozen=True):
    """A row of the data."""

    id: str
    family: str
    mirror: str
    parent_sha: str
    query: str
    functions: tuple[Function, ...]
    flags: dict[str, bool]
    files: tuple[Changed, ...] = ()

    @property
    def leaks(self) -> bool:
        """Whether the text itself says a path or a name that was changed."""
        return any(value for name, value in self.flags.items() if name.startswith("leak"))


T = TypeVar("T", bound=Task)


class Outcome(msgspec.Struct, frozen=True):
    """How a task went: the share of its functions named, and of its edits shown, within each budget."""

    task: Task
    named: dict[int, float]
    milliseconds: float
    context_named: dict[int, float]  # of answers to calls with that budget
    context_edits: dict[int, float]
    code_edits: dict[int, float]


def run(options: Options) -> Report:
    """All tasks, or as many as asked for, by repository, so that each index is only brought up to date."""
    part = part_of_name(options)
    lines = (Path(options.data) / "localisation" / "public.jsonl").read_text("utf-8").splitlines()
    tasks = [msgspec.json.decode(line, type=Task) for line in lines]
    by_mirror: dict[str, list[Task]] = defaultdict(list)
    for task in sampled(tasks, options.tasks):
        if part in task.mirror:
            by_mirror[task.mirror].append(task)
    kept = Path(options.cache) / "localisation"
    outcomes = [
        outcome
        for name, group in with_clones(by_mirror, options).items()
        for outcome in _measured(clone_of(name, options), kept / name, group)
    ]
    return _report(outcomes)


def _measured(clone: Path, kept: Path, tasks: Sequence[Task]) -> Iterator[Outcome]:
    for task, snapshot, runtime in laid_out(clone, kept, tasks):
        started = perf_counter()
        rows = rank_symbols(runtime.index.store, task.query, _SYMBOLS, snapshot.lines)
        took = 1000 * (perf_counter() - started)
        named: dict[int, float] = {}
        edits: dict[int, float] = {}
        code: dict[int, float] = {}
        for budget in sorted({*_CONTEXT_BARS, *_EDIT_BARS}):
            found = _ask(runtime, task, snapshot, budget, "both")
            if budget in _CONTEXT_BARS:
                named[budget] = found[0][budget]
            if budget in _EDIT_BARS:
                edits[budget] = found[1][budget]
                code[budget] = _ask(runtime, task, snapshot, budget, "code")[1][budget]
        yield Outcome(task, named_within(task, rows, snapshot), took, named, edits, code)


def _ask(
    runtime: ToolRuntime, task: Task, snapshot: Snapshot, budget: int, show: str
) -> tuple[dict[int, float], dict[int, float]]:
    """What the answer to one call names and shows."""
    answer = runtime.call("context", {"task": task.query, "budget": budget, "show": show}).text
    return _shown(task, list(printed(answer, snapshot.lines)), snapshot)


def laid_out(clone: Path, kept: Path, tasks: Sequence[T]) -> Iterator[tuple[T, Snapshot, ToolRuntime]]:
    """Each task with its commit on disk and its tools; folder and indexes stay for the next run."""
    snapshot = Snapshot.kept(clone, kept)
    before: Path | None = None
    for task in tasks:
        snapshot.show(task.parent_sha)
        before = cache = _indexed(snapshot.folder, kept / task.parent_sha[:12], before)
        with closing(ToolRuntime(snapshot.folder, load(flags={"cache_dir": str(cache)}), tools())) as runtime:
            runtime.index.build()
            yield task, snapshot, runtime


def _indexed(folder: Path, cache: Path, before: Path | None) -> Path:
    """Where the index of a commit is kept, for the next run too; a new one begins as that of the commit before."""
    if not place(cache, folder).exists():
        half = cache.with_name(f"{cache.name}.part")
        shutil.rmtree(half, ignore_errors=True)
        if before is not None:
            place(half, folder).parent.mkdir(parents=True)
            shutil.copy(place(before, folder), place(half, folder))
        index = Index.open(folder, half)
        index.build()
        index.close()
        shutil.rmtree(cache, ignore_errors=True)
        half.rename(cache)
    return cache


def named_within(task: Task, rows: Sequence[RankedSymbol], snapshot: Snapshot) -> dict[int, float]:
    """The share of the functions that the list names, by budget."""
    wanted = [(function.path, definition(function, snapshot.lines(function.path))) for function in task.functions]
    at: dict[tuple[str, int], int] = {}
    printed = 0
    for page in _pages([_hit(row, snapshot) for row in rows]):
        for hit, cost in page:
            printed += cost
            if _verbatim(hit, snapshot):
                at.setdefault((hit.path, hit.line), (printed + 3) // 4)
    return {budget: sum(at.get(place, budget + 1) <= budget for place in wanted) / len(wanted) for budget in _BARS}


def _shown(task: Task, lines: Sequence[Line], snapshot: Snapshot) -> tuple[dict[int, float], dict[int, float]]:
    """What an answer names and shows, by budget; a function counts from its definition, an edit or five lines on."""
    places = {(each.path, definition(each, snapshot.lines(each.path))): at for at, each in enumerate(task.functions)}
    edits = [(file.path, start, end) for file in task.files for start, end in file.edits]
    named: dict[int, int] = {}
    edited: dict[int, int] = {}
    seen: defaultdict[int, set[int]] = defaultdict(set)
    for line in lines:
        if snapshot.lines(line.path)[line.number - 1].strip()[:60].rstrip() not in line.text:
            continue
        cost = (line.characters + 3) // 4
        hit = [at for at, (path, start, end) in enumerate(edits) if path == line.path and start <= line.number <= end]
        for at in hit:
            edited.setdefault(at, cost)
        for at, each in enumerate(task.functions):
            if each.path == line.path and each.start <= line.number <= each.end:
                seen[at].add(line.number)
                if hit or places.get((line.path, line.number)) == at or len(seen[at]) >= 5:
                    named.setdefault(at, cost)
    return (
        {budget: sum(c <= budget for c in named.values()) / len(task.functions) for budget in _CONTEXT_BARS},
        {budget: sum(c <= budget for c in edited.values()) / max(1, len(edits)) for budget in _EDIT_BARS},
    )


def _hit(row: RankedSymbol, snapshot: Snapshot) -> Hit:
    """A symbol with the line that defines it, as the file has it."""
    assert row.symbol is not None
    text = snapshot.lines(row.path)
    line = text[row.symbol.line - 1].strip() if row.symbol.line <= len(text) else ""
    return Hit(row.path, row.symbol.line, "def", name=row.symbol.name, preview=line[:_PREVIEW], span=row.symbol.span)


def _pages(hits: Sequence[Hit]) -> Iterator[list[tuple[Hit, int]]]:
    """Hits with the characters that each adds, in the order of print: pages by rank, files together in a page."""
    page: list[Hit] = []
    for hit in hits:
        if page and len(_as_text([*page, hit])) > 4 * _PAGE:
            yield _costs(page)
            page = []
        page.append(hit)
    if page:
        yield _costs(page)


def _as_text(hits: Sequence[Hit]) -> str:
    """Hits grouped by file, in the order of their lines."""
    parts: list[str] = []
    for path, group in by_file(hits).items():
        parts.append(f"{path}\n")
        around = ""
        for hit in sorted(group, key=lambda hit: hit.line):
            parts.append(hit_line(hit, around))
            around = enclosing(hit) if hit.symbol else ""
    return "".join(parts)


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
            length = len(_as_text(printed))
            costs.append((hit, length - before))
            before = length
    return costs


def definition(function: Function, lines: Sequence[str]) -> int:
    """The line that names a function, among its first."""
    name = re.sub(r"[\[\]'\"#]", "", function.name.rsplit(".", 1)[-1])
    last = min(function.start + _SIGNATURE, function.end, len(lines))
    return next((n for n in range(function.start, last + 1) if name in lines[n - 1]), function.start)


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
            context: dict[str, Cell] = {f"context {b}": _over(group, "context_named", b) for b in _CONTEXT_BARS}
            edits: dict[str, Cell] = {f"edits {b}": _over(group, "context_edits", b) for b in _EDIT_BARS}
            code: dict[str, Cell] = {f"code {b}": _over(group, "code_edits", b) for b in _EDIT_BARS}
            row: dict[str, Cell] = {"tasks": name, "n": len(group), **shares, **context, **edits, **code}
            rows.append(row | {"ms p50": times[len(times) // 2]})
    bars: list[Bar] = [at_least(f"named in {each} tokens", _mean(outcomes, each), _BARS[each]) for each in _BARS]
    for words, figure, wanted in (
        ("context names in {} tokens", "context_named", _CONTEXT_BARS),
        ("context shows edits in {} tokens", "context_edits", _EDIT_BARS),
        ("context of code only shows edits in {} tokens", "code_edits", _EDIT_BARS),
    ):
        bars += [at_least(words.format(b), _over(outcomes, figure, b), least) for b, least in wanted.items()]
    corpus = f"{len(outcomes)} tasks from {len({each.task.mirror for each in outcomes})} repositories"
    return Report(
        "localisation", corpus, "characters / 4", tuple(rows), tuple(bars), versions=versions("tree-sitter")
    )


def _mean(outcomes: Sequence[Outcome], budget: int) -> float:
    return _over(outcomes, "named", budget)


def _over(outcomes: Sequence[Outcome], figure: str, budget: int) -> float:
    return sum(float(getattr(each, figure)[budget]) for each in outcomes) / max(len(outcomes), 1)
