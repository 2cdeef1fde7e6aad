"""Put candidates in the order in which a task is about them, by reading their code.

The order is that of a weighted sum. The weights were fitted to recorded changes of some sixty repositories, so that the
functions that were changed come before those that were not (`scripts/fit_ranking.py`). Positive is good.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath
from typing import Final

from laconic.index.search.file_evidence import Evidence, Page, Pages
from laconic.index.search.line_scores import TYPES, VALUES
from laconic.index.search.ranking import Ranked, mentioned
from laconic.index.search.task_query import Asked, stems
from laconic.index.search.terms import MOST
from laconic.index.store import CALLABLE, Symbol
from laconic.index.words import fold

READ: Final = 250  # candidates whose code is read
_LINES: Final = 300  # lines of one that are read
_SPREAD: Final = 5  # lines that are looked at together
_LEAST: Final = 0.02  # of the best score
_OWNERS: Final = re.compile(r"[.:#/]+")
_NAMELESS: Final = frozenset({"index", "mod", "__init__", "main", "lib"})  # files that are called after their folder

WEIGHTS: Final[Mapping[str, float]] = {
    "all": 2.979,
    "body": -1.295,
    "path": 3.153,
    "owner": 2.552,
    "title": 4.846,
    "title in body": -2.792,
    "title in path": -1.914,
    "title in body only": -2.455,
    "share of name": 0.704,
    "words of name": -0.418,
    "best of name": 0.297,
    "scope in path": 1.527,
    "best line": 1.222,
    "best three lines": 0.906,
    "lines on average": 2.484,
    "close together": 0.109,
    "pairs": 0.496,
    "more pairs": 0.337,
    "length": 0.367,
    "file is test": -2.910,
    "file is text": 1.537,
    "file is other": -0.425,
    "is test": 0.982,
    "method": 0.247,
    "type": -2.973,
    "value": -2.666,
    "field": -2.104,
    "other kind": -3.372,
    "private": 0.250,
    "folders": -0.123,
    "nested": -0.855,
    "named": 1.062,
    "in the text": 0.149,
    "owner named": 0.906,
    "file named": 1.895,
    "file called so": 0.656,
    "score": 0.571,
    "rank": -0.097,
    "rank of file": -0.231,
    "best of file": 0.997,
    "of best of file": 0.806,
    "before in file": -0.340,
    "many in file": 0.068,
    "many in folder": 0.206,
    "members": -1.295,
    "uses names": 0.135,
}


def judged(rows: Sequence[Ranked], pages: Pages, weights: Mapping[str, float] = WEIGHTS) -> list[Ranked]:
    """The candidates, best first; the score of the best is 0, and each point less makes one e times less likely."""
    read = rows[:READ]
    if not read:
        return []
    sums = [sum(weights[name] * value for name, value in each.items()) for each in evidence(read, pages)]
    best, last = max(sums), min(sums)
    found = [row._replace(score=value - best) for row, value in zip(read, sums, strict=True)]
    found.sort(key=lambda row: (-row.score, row.path, row.id))
    return found + [row._replace(score=last - best - 1) for row in rows[READ:]]


def evidence(rows: Sequence[Ranked], pages: Pages) -> list[Evidence]:
    """What speaks for each candidate and what against it."""
    found = [(row, row.symbol) for row in rows if row.symbol is not None]
    around = _Around(found, pages)
    return [
        {
            **_words(symbol, pages[row.path]),
            **_shape(row, symbol),
            **_names(row.path, symbol, pages.asked),
            **around.of(at, row, symbol),
        }
        for at, (row, symbol) in enumerate(found)
    ]


def _words(symbol: Symbol, page: Page) -> Evidence:
    """How much of what the task says stands in the body, the name, the owner and the path, and how close together."""
    asked = page.asked
    said = [page[line] for line in range(symbol.start, min(symbol.end, symbol.start + _LINES - 1) + 1)]
    body = frozenset[str]().union(*(line.words for line in said))
    name, owner, place = set(stems(symbol.name)), set(stems(" ".join(owners(symbol)))), set(stems(page.path))
    lines = [line.worth for line in said]
    together = max((sum(lines[at : at + _SPREAD]) for at in range(max(1, len(lines) - _SPREAD + 1))), default=0.0)
    whole = body | name | owner | place

    def share(words: AbstractSet[str], of: float) -> float:
        return math.fsum(asked.words[word].worth for word in words & asked.words.keys()) / of

    def titled(words: AbstractSet[str]) -> float:
        return share({word for word in words & asked.words.keys() if asked.words[word].title}, asked.titled)

    in_name = [asked.words[word].worth for word in name if word in asked.words]
    return {
        "all": share(whole, asked.all),
        "body": share(body, asked.all),
        "path": share(place, asked.most),
        "owner": share(owner, asked.most),
        "title": titled(whole),
        "title in body": titled(body),
        "title in path": titled(place),
        "title in body only": titled(body - place),
        "share of name": len(in_name) / max(1, len(name)),
        "words of name": math.log1p(len(name)),
        "best of name": max(in_name, default=0.0) / asked.highest,
        "scope in path": len(asked.scope & place) / max(1, len(asked.scope)),
        "best line": max(lines, default=0.0) / asked.most,
        "best three lines": sum(sorted(lines)[-3:]) / asked.most,
        "lines on average": sum(lines) / max(1, len(lines)) / asked.most,
        "close together": together / (share(body, 1.0) or 1.0),
        "pairs": math.log1p(sum(line.pairs for line in said)),
        "more pairs": math.log1p(sum(line.more_pairs for line in said)),
    }


def _shape(row: Ranked, symbol: Symbol) -> Evidence:
    kind, file = symbol.kind, row.file_class
    return {
        "length": math.log(symbol.end - symbol.start + 2),
        "file is test": float(file == "test"),
        "file is text": float(file == "doc"),
        "file is other": float(file not in ("source", "test", "doc")),
        "is test": float(symbol.test),
        "method": float(kind == "method"),
        "type": float(kind in TYPES),
        "value": float(kind in VALUES),
        "field": float(kind == "field"),
        "other kind": float(kind not in CALLABLE | TYPES | VALUES | {"field"}),
        "private": float(symbol.visibility == "private" or symbol.name.startswith("_")),
        "folders": float(row.path.count("/")),
        "nested": math.log1p(len(_OWNERS.split(symbol.qualified))),
    }


def _names(path: str, symbol: Symbol, asked: Asked) -> Evidence:
    """What the task names outright."""
    return {
        "named": float(symbol.folded in asked.folded),
        "in the text": float(symbol.folded in asked.any_name),
        "owner named": float(not asked.names.keys().isdisjoint(owners(symbol))),
        "file named": float(mentioned(path, asked.places)),
        "file called so": float(fold(called(path)) in asked.title_words),
    }


class _Around:
    """How candidates stand to each other."""

    def __init__(self, found: Sequence[tuple[Ranked, Symbol]], pages: Pages) -> None:
        rows = [row for row, _ in found]
        self._best = rows[0].score or 1.0
        self._rank: dict[str, int] = {}
        self._first: dict[str, float] = {}
        for row in rows:
            self._rank.setdefault(row.path, len(self._rank))
            self._first.setdefault(row.path, row.score)
        self._many = Counter(row.path for row in rows[:100])
        self._folders = Counter(_folder(row.path) for row in rows[:30])
        self._members = Counter((row.path, symbol.parent) for row, symbol in found)
        self._before: Counter[str] = Counter()
        self._using = _using(found, pages)

    def of(self, at: int, row: Ranked, symbol: Symbol) -> Evidence:
        before = self._before[row.path]
        self._before[row.path] += 1
        return {
            "score": math.log(max(row.score / self._best, 0.0) + _LEAST),
            "rank": math.log(at + 1),
            "rank of file": math.log1p(self._rank[row.path]),
            "best of file": self._first[row.path] / self._best,
            "of best of file": row.score / (self._first[row.path] or 1.0),
            "before in file": math.log1p(before),
            "many in file": math.log1p(self._many[row.path]),
            "many in folder": math.log1p(self._folders[_folder(row.path)]),
            "members": 0.0 if symbol.kind in CALLABLE else math.log1p(self._members[row.path, symbol.id]),
            "uses names": self._using[at],
        }


def _using(found: Sequence[tuple[Ranked, Symbol]], pages: Pages) -> list[float]:
    """For each candidate, what it uses of the names that the task writes; one that few use counts more."""
    bodies = [
        "\n".join(pages[row.path].lines[symbol.start - 1 : min(symbol.end, symbol.start + _LINES - 1)])
        for row, symbol in found
    ]
    sums = [0.0] * len(found)
    for name in list(pages.asked.names)[:MOST]:
        used = [at for at, body in enumerate(bodies) if name in body and found[at][1].name != name]
        for at in used:
            sums[at] += math.log1p(len(found) / len(used))
    return sums


def owners(symbol: Symbol) -> list[str]:
    """The names of what a symbol stands in."""
    return _OWNERS.split(symbol.qualified)[:-1]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def called(path: str) -> str:
    """What a file is called after."""
    place = PurePosixPath(path)
    return place.parent.name if place.stem in _NAMELESS else place.stem
