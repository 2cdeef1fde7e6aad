"""Search queries with the files that are right, other people's: where the first right file stands in our list.

The repositories are laid out from bare clones at the last commit before the queries were written: `laconic bench
search [FOLDER OF CLONES]`. One default setting, no mode; files that no public clone has are counted apart. `--public`
measures on the public benchmark of another search engine instead, from a clone of it among the others.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from laconic.index.search import SearchResult, search
from laconic.index.search.semantic import load_encoder
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic_benchmarks.report import Bar, Options, Report, at_least, at_most, versions
from laconic_benchmarks.search_questions.measure import measure_questions
from laconic_benchmarks.snapshot import Snapshot, mirror_folder

_BEFORE: Final = "2026-06-04"  # when the queries were written
_LIMIT: Final = 30
_JULIE: Final = "ccffdab2"  # the commit that two of the sets are about
_CLONES: Final = {
    **{"flask": "pallets+flask", "express": "expressjs+express", "cobra": "spf13+cobra", "julie": "anortham+julie"},
    **{"eros": "anortham+eros", "gson": "google+gson", "moshi": "square+moshi", "sinatra": "sinatra+sinatra"},
    **{"alamofire": "Alamofire+Alamofire", "nlohmann-json": "nlohmann+json", "jq": "jqlang+jq"},
    **{"newtonsoft-json": "JamesNK+Newtonsoft.Json"},
}
_IDENTIFIERS: Final = "identifiers, paths, phrases"
_QUESTIONS: Final = "questions in words, with the semantic extra"
_LEXICAL: Final = "questions in words, without the semantic extra"
_NARROWED: Final = "questions, with the path that the asker gave"
_MIXED: Final = "mixed queries on one repository"
_EMPTY: Final = "queries that once found nothing"


@dataclass(frozen=True, slots=True)
class Case:
    """One query; `right` are the files that answer it."""

    group: str
    repository: str
    query: str
    right: frozenset[str]
    path: str = ""
    language: str = ""
    tests: bool | None = None
    semantic: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rank of the first right hit (0: none), whether there was a right file to find, and time."""

    case: Case
    rank: int
    possible: bool
    helpful: bool  # hits, or a hint
    milliseconds: float


def run(options: Options) -> Report:
    """All sets, repository by repository."""
    if options.public:
        return measure_questions(options)
    mirror = mirror_folder(options)
    cases = list(_cases(Path(options.data) / "queries"))
    outcomes: list[Outcome] = []
    for repository in dict.fromkeys(case.repository for case in cases):
        asked = [case for case in cases if case.repository == repository]
        outcomes += _measured(mirror / _CLONES[repository] / "repo", asked)
    groups = {
        group: [each for each in outcomes if each.case.group == group]
        for group in (_IDENTIFIERS, _LEXICAL, _QUESTIONS, _NARROWED, _MIXED, _EMPTY)
    }
    found = len({each.case.repository for each in outcomes})
    return Report(
        "search",
        f"{len(outcomes)} queries on {found} repositories",
        "none",
        tuple(_row(name, group) for name, group in groups.items() if group),
        _bars(groups),
        ("possible: the right file exists in the public clone; ranks count hits, not files",),
        versions("tree-sitter", "wordllama"),
    )


def _cases(folder: Path) -> Iterator[Case]:
    for row in json.loads((folder / "bakeoff-raw-results.json").read_text("utf-8"))["rows"]:
        if (name := row["repo"].rsplit("/", 1)[-1]) in {"flask", "express", "cobra"}:
            yield Case(_IDENTIFIERS, name, row["query"], frozenset(row["expected_paths"]))
    for row in tomllib.loads((folder / "scorecard.toml").read_text("utf-8"))["cases"]:
        right = frozenset(row["expected_any"])
        yield Case(_LEXICAL, row["repo"], row["query"], right, semantic=False)
        if load_encoder():
            yield Case(_QUESTIONS, row["repo"], row["query"], right)
        tests = None if row.get("exclude_tests") is False else False
        yield Case(_NARROWED, row["repo"], row["query"], right, row["file_pattern"], tests=tests)
    for row in json.loads((folder / "julie-search-corpus-v1.json").read_text("utf-8"))["queries"]:
        yield Case(_MIXED, "julie", row["query"], frozenset(row["expected_paths"]))
    for row in json.loads((folder / "zero-hit-replay-task3.json").read_text("utf-8")):
        yield Case(_EMPTY, "julie", row["query"], frozenset(), row["file_pattern"] or "", row["language"] or "")


def _measured(clone: Path, cases: Sequence[Case]) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        snapshot = Snapshot(clone, Path(scratch) / "code")
        snapshot.folder.mkdir()
        snapshot.show(_JULIE if cases[0].repository == "julie" else snapshot.last_before(_BEFORE))
        index = Index.open(snapshot.folder, Path(scratch) / "cache")
        index.build()
        for case in cases:
            started = perf_counter()
            found = search(
                index,
                case.query,
                path=case.path,
                language=case.language,
                tests=case.tests,
                semantic=case.semantic,
                limit=_LIMIT,
            )
            took = 1000 * (perf_counter() - started)
            possible = any((snapshot.folder / path).is_file() for path in case.right)
            yield Outcome(case, _rank(found, case.right), possible, bool(found.hits or found.near), took)
        index.close()


def _rank(found: SearchResult, right: frozenset[str]) -> int:
    return next((at for at, hit in enumerate(found.hits, 1) if hit.path in right), 0)


def _row(name: str, group: Sequence[Outcome]) -> dict[str, Cell]:
    times = sorted(each.milliseconds for each in group)
    row: dict[str, Cell] = {"queries": name, "n": len(group), "ms p50": times[len(times) // 2], "ms max": times[-1]}
    if name == _EMPTY:
        return {**row, "without hit or hint": sum(not each.helpful for each in group)}
    possible = [each for each in group if each.possible]
    return {
        **row,
        **_measures(group),
        "possible": len(possible),
        "MRR of possible": _measures(possible)["MRR"],
    }


def _measures(group: Sequence[Outcome]) -> dict[str, float]:
    count = max(len(group), 1)
    return {
        "top 1": sum(each.rank == 1 for each in group) / count,
        "top 5": sum(0 < each.rank <= 5 for each in group) / count,
        "MRR": sum(1 / each.rank for each in group if each.rank) / count,
    }


def _bars(groups: Mapping[str, Sequence[Outcome]]) -> tuple[Bar, ...]:
    names: dict[str, Any] = {name: _measures(group) for name, group in groups.items()}
    return (
        at_least(f"{_IDENTIFIERS}: top 1", names[_IDENTIFIERS]["top 1"], 0.93),
        at_least(f"{_IDENTIFIERS}: MRR", names[_IDENTIFIERS]["MRR"], 0.95),
        at_least(f"{_LEXICAL}: MRR", names[_LEXICAL]["MRR"], 0.6),
        *([at_least(f"{_QUESTIONS}: MRR", names[_QUESTIONS]["MRR"], 0.8)] if groups[_QUESTIONS] else []),
        at_least(f"{_MIXED}: MRR", names[_MIXED]["MRR"], 0.7),
        at_most(f"{_EMPTY}: without hit or hint", sum(not each.helpful for each in groups[_EMPTY]), 0),
    )
