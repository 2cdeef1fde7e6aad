"""Fit the weights of `question_ranking` to questions with known answers: fit_questions.py CLONES WORK [fresh] [report]

CLONES is a folder of bare clones (owner+name/repo) that holds the public benchmark and its repositories, WORK one for
indexes and features, which stay for the next run (`fresh` reads the features again). The weights are fitted on the
repositories for tuning; how strictly they are held small is chosen on others. Figures of the repositories that only
report are printed when they are asked for. Needs numpy and scipy. Prints the table of weights.
"""

from __future__ import annotations

import pickle
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np  # type: ignore[import-not-found, unused-ignore]
from scipy.optimize import minimize  # type: ignore[import-not-found, import-untyped, unused-ignore]

from laconic.errors import WorkspaceError
from laconic.index.search.file_evidence import TaskFiles
from laconic.index.search.query import Scope, parse_query
from laconic.index.search.question_ranking import QUESTION_WEIGHTS, question_features, spread_files
from laconic.index.search.ranking import RankedSymbol
from laconic.index.search.search import rank_by_words
from laconic.index.search.task_query import TaskQuery
from laconic.index.workspace_index import Index
from laconic.workspace.read_file import as_lines, read_bytes
from laconic_benchmarks.report import Options
from laconic_benchmarks.search_questions.code_bases import open_documented, open_public
from laconic_benchmarks.search_questions.public_benchmark import PublicSet, read_public_sets
from laconic_benchmarks.search_questions.questions import (
    FoundPlace,
    Question,
    is_answer,
    ndcg,
    part_of,
    rank_targets,
    reciprocal,
)

_STRICT: Final = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)  # how small the weights are held; the best of them is chosen
_DEPTH: Final = 30
_SHARP: Final = 3.0  # how much the best candidate of a file counts before the others
# What says more of the question may not count against a candidate, and what says less not for it.
_FOR: Final = frozenset(
    {
        *("all", "body", "path", "owner", "title", "title in body", "title in path", "title in body only"),
        *("share of name", "best of name", "best line", "best three lines", "close together", "pairs", "more pairs"),
        *("named", "in the text", "owner named", "file named", "file called so", "score", "best of file"),
        *("of best of file", "uses names", "by words", "file by words", "file says", "meant by names", "meant"),
        *("file called", "share of file", "in signature", "in documentation", "name says", "stem said"),
        *("stem written", "name written", "name joined", "owner written", "words in stem", "words in place"),
        "stem said in part",
    }
)
_AGAINST: Final = frozenset(
    {
        *("place by words", "place of file by words", "place of file", "place by meaning", "rank", "rank of file"),
        *("file is test", "file is text", "file is other", "is test"),
    }
)
_LEAST: Final = {"in documentation": 3.0}  # half of the questions are about code whose documentation was taken out
_UNUSED: Final = frozenset({"folders"})  # how deep a file is tells more of a repository than of the question


class Table(NamedTuple):
    """The candidates of one question."""

    repository: str
    part: str
    question: Question
    rows: list[RankedSymbol]
    names: list[str]
    values: Any  # a row for each candidate, a column for each name


def lines_of(root: Path, path: str) -> Sequence[str]:
    try:
        return as_lines(read_bytes(root, path))
    except WorkspaceError:
        return ()


def tables_of(index: Index, repository: str, questions: Sequence[Question]) -> Iterator[Table]:
    names = list(QUESTION_WEIGHTS)
    for question in questions:
        query = parse_query(question.text)
        if " " not in query.bare.strip() or query.testing or query.kinds:
            continue
        by_words = rank_by_words(index.store, query, Scope())
        files = TaskFiles(TaskQuery(index.store, query.text), partial(lines_of, index.root))
        found = question_features(index.store, query.text, by_words, files, Scope())
        values = np.array([[each.features.get(name, 0.0) for name in names] for each in found], np.float32)
        rows = [each.row for each in found]
        yield Table(
            repository=repository, part=part_of(repository), question=question, rows=rows, names=names, values=values
        )


def read_tables(given: PublicSet, clones: Path, work: Path, fresh: bool) -> list[Table]:
    """The candidates of all questions of one repository."""
    noted = work / f"{given.repository.name}.tables"
    if noted.exists() and not fresh:
        return list(pickle.loads(noted.read_bytes()))
    clone = given.repository.clone(clones)
    repository = clone.parent.name
    options = Options(data="", cache=str(work))
    with open_public(given, clones, options) as public:
        found = list(tables_of(public.index, repository, public.questions))
    with open_documented(clone, given.repository.tree, given.repository.name, options) as documented:
        found += tables_of(documented.index, repository, documented.questions)
    noted.write_bytes(pickle.dumps(found))
    return found


def place_of(row: RankedSymbol, question: Question) -> FoundPlace:
    """Where a candidate is; a definition that was asked for is found by its own line."""
    exact = question.category == "documentation"
    if row.symbol is None:
        return FoundPlace(row.path, 0, 0 if exact else 1_000_000)
    if exact:
        return FoundPlace(row.path, row.symbol.line, row.symbol.line)
    return FoundPlace(row.path, row.symbol.start, row.symbol.end)


