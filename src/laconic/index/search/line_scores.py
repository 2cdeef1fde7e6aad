"""What single lines of code are worth for a task in words: how likely it is that they have to be read or changed.

The logarithm of the worth is a weighted sum, fitted as a Poisson regression to recorded changes of some sixty
repositories (`scripts/fit_ranking.py`), one for lines of functions and one for what stands outside of them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from laconic.index.search.file_evidence import Features, FileEvidence, TaskFiles
from laconic.index.search.ranking import RankedSymbol
from laconic.index.search.task_query import TaskQuery
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import RANKED_TYPES, VALUES, WITH_BODY

_FUNCTIONS: Final = 80  # symbols whose lines are weighed
_LONGEST: Final = 2_000  # lines of one that are looked at
_LONG: Final = 5_000  # lines; a longer file is not less likely
_FILES: Final = 12  # files whose lines outside of functions are weighed
_OUTSIDE: Final = 3_000  # lines of a file that are looked at for these
_HEAD: Final = 150  # lines in which imports stand
_NEAR: Final = 3  # lines around that belong to what a line says
_FAR: Final = 8
_WORD: Final = re.compile(r"\w")
_NAME: Final = re.compile(r"[A-Za-z_]\w{2,}")
_COMMENT: Final = re.compile(r"\s*(?:#|//|/\*|\*|\"\"\"|'''|--|<!--)")
_CONDITION: Final = re.compile(r"\s*(?:if|elif|unless|case|match|switch|when)\b")
_ASSERTION: Final = re.compile(r"\s*(?:assert|debug_assert)")
_DECLARES: Final = re.compile(r"\s*(?:def|fn|func|function|async|pub|export)\b")
_ASSIGNS: Final = re.compile(r"\s*(?:let|const|var|static)\b")
_IMPORT: Final = re.compile(
    r"\s*(?:import\b|from\b.*\bimport\b|use\b|pub use\b|require|const .*= require|#include|package\b|\} from\b"
    r"|export .* from)"
)

Place = tuple[str, int]  # path and line

FUNCTION_WEIGHTS: Final[Mapping[str, float]] = {
    "": -1.850,
    "rank of file": -0.332,
    "score of file": -0.051,
    "length of file": -0.098,
    "rank": -0.877,
    "score": 0.331,
    "length": -0.842,
    "value": 3.649,
    "words on average": -1.263,
    "most words": 0.310,
    "words": 1.035,
    "words near": -0.036,
    "words around": 0.652,
    "title": -0.351,
    "title near": 0.344,
    "pairs near": 0.197,
    "names": 0.496,
    "comment": -0.850,
    "opens": -0.354,
    "from start": 0.086,
    "to end": -0.076,
    "condition": 0.296,
    "assertion": -0.569,
    "lines that say more": 1.676,
    "of most words": 0.657,
}
OTHER_WEIGHTS: Final[Mapping[str, float]] = {
    "": 1.427,
    "rank of file": -0.508,
    "score of file": 0.413,
    "length of file": -0.710,
    "words": 1.132,
    "words near": -0.191,
    "words around": 0.475,
    "title": -0.235,
    "title near": 0.254,
    "pairs near": 0.182,
    "names": 0.719,
    "comment": -0.733,
    "opens": -0.704,
    "characters": -0.195,
    "indented": 0.061,
    "decorator": -1.739,
    "declares": 0.060,
    "assigns": 0.303,
    "import": 0.704,
}


def score_lines(
    ranked: Sequence[RankedSymbol], files: TaskFiles, symbols_in: Callable[[str], Sequence[Symbol]]
) -> dict[Place, float]:
    """What each line of the best functions, and of the best files outside of functions, is worth."""
    worth: dict[Place, float] = {}
    both = (
        (FUNCTION_WEIGHTS, lines_in_functions(ranked, files)),
        (OTHER_WEIGHTS, lines_outside_functions(ranked, files, symbols_in)),
    )
    for weights, parts in both:
        for common, lines in parts:
            known = sum(weights[name] * value for name, value in common.items())
            for place, seen in lines:
                worth.setdefault(place, math.exp(known + sum(weights[name] * value for name, value in seen.items())))
    return worth


Lines = Iterator[tuple[Place, Features]]


def lines_in_functions(ranked: Sequence[RankedSymbol], files: TaskFiles) -> Iterator[tuple[Features, Lines]]:
    """For functions, constants and fields, what speaks for all lines of one, and for each that was not there before."""
    ranks = _rank_files(ranked)
    before: defaultdict[str, set[int]] = defaultdict(set)
    for rank, row in enumerate(ranked[:_FUNCTIONS]):
        symbol, file = row.symbol, files[row.path]
        if symbol is None or symbol.kind in RANKED_TYPES or symbol.start > len(file):
            continue
        last = min(symbol.end, len(file), symbol.start + _LONGEST - 1)
        rare = []
        for line in range(symbol.start, last + 1):
            rare.append(file[line].rare)
        common = {
            "": 1.0,
            **_file_features(row.path, ranks, file),
            "rank": math.log(rank + 3),
            "score": row.score,
            "length": math.log(len(rare) + 1),
            "value": float(symbol.kind in VALUES),
            "words on average": math.log(sum(rare) / len(rare) + 0.02),
            "most words": math.log(max(rare) + 0.05),
        }
        lines = []
        for line in range(symbol.start, last + 1):
            if line not in before[row.path]:
                lines.append(line)
        before[row.path].update(lines)
        yield common, _read_function(file, lines, symbol.start, rare)


def _read_function(file: FileEvidence, lines: Sequence[int], start: int, rare: Sequence[float]) -> Lines:
    most, order, last = max(rare), sorted(rare), start + len(rare) - 1
    for line, seen in _read_lines(file, lines):
        text, own = file.lines[line - 1], rare[line - start]
        seen |= {
            "from start": math.log(line - start + 1),
            "to end": math.log(last - line + 1),
            "condition": float(bool(_CONDITION.match(text))),
            "assertion": float(bool(_ASSERTION.match(text))),
            "lines that say more": 1 - bisect_right(order, own) / len(order),
            "of most words": own / (most + 1e-6),
        }
        yield (file.path, line), seen


def lines_outside_functions(
    ranked: Sequence[RankedSymbol], files: TaskFiles, symbols_in: Callable[[str], Sequence[Symbol]]
) -> Iterator[tuple[Features, Lines]]:
    """Imports, constants and all else that stands outside of functions."""
    ranks = _rank_files(ranked)
    for path in list(ranks)[:_FILES]:
        file = files[path]
        within: set[int] = set()
        for symbol in symbols_in(path):
            if symbol.kind in WITH_BODY:
                within.update(range(symbol.start, symbol.end + 1))
        lines = []
        for line in range(1, min(len(file), _OUTSIDE) + 1):
            if line not in within:
                lines.append(line)
        yield {"": 1.0, **_file_features(path, ranks, file)}, _read_other(file, lines)


def _read_other(file: FileEvidence, lines: Sequence[int]) -> Lines:
    for line, seen in _read_lines(file, lines):
        text = file.lines[line - 1]
        seen |= {
            "characters": math.log(len(text.strip()) + 5),
            "indented": min(len(text) - len(text.lstrip()), 24) / 8,
            "decorator": float(text.lstrip().startswith("@")),
            "declares": float(bool(_DECLARES.match(text))),
            "assigns": float(bool(_ASSIGNS.match(text))),
            "import": float(line <= _HEAD and bool(_IMPORT.match(text))),
        }
        yield (file.path, line), seen


def _rank_files(ranked: Sequence[RankedSymbol]) -> dict[str, tuple[int, float]]:
    """The files, best first, with their ranks and the scores of their best symbols."""
    ranks: dict[str, tuple[int, float]] = {}
    for row in ranked:
        ranks.setdefault(row.path, (len(ranks), row.score))
    return ranks


def _file_features(path: str, ranks: Mapping[str, tuple[int, float]], file: FileEvidence) -> Features:
    rank, score = ranks[path]
    return {
        "rank of file": math.log(rank + 1),
        "score of file": score,
        "length of file": math.log(min(len(file), _LONG) + 20),
    }


def _read_lines(file: FileEvidence, lines: Sequence[int]) -> Iterator[tuple[int, Features]]:
    """Those of the lines that have a word, with what they and their neighbours say."""
    for run in _split_runs(lines):
        said = [file[line] for line in range(run.start - _FAR, run.stop + _FAR)]
        rare, titled = [each.rare for each in said], [each.title for each in said]
        pairs = []
        for each in said:
            pairs.append(each.pairs + each.more_pairs)
        for at, line in enumerate(run, _FAR):
            text = file.lines[line - 1]
            if not _WORD.search(text):
                continue
            near = slice(at - _NEAR, at + _NEAR + 1)
            yield (
                line,
                {
                    "words": math.log(rare[at] + 0.05),
                    "words near": math.log(sum(rare[near]) + 0.2),
                    "words around": math.log(sum(rare[at - _FAR : at + _FAR + 1]) + 0.4),
                    "title": math.log(titled[at] + 0.05),
                    "title near": math.log(sum(titled[near]) + 0.2),
                    "pairs near": min(sum(pairs[at - _NEAR + 1 : at + _NEAR]), 4.0),
                    "names": _count_names(text, file.query) if file.query.names else 0.0,
                    "comment": float(bool(_COMMENT.match(text))),
                    "opens": float(text.rstrip().endswith((":", "{", "("))),
                },
            )


def _count_names(text: str, query: TaskQuery) -> float:
    return min(float(sum(name in query.names for name in _NAME.findall(text))), 2.0)


def _split_runs(lines: Sequence[int]) -> Iterator[range]:
    """Lines that follow each other."""
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at] != lines[at - 1] + 1:
            yield range(lines[start], lines[at - 1] + 1)
            start = at
