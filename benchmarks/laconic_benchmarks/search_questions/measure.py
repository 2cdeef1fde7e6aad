"""Measure questions in words: those of the public benchmark, and sentences of documentation of the same repositories.

Repositories are for tuning, to choose by, or only reported on; the bars are about the last. `words` narrow the run to
repositories, or to one of these parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

from laconic.render.table import Cell
from laconic_benchmarks.report import Bar, Options, Report, at_least, versions
from laconic_benchmarks.search_questions.code_bases import Asked, find_places, open_documented, open_public
from laconic_benchmarks.search_questions.public_benchmark import PublicSet, read_public_sets
from laconic_benchmarks.search_questions.questions import PARTS, ndcg, part_of, rank_targets, reciprocal
from laconic_benchmarks.snapshot import mirror_folder

_DEPTH: Final = 30
_DOCUMENTED: Final = "documentation"
_PUBLISHED: Final = (
    "published for the same benchmark: 0.854 (BM25 with a model and ranking), 0.834 (BM25 with ranking)"
)


class Answer(NamedTuple):
    """What a search made of one question."""

    part: str
    category: str
    ranks: list[int]
    milliseconds: float


def measure_questions(options: Options) -> Report:
    """All repositories whose clones hold the pinned commit."""
    mirror = mirror_folder(options)
    answers: list[Answer] = []
    measured = 0
    for given in read_public_sets(mirror):
        part = part_of(given.repository.clone(mirror).parent.name)
        words = {word for word in options.args if not Path(word).is_dir()}
        if words and not words & {part, given.repository.name}:
            continue
        options.progress(given.repository.name)
        answers += _ask_all(given, part, mirror, options)
        measured += 1
    return Report(
        name="search",
        corpus=f"{len(answers)} questions on {measured} repositories of the public benchmark of semble",
        tokenizer="none",
        rows=tuple(_rows(answers)),
        bars=tuple(_bars([answer for answer in answers if answer.part == PARTS[-1]])),
        notes=(_PUBLISHED,),
        versions=versions("tree-sitter"),
    )


def _ask_all(given: PublicSet, part: str, mirror: Path, options: Options) -> list[Answer]:
    with open_public(given, mirror, options) as asked:
        found = list(_answer(asked, part))
    repository = given.repository
    with open_documented(repository.clone(mirror), repository.tree, repository.name, options) as asked:
        found += _answer(asked, part)
    return found


def _answer(asked: Asked, part: str) -> Iterator[Answer]:
    for question in asked.questions:
        started = perf_counter()
        places = find_places(asked.index, question, _DEPTH)
        took = 1000 * (perf_counter() - started)
        yield Answer(part, question.category, rank_targets(places, question), took)


def _rows(answers: Sequence[Answer]) -> Iterator[dict[str, Cell]]:
    groups: defaultdict[tuple[str, str], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.part, answer.category].append(answer)
        if answer.category != _DOCUMENTED:
            groups[answer.part, "all public"].append(answer)
    for part, category in sorted(groups, key=lambda group: (PARTS.index(group[0]), group[1])):
        group = groups[part, category]
        times = sorted(answer.milliseconds for answer in group)
        yield {
            "repositories": part,
            "questions": category,
            "n": len(group),
            **_figures(group),
            "ms p50": times[len(times) // 2],
        }


def _figures(group: Sequence[Answer]) -> dict[str, float]:
    count = max(len(group), 1)
    return {
        "NDCG@10": round(sum(ndcg(answer.ranks) for answer in group) / count, 4),
        "first": round(sum(1 in answer.ranks for answer in group) / count, 4),
        "MRR": round(sum(reciprocal(answer.ranks) for answer in group) / count, 4),
    }


def _bars(answers: Sequence[Answer]) -> Iterator[Bar]:
    documented = _figures([answer for answer in answers if answer.category == _DOCUMENTED])
    symbols = _figures([answer for answer in answers if answer.category == "symbol"])
    public = _figures([answer for answer in answers if answer.category != _DOCUMENTED])
    yield at_least("public questions: NDCG@10", public["NDCG@10"], 0.85)
    yield at_least("names: MRR", symbols["MRR"], 0.93)
    yield at_least("sentences of documentation: right definition first", documented["first"], 0.5)
    yield at_least("sentences of documentation: MRR", documented["MRR"], 0.65)
