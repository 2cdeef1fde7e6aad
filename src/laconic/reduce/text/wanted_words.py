"""What a caller looks for, in words: the parts of a text that hold them are worth more than any other. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Final

from laconic.reduce.text.parts import ASKED, KEY, NOISE, TOP, TextPart

_WORD: Final = re.compile(r"\d+(?:[.,:/-]\d+)+|[^\W\d_]+|\d{2,}|(?<![^\W_])\d(?![^\W_])")  # no digit inside a word
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING: Final = re.compile(r"(?:ings?|edly|ed|es|s|ly|ion|ions)$")
_STEM: Final = 4  # letters that stay of a word without its ending
_SHORTEST: Final = 2  # letters of a word that says something
_COMMON: Final = 0.25  # of the parts: a word in more of them tells nothing
_FEW: Final = 3  # parts that a word may be in however few there are
_LEVELS: Final = (0.8, 0.55, 0.35)  # of the best part's score, best first
_FAMILY: Final = 24  # parts below one, beyond which it is the heading of a table
_BESIDE: Final = 2  # lines on either side of the best that explain it
_NEARBY: Final = 0.6  # of what a word counts that is in a line beside
_ERRORS: Final = 12  # parts that tell of errors or stand out, at most: they stay whatever is looked for
_MOST: Final = 64  # words that are looked for
_FILLERS: Final = """
    a about above after all also am an and any are as at be been before below between but by can could did do does
    each find for from get give had has have he her here him his how i if in into is it its just last like list look
    made make many me more most much must my need no not of off on one only or other our out over please read same see
    she should show since so some such tell than that the their them then there these they this those through to too
    under up us use used value want was we were what when where which while who whom whose why will with would you
    your first second true false null none
"""
_FILLING: Final = frozenset(_FILLERS.split())


def find_words(text: str) -> tuple[str, ...]:
    """The telling words of a question, each once."""
    found: dict[str, None] = {}
    for word in _split(text):
        if (word not in _FILLING and len(word) >= _SHORTEST) or word.isdigit():
            found[_stem(word)] = None
    return tuple(found)[:_MOST]


def raise_wanted(parts: Sequence[TextPart], words: Sequence[str], *, flowing: bool = True) -> list[TextPart]:
    """The parts; those that hold most of these words come before all others, with what is beside them and below.

    In a flowing text a sentence goes on in the next line; the lines of a log stand for themselves.
    """
    held = _find_held(parts, words)
    weights = _weigh(held, len(parts))
    scores = _score(held, weights)
    if flowing:
        scores = _spread(parts, held, weights, scores)
    if not scores:
        return list(parts)
    telling = [index for index, part in enumerate(parts) if part.worth == KEY]
    families = Counter(part.head for part in parts)
    names = {index for index, part in enumerate(parts) if part.worth == TOP or families[index] > _FAMILY}
    raised = _rank(scores, names)
    for index in [index for index, worth in raised.items() if worth == ASKED + len(_LEVELS)]:
        for near in _around(parts, index):
            raised.setdefault(near, ASKED)
    explained = {
        index for index, worth in raised.items() if worth == ASKED + len(_LEVELS) and families[index] <= _FAMILY
    }
    if len(telling) <= _ERRORS:
        raised |= dict.fromkeys(telling, ASKED + len(_LEVELS) + 1)
    found: list[TextPart] = []
    for index, part in enumerate(parts):
        worth = raised.get(index, 0)
        if part.head in explained and part.worth > NOISE:  # it belongs to what was asked for
            worth = max(worth, ASKED)
            explained.add(index)
        if worth and part.lines and part.text.strip():
            part = replace(part, worth=worth)
        found.append(part)
    return found


def _rank(scores: Mapping[int, float], names: set[int]) -> dict[int, int]:
    """What the parts that hold these words are worth. The names of the columns stay whatever they hold, so that they
    are no measure for the rows below."""
    raised: dict[int, int] = {}
    for those in (scores.keys() - names, scores.keys() & names):
        best = max((scores[index] for index in those), default=0.0)
        for index in those:
            for step, share in enumerate(_LEVELS):
                if scores[index] >= share * best:
                    raised[index] = ASKED + len(_LEVELS) - step
                    break
    return raised


def _find_held(parts: Sequence[TextPart], words: Sequence[str]) -> dict[int, set[str]]:
    """Which of these words each part holds."""
    wanted = set(words)
    held: dict[int, set[str]] = {}
    for index, part in enumerate(parts) if wanted else ():
        here = {_stem(word) for word in _split(part.text)} & wanted
        if here:
            held[index] = here
    return held


def _weigh(held: Mapping[int, set[str]], parts: int) -> dict[str, float]:
    """What each word counts: more, the fewer parts hold it."""
    counts: Counter[str] = Counter()
    for here in held.values():
        counts.update(here)
    most = max(_FEW, _COMMON * parts)
    return {word: log(1 + parts / count) for word, count in counts.items() if count <= most}


def _score(held: Mapping[int, set[str]], weights: Mapping[str, float]) -> dict[int, float]:
    """Parts by what they say of these words."""
    scores: dict[int, float] = {}
    for index, here in held.items():
        score = sum(weights.get(word, 0.0) for word in here)
        if score:
            scores[index] = score
    return scores


def _spread(
    parts: Sequence[TextPart], held: Mapping[int, set[str]], weights: Mapping[str, float], scores: Mapping[int, float]
) -> dict[int, float]:
    """A line of a text counts for more if the lines around it hold other words that are wanted: a sentence is longer than
    a line."""
    spread = dict(scores)
    for index in scores:
        if parts[index].what != "lines":
            continue
        known = held[index]
        for near in _around(parts, index):
            others = held.get(near, set()) - known
            spread[index] += _NEARBY * sum(weights.get(word, 0.0) for word in others)
            known = known | others
    return spread


def _around(parts: Sequence[TextPart], index: int) -> Iterable[int]:
    """The lines of the same text beside one, the nearest first; empty ones do not count."""
    for step in (1, -1):
        left = _BESIDE
        near = index + step
        while left and 0 <= near < len(parts) and parts[near].what == "lines":
            if parts[near].text.strip():
                left -= 1
                yield near
            near += step


def _split(text: str) -> Iterable[str]:
    return (word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text)))


def _stem(word: str) -> str:
    """A word without its ending, so that `failed` finds `failure`'s `fail`."""
    if word[:1].isdigit():
        return word
    bare = _ENDING.sub("", word)
    if len(bare) >= _STEM:
        return bare
    return word
