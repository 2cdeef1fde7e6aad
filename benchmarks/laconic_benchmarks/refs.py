"""References and callers of symbols against what reading the code says.

Two sets of truth: the recorded one, and ours in `data/refs.json` (paths and lines). Precision counts sure uses on
lines that are true or false; recall counts true lines among sure and possible uses. Lines that are neither (comments,
strings, overriding definitions) do not count. Time is that of the first question about a symbol in a warm process.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from laconic.errors import Unreadable
from laconic.index.resolve import Code, callers, references
from laconic.index.store import Symbol
from laconic.index.store.symbol_queries import find_ids_of_kinds
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic_benchmarks.corpus import sdist, snapshot
from laconic_benchmarks.report import Bar, Options, Report, at_least, at_most, versions

_DJANGO: Final = "django==5.2.19"
_OPENHANDS: Final = ("All-Hands-AI/OpenHands", "156d0686c4")
_SAMPLE: Final = 200  # symbols whose references are timed
_TIMED: Final = ("function", "method", "class")

Lines = frozenset[tuple[str, int]]


class Truth(NamedTuple):
    """One symbol with the lines that are, and are not, references to it."""

    origin: str
    corpus: str
    file: str
    name: str
    line: int
    true: Lines
    false: Lines


class Score(NamedTuple):
    """What was found of one symbol."""

    truth: Truth
    sure_true: int
    sure_false: int
    found: int
    callers: int  # true calling functions that were found
    calling: int  # true calling functions
    seconds: float


def run(options: Options) -> Report:
    """All symbols of both sets."""
    cache = Path(options.cache)
    truths = [*_recorded(Path(options.data)), *_ours()]
    wanted = set(options.args)
    truths = [each for each in truths if not wanted or wanted & {each.corpus, each.name, each.origin}]
    scores: list[Score] = []
    times: list[float] = []
    for corpus in dict.fromkeys(each.corpus for each in truths):
        root = _laid_out(corpus, options)
        index = Index.open(root, cache / "indexes")
        index.build(seconds=60)
        code = Code(index.store, index.root)
        scores += [_score(code, each) for each in truths if each.corpus == corpus]
        if corpus == "django":
            times = [_timed(code, symbol) for symbol in _sample(code)]
        index.close()
    return Report(
        name="refs",
        corpus=f"{len(scores)} symbols of {len({each.truth.corpus for each in scores})} repositories",
        tokenizer="none",
        rows=tuple(_row(each) for each in scores),
        bars=tuple(_bars(scores, times)),
        notes=(f"{_sure_share(scores):.3f} of the true references are sure",),
        versions=versions("tree-sitter"),
    )


def _bars(scores: list[Score], times: list[float]) -> Iterable[Bar]:
    for name in dict.fromkeys(each.truth.origin for each in scores):
        some = [each for each in scores if each.truth.origin == name]
        right, wrong = sum(each.sure_true for each in some), sum(each.sure_false for each in some)
        yield at_least(f"{name}: precision of sure", right / max(right + wrong, 1), 0.98)
        true = sum(len(each.truth.true) for each in some)
        yield at_least(f"{name}: recall of sure and possible", sum(each.found for each in some) / true, 0.99)
        calling = sum(each.calling for each in some)
        yield at_least(f"{name}: recall of callers", sum(each.callers for each in some) / max(calling, 1), 0.95)
    yield at_most("references p50, ms", 1000 * statistics.median(each.seconds for each in scores), 50)
    if times:
        yield at_most(f"references p50 of {len(times)} symbols of Django, ms", 1000 * statistics.median(times), 50)


def _sure_share(scores: list[Score]) -> float:
    return sum(each.sure_true for each in scores) / max(sum(len(each.truth.true) for each in scores), 1)


def _score(code: Code, truth: Truth) -> Score:
    source = code.by_path.get(truth.file)
    found = [
        each for each in code.find_named(truth.name) if source and each.file == source.id and each.line == truth.line
    ]
    if not found:
        return Score(truth, 0, 0, 0, 0, len(truth.true), 0.0)
    started = time.perf_counter()
    uses = references(code, found[0])
    seconds = time.perf_counter() - started
    sure = {(use.path, use.line) for use in uses if use.sure}
    lines = {(use.path, use.line) for use in uses}
    around = {use.symbol for use in uses if use.kind != "import" and (use.path, use.line) in truth.true}
    missed = sum((use not in lines) for use in truth.true)
    named = {call.symbol.id for call in callers(code, found[0])}
    expected = {number for number in around if number is not None and number != found[0].id}
    return Score(
        truth,
        len(sure & truth.true),
        len(sure & truth.false),
        len(lines & truth.true),
        len(expected & named),
        len(expected) + missed,
        seconds,
    )


def _row(score: Score) -> dict[str, Cell]:
    truth = score.truth
    return {
        "set": truth.origin,
        "corpus": truth.corpus,
        "symbol": truth.name,
        "true": len(truth.true),
        "sure": score.sure_true,
        "sure but false": score.sure_false,
        "found": score.found,
        "callers": f"{score.callers}/{score.calling}",
        "ms": round(1000 * score.seconds, 1),
    }


def _sample(code: Code) -> list[Symbol]:
    numbers = find_ids_of_kinds(code.store, _TIMED)
    step = max(1, len(numbers) // _SAMPLE)
    return [symbol for number in numbers[::step][:_SAMPLE] if (symbol := code.symbol(number))]


def _timed(code: Code, symbol: Symbol) -> float:
    started = time.perf_counter()
    references(code, symbol)
    return time.perf_counter() - started


def _recorded(data: Path) -> list[Truth]:
    file = data / "refs" / "ground_truth.json"
    if not file.is_file():
        raise Unreadable(f"{file} is not there.", "Name the data with --data or LACONIC_BENCH_DATA.")
    return [
        Truth("recorded", e["corpus"], e["file"], e["name"], e["line"], _pairs(e["true"]), _pairs(e["false"]))
        for e in json.loads(file.read_text("utf-8"))
    ]


def _pairs(rows: list[list[Any]]) -> Lines:
    return frozenset((path, line) for path, line in rows)


def _own_data() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((files("laconic_benchmarks") / "data" / "refs.json").read_text("utf-8"))
    return loaded


def _ours() -> list[Truth]:
    def lines(by_path: dict[str, list[int]]) -> Lines:
        return frozenset((path, line) for path, numbers in by_path.items() for line in numbers)

    return [
        Truth("ours", e["corpus"], e["file"], e["name"], e["line"], lines(e["true"]), lines(e["false"]))
        for e in _own_data()["symbols"]
    ]


def _laid_out(corpus: str, options: Options) -> Path:
    cache, mirror = Path(options.cache), Path(options.mirror)
    if corpus == "django":
        return sdist(_DJANGO, cache)
    if corpus == "openhands":
        return snapshot(*_OPENHANDS, mirror, cache)
    known = _own_data()["corpora"][corpus]
    return snapshot(known["repository"], known["commit"], mirror, cache)
