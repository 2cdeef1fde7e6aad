"""Rank symbols for a task in words: an issue, a bug, a change to make.

Such a text is long, and most of it is not about code. The index hands over candidates; they are weighed again word by
word, by where a word stands in the task and whether it stands in the body, the name or the path of a symbol. Then the
code of the best is read and they are put in order again, by a weighted sum. The weights were fitted to recorded
changes of some sixty repositories, so that the functions that were changed come before those that were not
(`scripts/fit_ranking.py`). Positive is good.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from laconic.index.file_class_weights import weigh_classes
from laconic.index.schema import file_of
from laconic.index.search.file_evidence import Features, FileEvidence, TaskFiles
from laconic.index.search.query import Scope
from laconic.index.search.ranking import (
    Priors,
    RankedSymbol,
    find_named,
    is_mentioned,
    match_terms,
    prior_of,
    sum_by_file,
)
from laconic.index.search.task_query import TaskQuery, WeightedWord, split_stems
from laconic.index.search.terms import MOST
from laconic.index.search_words import fold
from laconic.index.store import Store, Symbol
from laconic.index.store.file_queries import count_lines
from laconic.index.store.word_queries import find_rows_holding
from laconic.index.symbol_kinds import RANKED_TYPES, VALUES, WITH_BODY, weigh_kinds

_POOL: Final = 1500  # candidates by all words, and as many by those of the title
_NAME: Final = 1.0
_PATH: Final = 1.2
_LONG: Final = 400  # lines; a longer body holds no more words by chance
_USUAL: Final = 40  # lines of a body whose words count in full
_FILE: Final = 0.15  # of the best score, for the file that holds most of the words
_OWNER: Final = 0.15  # the same for a member of what the text names; more when the title does
_OWNER_IN_TITLE: Final = 0.25
_NAMED: Final = 0.3
_PLACED: Final = 0.25
_ALIKE: Final = 0.05  # a name or a file that is called as a word of the title
_NEIGHBOURS: Final = 0.35  # what the best symbols of a file lend to the others
_LENGTH: Final = 0.05

_CLASSES: Final = weigh_classes("task")
_KINDS: Final = weigh_kinds("task")

_PRIORS: Final = Priors(_KINDS, _CLASSES)
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


def rank_symbols(store: Store, task: str, limit: int, lines_of: Callable[[str], Sequence[str]]) -> list[RankedSymbol]:
    """The symbols that a task in words is most likely about, best first; functions before what only declares."""
    query = TaskQuery(store, task)
    return rank_task(store, TaskFiles(query, lines_of))[:limit]


def rank_task(store: Store, files: TaskFiles, scope: Scope | None = None) -> list[RankedSymbol]:
    """The same for a task that was compared with the index already."""
    return rerank(find_candidates(store, files.query, scope), files)


def find_candidates(store: Store, query: TaskQuery, scope: Scope | None = None) -> list[RankedSymbol]:
    """What the index alone can say, best first."""
    scope = scope or Scope()
    kept = set()
    for each in query.weighted:
        kept.add(each.word)
    rows = match_terms(store, [term for term in query.terms if term.word in kept], scope, _POOL)
    seen = set()
    for row in rows:
        seen.add(row.id)
    more = match_terms(store, [term for term in query.terms if term.word in kept & query.title], scope, _POOL)
    for row in more:
        if row.id not in seen:
            rows.append(row)
    rows += find_named(store, query.names, scope, seen | {row.id for row in more})
    rows = [row for row in rows if row.symbol is not None]
    scored = _add_priors(_score_words(store, rows, query.weighted), query)
    return sorted(_add_neighbours(scored), key=lambda row: (-row.score, row.path, row.id))


def _score_words(store: Store, rows: Sequence[RankedSymbol], weighted: Sequence[WeightedWord]) -> list[RankedSymbol]:
    """The rows with new scores from 0 to 1, to which what their files hold is added."""
    length = {}
    for row in rows:
        if row.symbol is not None:
            length[row.id] = len(row.symbol.span)
    body = {}
    for id, lines in length.items():
        body[id] = (0.75 + 0.25 * min(lines, _LONG) / _USUAL) ** -0.6
    scores: defaultdict[int, float] = defaultdict(float)
    files: defaultdict[int, float] = defaultdict(float)
    ids = json.dumps(list(length))
    for word, worth in weighted:
        held: defaultdict[int, float] = defaultdict(float)
        for column, weight in (("name", _NAME), ("path", _PATH)):
            for id in find_rows_holding(store, column, word, ids):
                held[id] += weight
        for id in find_rows_holding(store, "body", word, ids):
            held[id] += body[id]
        for id, value in held.items():
            scores[id] += worth * value / (value + 1)
        for file in {file_of(id) for id in held}:
            files[file] += worth
    for file, lines in count_lines(store, files).items():
        files[file] /= 0.5 + min(lines, 3_000) / 600
    best, fullest = max(scores.values(), default=1.0), max(files.values(), default=1.0)
    found: list[RankedSymbol] = []
    for row in rows:
        found.append(row._replace(score=scores[row.id] / best + _FILE * files[file_of(row.id)] / fullest))
    return found


def _add_priors(rows: Iterable[RankedSymbol], query: TaskQuery) -> list[RankedSymbol]:
    found: list[RankedSymbol] = []
    for row in rows:
        symbol = row.symbol
        assert symbol is not None
        score = row.score
        within = set(map(fold, owner_names(symbol)))
        score += _OWNER_IN_TITLE * (not within.isdisjoint(query.named_in_title))
        score += _OWNER * (not within.isdisjoint(query.folded))
        score += _NAMED * (symbol.folded in query.folded)
        score += _ALIKE * (symbol.folded in query.title_words)
        score += _ALIKE * (fold(file_stem(row.path)) in query.title_words)
        score += _PLACED * is_mentioned(row.path, query.places)
        found.append(row._replace(score=score * prior_of(row, _PRIORS, _LENGTH)))
    return found


def _add_neighbours(rows: Sequence[RankedSymbol]) -> Iterator[RankedSymbol]:
    """A field does not come up because its file does."""
    by_file = sum_by_file(rows)
    for row in rows:
        kind = 0.0
        if row.symbol is not None:
            kind = _KINDS.get(row.symbol.kind, 0.2)
        yield row._replace(score=row.score + _NEIGHBOURS * kind * by_file[file_of(row.id)])


def rerank(
    rows: Sequence[RankedSymbol], files: TaskFiles, weights: Mapping[str, float] = WEIGHTS
) -> list[RankedSymbol]:
    """The candidates, best first; the score of the best is 0, and each point less makes one e times less likely."""
    read = rows[:READ]
    if not read:
        return []
    sums = []
    for each in extract_features(read, files):
        sums.append(sum(weights[name] * value for name, value in each.items()))
    best, last = max(sums), min(sums)
    found = []
    for row, value in zip(read, sums, strict=True):
        found.append(row._replace(score=value - best))
    found.sort(key=lambda row: (-row.score, row.path, row.id))
    return found + [row._replace(score=last - best - 1) for row in rows[READ:]]


def extract_features(rows: Sequence[RankedSymbol], files: TaskFiles) -> list[Features]:
    """What speaks for each candidate and what against it."""
    found = []
    for row in rows:
        if row.symbol is not None:
            found.append((row, row.symbol))
    around = _Neighbourhood(found, files)
    made: list[Features] = []
    for at, (row, symbol) in enumerate(found):
        made.append(
            {
                **_word_features(symbol, files[row.path]),
                **_shape_features(row, symbol),
                **_name_features(row.path, symbol, files.query),
                **around.of(at, row, symbol),
            }
        )
    return made


def _word_features(symbol: Symbol, file: FileEvidence) -> Features:
    """How much of what the task says stands in the body, the name, the owner and the path, and how close together."""
    query = file.query
    said = []
    for line in range(symbol.start, min(symbol.end, symbol.start + _LINES - 1) + 1):
        said.append(file[line])
    body = frozenset[str]().union(*(line.words for line in said))
    name, owner, place = (
        set(split_stems(symbol.name)),
        set(split_stems(" ".join(owner_names(symbol)))),
        set(split_stems(file.path)),
    )
    lines = []
    for each in said:
        lines.append(each.worth)
    together = max((sum(lines[at : at + _SPREAD]) for at in range(max(1, len(lines) - _SPREAD + 1))), default=0.0)
    whole = body | name | owner | place

    def share(words: AbstractSet[str], of: float) -> float:
        return math.fsum(query.words[word].worth for word in words & query.words.keys()) / of

    def titled(words: AbstractSet[str]) -> float:
        return share({word for word in words & query.words.keys() if query.words[word].title}, query.titled)

    in_name = []
    for word in name:
        if word in query.words:
            in_name.append(query.words[word].worth)
    return {
        "all": share(whole, query.all),
        "body": share(body, query.all),
        "path": share(place, query.most),
        "owner": share(owner, query.most),
        "title": titled(whole),
        "title in body": titled(body),
        "title in path": titled(place),
        "title in body only": titled(body - place),
        "share of name": len(in_name) / max(1, len(name)),
        "words of name": math.log1p(len(name)),
        "best of name": max(in_name, default=0.0) / query.highest,
        "scope in path": len(query.scope & place) / max(1, len(query.scope)),
        "best line": max(lines, default=0.0) / query.most,
        "best three lines": sum(sorted(lines)[-3:]) / query.most,
        "lines on average": sum(lines) / max(1, len(lines)) / query.most,
        "close together": together / (share(body, 1.0) or 1.0),
        "pairs": math.log1p(sum(line.pairs for line in said)),
        "more pairs": math.log1p(sum(line.more_pairs for line in said)),
    }


def _shape_features(row: RankedSymbol, symbol: Symbol) -> Features:
    kind, file = symbol.kind, row.file_class
    return {
        "length": math.log(symbol.end - symbol.start + 2),
        "file is test": float(file == "test"),
        "file is text": float(file == "doc"),
        "file is other": float(file not in ("source", "test", "doc")),
        "is test": float(symbol.test),
        "method": float(kind == "method"),
        "type": float(kind in RANKED_TYPES),
        "value": float(kind in VALUES),
        "field": float(kind == "field"),
        "other kind": float(kind not in WITH_BODY | RANKED_TYPES | VALUES | {"field"}),
        "private": float(symbol.visibility == "private" or symbol.name.startswith("_")),
        "folders": float(row.path.count("/")),
        "nested": math.log1p(len(_OWNERS.split(symbol.qualified))),
    }


def _name_features(path: str, symbol: Symbol, query: TaskQuery) -> Features:
    """What the task names outright."""
    return {
        "named": float(symbol.folded in query.folded),
        "in the text": float(symbol.folded in query.any_name),
        "owner named": float(not query.names.keys().isdisjoint(owner_names(symbol))),
        "file named": float(is_mentioned(path, query.places)),
        "file called so": float(fold(file_stem(path)) in query.title_words),
    }


class _Neighbourhood:
    """How candidates stand to each other."""

    def __init__(self, found: Sequence[tuple[RankedSymbol, Symbol]], files: TaskFiles) -> None:
        rows = []
        for row, _ in found:
            rows.append(row)
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
        self._using = _count_used_names(found, files)

    def of(self, at: int, row: RankedSymbol, symbol: Symbol) -> Features:
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
            "members": 0.0 if symbol.kind in WITH_BODY else math.log1p(self._members[row.path, symbol.id]),
            "uses names": self._using[at],
        }


def _count_used_names(found: Sequence[tuple[RankedSymbol, Symbol]], files: TaskFiles) -> list[float]:
    """For each candidate, what it uses of the names that the task writes; one that few use counts more."""
    bodies = []
    for row, symbol in found:
        bodies.append("\n".join(files[row.path].lines[symbol.start - 1 : min(symbol.end, symbol.start + _LINES - 1)]))
    sums = [0.0] * len(found)
    for name in list(files.query.names)[:MOST]:
        used = []
        for at, body in enumerate(bodies):
            if name in body and found[at][1].name != name:
                used.append(at)
        for at in used:
            sums[at] += math.log1p(len(found) / len(used))
    return sums


def owner_names(symbol: Symbol) -> list[str]:
    """The names of what a symbol stands in."""
    return _OWNERS.split(symbol.qualified)[:-1]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def file_stem(path: str) -> str:
    """What a file is called after."""
    folder, _, name = path.rpartition("/")
    stem = name
    if "." in name[1:]:
        stem = name[0] + name[1:].rpartition(".")[0]
    if stem in _NAMELESS:
        return folder.rpartition("/")[2]
    return stem