def marks(table: Table) -> list[Any]:
    """For each target that is among the candidates, which of them are right."""
    found = []
    for target in table.question.targets:
        right = np.array([is_answer(place_of(row, table.question), target) for row in table.rows], bool)
        if right.any():
            found.append(right)
    return found


class Problem(NamedTuple):
    """One question as the fit sees it: which groups of candidates are right. A group is a candidate, or a file."""

    values: Any
    groups: Any  # of each candidate
    right: Any  # groups
    weight: float


def problems_of(tables: Sequence[Table]) -> list[Problem]:
    """Both kinds of questions count the same in all."""
    kinds: defaultdict[str, int] = defaultdict(int)
    found = []
    for table in tables:
        if right := marks(table):
            kinds[_kind(table)] += 1
            groups = np.arange(len(table.rows))
            if _kind(table) == "public":
                groups = np.unique([row.path for row in table.rows], return_inverse=True)[1]
            held = np.unique(np.concatenate([groups[mask] for mask in right]))
            found.append((table, groups, held))
    return [Problem(table.values, groups, held, 1 / kinds[_kind(table)]) for table, groups, held in found]


def fit(tables: Sequence[Table], strict: float) -> Any:
    """Weights with which the right candidates are the likely ones; of a file its best candidates count."""
    names = tables[0].names
    rows = np.concatenate([table.values for table in tables])
    middle, spread = rows.mean(0), rows.std(0)
    spread[spread < 1e-6] = 1.0
    problems = []
    for each in problems_of(tables):
        problems.append(each._replace(values=((each.values - middle) / spread).astype(np.float32)))

    def loss(weights: Any) -> tuple[float, Any]:
        value, slope = strict * float(weights @ weights), 2 * strict * weights
        for each in problems:
            sums = _SHARP * (each.values @ weights)
            likely = np.exp(sums - sums.max())
            count = int(each.groups.max()) + 1
            mass = np.bincount(each.groups, likely, count)
            scores = np.log(mass + 1e-30) / _SHARP
            chance = np.exp(scores - scores.max())
            chance /= chance.sum()
            wanted = np.zeros(count)
            wanted[each.right] = 1 / len(each.right)
            value -= each.weight * float((wanted * np.log(chance + 1e-12)).sum())
            inside = likely / mass[each.groups]
            slope = slope + each.weight * (each.values.T @ ((chance - wanted)[each.groups] * inside))
        return value, slope

    bounds = list(map(_bounds, names, spread))
    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 150})
    return found.x / spread


def _bounds(name: str, spread: float) -> tuple[float | None, float | None]:
    if name in _UNUSED:
        return 0.0, 0.0
    if name in _LEAST:
        return _LEAST[name] * spread, None
    if name in _FOR:
        return 0.0, None
    if name in _AGAINST:
        return None, 0.0
    return None, None


def _kind(table: Table) -> str:
    return "documentation" if table.question.category == "documentation" else "public"


def figures(tables: Sequence[Table], weights: Any) -> dict[str, float]:
    """The order of these weights, as a search prints it."""
    public, first, mean = [], [], []
    for table in tables:
        sums = table.values @ weights
        rows = [row._replace(score=float(value)) for row, value in zip(table.rows, sums, strict=True)]
        places = [place_of(row, table.question) for row in spread_files(rows)[:_DEPTH]]
        ranks = rank_targets(places, table.question)
        if _kind(table) == "public":
            public.append(ndcg(ranks))
        else:
            first.append(float(1 in ranks))
            mean.append(reciprocal(ranks))
    return {
        "NDCG@10": float(np.mean(public)),
        "first": float(np.mean(first)),
        "MRR": float(np.mean(mean)),
        "questions": len(public),
        "documented": len(mean),
    }


def main(clones: Path, work: Path, *words: str) -> None:
    work.mkdir(parents=True, exist_ok=True)
    sets = list(read_public_sets(clones))
    read = partial(read_tables, clones=clones, work=work, fresh="fresh" in words)
    with ProcessPoolExecutor(2) as pool:
        tables = [table for found in pool.map(read, sets) for table in found if table.rows]
    parts: defaultdict[str, list[Table]] = defaultdict(list)
    for table in tables:
        parts[table.part].append(table)
    now = np.array([QUESTION_WEIGHTS[name] for name in tables[0].names])
    print("now    tune  ", figures(parts["tune"], now))
    print("now    choose", figures(parts["choose"], now))
    best, chosen = -1.0, now
    for strict in _STRICT:
        weights = fit(parts["tune"], strict)
        there = figures(parts["choose"], weights)
        print(f"{strict:g} tune  ", figures(parts["tune"], weights))
        print(f"{strict:g} choose", there, flush=True)
        if there["NDCG@10"] + there["MRR"] > best:
            best, chosen = there["NDCG@10"] + there["MRR"], weights
    if "report" in words:
        print("report, now", figures(parts["report"], now))
        print("report, new", figures(parts["report"], chosen))
    print("\n".join(f'    "{name}": {value:.3f},' for name, value in zip(tables[0].names, chosen, strict=True)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
