"""Rank what a question in words is about: the function that does the work before those that are only called so.

Two orders know different things. Words of names, signatures and documentation (`ranking`) find what is called as the
question says, which is often an accessor; the code of the candidates (`task_ranking`) shows who does the work. All of
it is put together in one weighted sum. The weights were fitted to questions with known answers on other code bases:
those of a public benchmark, and first sentences of documentation that was taken out of the code
(`benchmarks/fit_questions.py`). What says more of the question never counts against a candidate.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from laconic.index.schema import file_of
from laconic.index.search.file_evidence import Features, TaskFiles
from laconic.index.search.other_words import find_in_other_words, keep_places
from laconic.index.search.query import Scope
from laconic.index.search.ranking import RankedSymbol, match_terms
from laconic.index.search.task_query import TaskQuery, split_stems
from laconic.index.search.task_ranking import extract_features, file_stem, find_candidates
from laconic.index.search.terms import Term, has_same_stem, is_telling
from laconic.index.search.thesaurus import related_stems, related_words
from laconic.index.search_words import fold, split
from laconic.index.store import Store
from laconic.index.store.file_queries import count_files, count_lines
from laconic.index.store.word_queries import count_word_by_file
from laconic.index.symbol_kinds import WITH_BODY

READ: Final = 120  # candidates of each order whose code is read
_LEAST: Final = 0.02  # of the best score
_FAR: Final = 400  # the place of what an order does not know
_MEANT: Final = 60  # candidates that say it in other words
_OTHER_WORD: Final = 0.6  # what a word of the same meaning counts
_COMMON: Final = 30_000  # definitions; a word that more of them have tells nothing of a file
_LINES: Final = 300  # lines of a body that are read
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_SHORT: Final = 4  # lines of a function that only hands something on
_REPEATED: Final = 2.0  # what a further hit of a file loses, by how many there are above it
QUESTION_WEIGHTS: Final[Mapping[str, float]] = {
    "all": 0.000,
    "body": 0.000,
    "path": 0.000,
    "owner": 0.000,
    "title": 0.000,
    "title in body": 0.000,
    "title in path": 0.000,
    "title in body only": 0.315,
    "share of name": 1.227,
    "words of name": 0.066,
    "best of name": 0.000,
    "scope in path": 0.000,
    "best line": 0.046,
    "best three lines": 0.000,
    "lines on average": -0.781,
    "close together": 0.078,
    "pairs": 0.562,
    "more pairs": 0.000,
    "length": -0.375,
    "file is test": -3.773,
    "file is text": -0.954,
    "file is other": -0.144,
    "is test": -1.973,
    "method": 0.045,
    "type": 0.981,
    "value": -2.254,
    "field": -1.991,
    "other kind": -1.222,
    "private": -0.460,
    "folders": 0.000,
    "nested": -0.842,
    "named": 0.000,
    "in the text": 0.000,
    "owner named": 0.626,
    "file named": 0.000,
    "file called so": 0.000,
    "score": 0.098,
    "rank": 0.000,
    "rank of file": 0.000,
    "best of file": 0.282,
    "of best of file": 0.000,
    "before in file": -0.304,
    "many in file": 0.179,
    "many in folder": 0.201,
    "members": 0.293,
    "uses names": 0.365,
    "by words": 0.000,
    "place by words": -0.222,
    "file by words": 0.000,
    "place of file by words": 0.000,
    "file says": 0.197,
    "place of file": -0.056,
    "place by meaning": -0.306,
    "meant by names": 3.265,
    "meant": 0.498,
    "file called": 0.000,
    "share of file": 0.124,
    "no symbol": -1.589,
    "in signature": 0.000,
    "in documentation": 3.000,
    "documented": -1.214,
    "short": 0.108,
    "name says": 0.639,
    "stem said": 0.255,
    "stem written": 0.259,
    "name written": 0.000,
    "name joined": 0.889,
    "owner written": 1.578,
    "words in stem": 0.000,
    "words in place": 0.572,
    "stem said in part": 1.039,
    "names a module": 0.231,
    "main of file": 0.115,
}


class Candidate(NamedTuple):
    """A row with what speaks for it."""

    row: RankedSymbol
    features: Features


def rank_question(
    store: Store, question: str, by_words: Sequence[tuple[float, RankedSymbol]], files: TaskFiles, scope: Scope
) -> list[RankedSymbol]:
    """The candidates of both orders, best first; `by_words` is the first of them."""
    found = []
    for row, features in question_features(store, question, by_words, files, scope):
        found.append(row._replace(score=sum(QUESTION_WEIGHTS[name] * value for name, value in features.items())))
    rows = spread_files(found)
    return keep_places(rows, find_in_other_words(store, files.query, scope, rows))


def spread_files(rows: Sequence[RankedSymbol]) -> list[RankedSymbol]:
    """Best first, where each further row of a file counts less: the first says that the file is right or wrong."""
    above: defaultdict[str, int] = defaultdict(int)
    lowered = []
    for row in sorted(rows, key=lambda row: (-row.score, row.path, row.id)):
        lowered.append(row._replace(score=row.score - _REPEATED * math.log1p(above[row.path])))
        above[row.path] += 1
    return sorted(lowered, key=lambda row: (-row.score, row.path, row.id))


def question_features(
    store: Store, question: str, by_words: Sequence[tuple[float, RankedSymbol]], files: TaskFiles, scope: Scope
) -> list[Candidate]:
    """The candidates of both orders with what speaks for each."""
    by_code = find_candidates(store, files.query, scope)
    scores = {}
    for row in by_code:
        scores[row.id] = row.score
    meant = match_terms(store, _expand(files.query), scope, 3 * READ)
    chosen: dict[int, RankedSymbol] = {}
    for row in [*by_code[:READ], *(row for _, row in by_words[:READ]), *meant[:_MEANT]]:
        chosen.setdefault(row.id, row._replace(score=scores.get(row.id, 0.0)))
    rows = sorted(chosen.values(), key=lambda row: (-row.score, row.path, row.id))
    symbols = [row for row in rows if row.symbol is not None]
    observers = (
        _WordOrder(by_words),
        _FileOrder(store, files.query),
        _MeantOrder(meant, files),
        _SaidWords(files.query),
        _WrittenNames(question),
        _PathWords(question),
    )

    def observe(row: RankedSymbol) -> Features:
        found: Features = {}
        for each in observers:
            found |= each.of(row)
        return found

    made: list[Candidate] = []
    if symbols:
        for row, seen in zip(symbols, extract_features(symbols, files), strict=True):
            made.append(Candidate(row, seen | observe(row)))
    for row in rows:
        if row.symbol is None:
            made.append(Candidate(row, observe(row)))
    return made


class _WordOrder:
    """Where rows and their files stand in the order by words."""

    def __init__(self, by_words: Sequence[tuple[float, RankedSymbol]]) -> None:
        self._best = by_words[0][0] if by_words else 1.0
        self._places: dict[int, tuple[int, float]] = {}
        sums: defaultdict[str, float] = defaultdict(float)
        share: defaultdict[str, float] = defaultdict(lambda: 1.0)
        for place, (score, row) in enumerate(by_words):
            self._places[row.id] = (place, score)
            sums[row.path] += score * share[row.path]
            share[row.path] *= 0.5
        self._files: dict[str, tuple[int, float]] = {}
        for place, path in enumerate(sorted(sums, key=lambda path: (-sums[path], path))):
            self._files[path] = (place, sums[path])
        self._fullest = max(sums.values(), default=1.0)

    def of(self, row: RankedSymbol) -> Features:
        place, score = self._places.get(row.id, (_FAR, 0.0))
        file_place, file_score = self._files.get(row.path, (_FAR, 0.0))
        return {
            "by words": math.log(score / self._best + _LEAST),
            "place by words": math.log1p(place),
            "file by words": math.log(file_score / self._fullest + _LEAST),
            "place of file by words": math.log1p(file_place),
        }


def _expand(query: TaskQuery) -> list[Term]:
    """The words of the question and those that mean nearly the same."""
    found = {}
    for term in query.terms:
        found[term.word] = Term(term.word, 2.0)
    for term in query.terms:
        for word in related_words(term.word):
            found.setdefault(word, Term(word, 1.0))
    return list(found.values())


class _FileOrder:
    """How much of a question whole files say, wherever it stands in them."""

    def __init__(self, store: Store, query: TaskQuery) -> None:
        total = count_files(store) + 1
        sums: defaultdict[int, float] = defaultdict(float)
        counts = {}
        for term in query.terms:
            counts[term.word] = count_word_by_file(store, term.word, _COMMON)
        files = set().union(*counts.values()) if counts else set()
        lines = count_lines(store, files)
        for held in counts.values():
            rare = math.log(1 + (total - len(held) + 0.5) / (len(held) + 0.5))
            for file, count in held.items():
                sums[file] += rare * count / (count + 0.5 + min(lines.get(file, 0), 3_000) / 400)
        self._best = max(sums.values(), default=1.0)
        self._places: dict[int, tuple[int, float]] = {}
        for place, file in enumerate(sorted(sums, key=lambda file: (-sums[file], file))):
            self._places[file] = (place, sums[file])

    def of(self, row: RankedSymbol) -> Features:
        place, score = self._places.get(file_of(row.id), (_FAR, 0.0))
        return {"file says": math.log(score / self._best + _LEAST), "place of file": math.log1p(place)}


class _MeantOrder:
    """How much of a question is said in its own or in other words."""

    def __init__(self, meant: Sequence[RankedSymbol], files: TaskFiles) -> None:
        self._places = {}
        for place, row in enumerate(meant):
            self._places[row.id] = place
        self._files = files
        self._related = {}
        for word in files.query.words:
            self._related[word] = related_stems(word)

    def of(self, row: RankedSymbol) -> Features:
        symbol = row.symbol
        names = set(split_stems(row.path))
        body: set[str] = set()
        if symbol is not None:
            names |= set(split_stems(f"{symbol.qualified} {symbol.signature}"))
            file = self._files[row.path]
            for line in range(symbol.start, min(symbol.end, symbol.start + _LINES) + 1):
                body |= file[line].words
        return {
            "place by meaning": math.log1p(self._places.get(row.id, _FAR)),
            "meant by names": self._share(names),
            "meant": self._share(names | body),
        }

    def _share(self, held: set[str]) -> float:
        query = self._files.query
        found = 0.0
        for word, worth in query.words.items():
            if word in held:
                found += worth.rare
            elif not held.isdisjoint(self._related[word]):
                found += _OTHER_WORD * worth.rare
        return found / query.rarest


class _WrittenNames:
    """Names that a question writes: as one word with capitals, or as words in a row."""

    def __init__(self, question: str) -> None:
        words = _WORD.findall(question)
        folded = list(map(fold, words))
        pairs = [one + other for one, other in pairwise(folded)]
        triples = [pair + other for pair, other in zip(pairs, folded[2:], strict=False)]
        self._rows = {*pairs, *triples}
        self._cased = frozenset(word for at, word in enumerate(words) if _is_cased(word, first=at == 0))
        self._names = self._rows | set(map(fold, self._cased))
        self._words = self._rows | set(folded)

    def of(self, row: RankedSymbol) -> Features:
        called = fold(file_stem(row.path))
        owners: list[str] = []
        name = ""
        if row.symbol is not None:
            *owners, name = row.symbol.qualified.split(".")
        return {
            "stem said": float(called in self._words),
            "stem written": float(called in self._names),
            "name written": float(name in self._cased),
            "name joined": float(fold(name) in self._rows),
            "owner written": float(not self._cased.isdisjoint(owners)),
        }


class _PathWords:
    """How many words of a question the name of a file and its folder have, also as beginnings of longer words."""

    def __init__(self, question: str) -> None:
        words = (word.lower() for word in _WORD.findall(question))
        self._words = frozenset(word for word in words if is_telling(word) and len(word) > 2)
        self._known: dict[str, Features] = {}

    def of(self, row: RankedSymbol) -> Features:
        if row.path not in self._known:
            self._known[row.path] = self._read(row.path)
        main = row.symbol is not None and row.symbol.folded == fold(file_stem(row.path))
        return {**self._known[row.path], "main of file": float(main)}

    def _read(self, path: str) -> Features:
        folder, _, name = path.rpartition("/")
        stem = name.partition(".")[0]
        parts = set(split(stem).lower().split())
        above = folder.rpartition("/")[2]
        in_stem = parts | {fold(stem)}
        said = sum(any(_begin_alike(word, part) for word in self._words) for part in parts)
        return {
            "words in stem": self._count(in_stem),
            "words in place": self._count({*in_stem, *split(above).lower().split(), fold(above)}),
            "stem said in part": said / max(1, len(parts)),
            "names a module": float(stem != file_stem(path)),
        }

    def _count(self, parts: Collection[str]) -> float:
        found = 0
        for word in self._words:
            found += any(_begin_alike(word, part) for part in parts)
        return found / max(1, len(self._words))


@lru_cache(maxsize=50_000)
def _begin_alike(one: str, other: str) -> bool:
    """Whether a word is the beginning of another, or both have one stem: `valid` and `validate`."""
    short, long = sorted((one, other), key=len)
    return (len(short) > 2 and long.startswith(short)) or has_same_stem(one, other)


def _is_cased(word: str, *, first: bool) -> bool:
    """Whether a word is written as a name: the first of a sentence has a capital anyway."""
    return "_" in word or word[1:] != word[1:].lower() or (word[0].isupper() and not first)


class _SaidWords:
    """How much of the question the file's name, the signature and the documentation say."""

    def __init__(self, query: TaskQuery) -> None:
        self._query = query

    def of(self, row: RankedSymbol) -> Features:
        called = split_stems(file_stem(row.path))
        found = {
            "file called": self._share(called),
            "share of file": sum(word in self._query.words for word in called) / max(1, len(called)),
            "no symbol": float(row.symbol is None),
        }
        symbol = row.symbol
        if symbol is None:
            return found
        return found | {
            "in signature": self._share(split_stems(symbol.signature)),
            "in documentation": self._share(split_stems(symbol.doc)),
            "documented": float(bool(symbol.doc)),
            "short": float(symbol.kind in WITH_BODY and symbol.end - symbol.line < _SHORT),
            "name says": self._share(split_stems(symbol.name)),
        }

    def _share(self, words: Sequence[str]) -> float:
        known = self._query.words
        return math.fsum(known[word].rare for word in set(words) if word in known) / self._query.rarest
