"""What a task says, as far as code can be compared with it: words with what each is worth, pairs of them, names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from laconic.index.search.terms import (
    MOST,
    Rarity,
    Term,
    extract_terms,
    find_identifiers,
    find_paths,
    is_telling,
    stem,
    strip_code,
    title_and_rest,
)
from laconic.index.search_words import fold, split
from laconic.index.store import Store

_LOOKED_UP: Final = 200  # words whose rarity is asked for
_RARE: Final = 0.85  # power of a word's rarity
_COMMON: Final = 0.01  # rarity of a word that most symbols have
_BEST: Final = 8  # words that can be expected in one place
_PROSE: Final = 4_000  # characters whose pairs of words are looked for
_WORDS: Final = re.compile(r"[A-Za-z]{3,}")
_NAME: Final = re.compile(r"[A-Za-z_]\w{3,}")
_SCOPE: Final = re.compile(r"\s*\w+\(([^)]{2,40})\)!?:")  # `fix(parser): ...`

Pair = tuple[str, str]


class TaskWord(NamedTuple):
    """A word of the task, by its stem."""

    worth: float  # what finding it is worth: rare, and made much of in the text
    rare: float  # how rare it is, wherever it stands in the text
    title: bool


class TaskQuery:
    """One task, compared with one index."""

    def __init__(self, store: Store, task: str) -> None:
        title, rest = title_and_rest(task)
        rarity = Rarity(store)
        self.terms = extract_terms(task)
        self.title = frozenset(term.word for term in extract_terms(title))
        self.weighted = _weigh_words(rarity, self.terms)
        self.words = _combine_words(rarity, self.terms, self.weighted, frozenset(map(stem, self.title)))
        worth = sorted(word.worth for word in self.words.values())
        self.most = sum(worth[-_BEST:]) or 1.0
        self.all = sum(worth) or 1.0
        self.highest = worth[-1] if worth and worth[-1] else 1.0
        self.rarest = sum(sorted(word.rare for word in self.words.values())[-_BEST:]) or 1.0
        self.titled = sum(word.worth for word in self.words.values() if word.title) or 1.0
        self.pairs = _pair_words(title)
        self.more_pairs = _pair_words(strip_code(rest)[:_PROSE]) - self.pairs
        scope = _SCOPE.match(title)
        if scope:
            self.scope = frozenset(split_stems(scope[1]))
        else:
            self.scope = frozenset[str]()
        self.names = dict.fromkeys(find_identifiers(task))
        self.folded = frozenset(map(fold, self.names))
        self.any_name = frozenset(map(fold, _NAME.findall(task)))
        in_title = _WORDS.findall(title)
        joined = set()
        for one, other in pairwise(in_title):
            joined.add(fold(one + other))
        self.named_in_title = frozenset(map(fold, find_identifiers(title))) | joined
        self.title_words = frozenset(word.lower() for word in in_title if len(word) > 3)
        self.places = tuple(find_paths(task))


class WeightedWord(NamedTuple):
    """A word as the index has it, and what finding it is worth."""

    word: str
    worth: float


def split_stems(text: str) -> list[str]:
    """The words of a text, without their endings."""
    found: list[str] = []
    for word in split(text).split():
        found.append(stem(word))
    return found


def _weigh_words(rarity: Rarity, wanted: Iterable[Term]) -> list[WeightedWord]:
    """The words that tell most: rare ones, and those that the text makes much of."""
    found: list[WeightedWord] = []
    for term in list(wanted)[: 4 * MOST]:
        # A word of a path stands in all symbols of the file: it is rarer than it looks, but it may stand only there.
        if count := rarity.count(term.word, "body name") or rarity.count(term.word):
            rare = math.log(max(rarity.total - count, 1) + 0.5) - math.log(count + 0.5)
            found.append(WeightedWord(term.word, term.weight * max(rare, _COMMON) ** _RARE))
    return sorted(found, key=lambda each: -each.worth)[:MOST]


def _combine_words(
    rarity: Rarity, wanted: Iterable[Term], weighted: Iterable[WeightedWord], title: frozenset[str]
) -> dict[str, TaskWord]:
    worth: dict[str, float] = {}
    for word, value in weighted:
        worth[stem(word)] = max(value, worth.get(stem(word), 0.0))
    rare: dict[str, float] = {}
    for term in list(wanted)[:_LOOKED_UP]:
        if count := rarity.count(term.word):
            rare[stem(term.word)] = max(rarity.information(count), rare.get(stem(term.word), 0.0))
    found: dict[str, TaskWord] = {}
    for word in dict.fromkeys([*worth, *rare]):
        found[word] = TaskWord(worth.get(word, 0.0), rare.get(word, 0.0), word in title)
    return found


def _pair_words(text: str) -> frozenset[Pair]:
    return frozenset(pairwise(stem(word) for word in split(text).split() if is_telling(word)))
