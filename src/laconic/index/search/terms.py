"""The words of a question that are worth looking for, how much each counts, and how rare it is in an index."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from laconic.index.search_words import split
from laconic.index.store import Store
from laconic.index.store.symbol_queries import count_symbols
from laconic.index.store.word_queries import count_rows_with_words

MOST: Final = 64  # terms of one question: more cost time and find nothing new
_LINE: Final = 200  # characters of a first line that is a title
_TITLE: Final = 3.0  # what a word of the title counts, against one of the text
_QUOTED_WORD: Final = 2.0  # the same for a word between back quotes
_HEADING_WORD: Final = 0.5  # headings come from a template as often as not
_CODE_WORD: Final = 0.3  # blocks of code show how somebody uses the code, with words of his own
_AGAIN: Final = 0.6  # a word that stands n times counts as n to this power

_PROSE: Final = """
   a an and are as at be been but by can could did do does doing for from had has have how i if in into is it its just
   like may more most my no not of on one only or other our out over own same should so some such than that the their
   them then there these they this those through to too under until up very was we were what when where which while
   who why will with would you your also any all about after before because between both each few further here once
   off again via per etc e g eg ie vs using use used uses new now instead make makes made s t re ve ll d m please find
   show me code implemented implementation happens happen"""
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s")
_STOP: Final = frozenset(_PROSE.split())
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*[a-z0-9][A-Z][\w$]*|[A-Za-z]\w*_\w+|[A-Za-z_]\w*(?=\(\))")
_BLOCK: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r"`([^`\s]+)`")
_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[a-z]{1,4}\b")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BOX: Final = re.compile(r"\s*(?:[-*]\s*)?\[[ xX]\]")
_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)")
_INDENTED: Final = re.compile(r"(?: {4}|\t|\s*>>> )")
_SPAN: Final = re.compile(r"`([^`\n]+)`")
_DATA: Final = re.compile(r"https?://\S+|[0-9a-f]{12,}|\b\d{3,}\b")


class Term(NamedTuple):
    """A word and its weight."""

    word: str
    weight: float


def extract_terms(text: str) -> list[Term]:
    """Words of the title, then of the text, then of code, each with what it counts by where it stands and how often.

    Boxes to tick and comments of a template say nothing about the task.
    """
    title, rest = title_and_rest(text)
    if not rest.strip():
        made: list[Term] = []
        for word in dict.fromkeys(_split_words(title)):
            made.append(Term(word, 1.0))
        return made
    most: dict[str, float] = {}
    sums: dict[str, float] = {}
    for weight, part in _weigh_parts(rest):
        for word in _split_words(_DATA.sub(" ", part)):
            most[word] = max(weight, most.get(word, 0.0))
            sums[word] = sums.get(word, 0.0) + weight
    said = {}
    for word, total in sums.items():
        said[word] = most[word] * (total / most[word]) ** _AGAIN
    found = {}
    for word in _split_words(title):
        found[word] = max(_TITLE + said.get(word, 0.0) / 2, said.get(word, 0.0))
    kept: list[Term] = []
    for word, weight in (found | {w: said[w] for w in said if w not in found}).items():
        kept.append(Term(word, weight))
    return kept


def title_and_rest(text: str) -> tuple[str, str]:
    """The first line of a text, or what of it can be one, and what follows."""
    title, _, rest = text.strip().partition("\n")
    return title[:_LINE], f"{title[_LINE:]}\n{rest}"


def _weigh_parts(text: str) -> Iterator[tuple[float, str]]:
    """Parts of a text, each with what a word of it counts; a word between back quotes is in two of them."""
    text = _COMMENT.sub(" ", text)
    prose: list[str] = []
    headings: list[str] = []
    code = _BLOCK.findall(text)
    for line in _BLOCK.sub("\n", text).split("\n"):
        if _BOX.match(line):
            continue
        if _INDENTED.match(line):
            code.append(line)
        elif _HEADING.match(line):
            headings.append(line)
        else:
            prose.append(line)
    yield 1.0, "\n".join(prose)
    yield _QUOTED_WORD, " ".join(_SPAN.findall("\n".join(prose)))
    yield _HEADING_WORD, "\n".join(headings)
    yield _CODE_WORD, "\n".join(code)


def strip_code(text: str) -> str:
    """A text without its blocks of code."""
    return _BLOCK.sub(" ", text)


def is_telling(word: str) -> bool:
    """Whether a word can tell anything: `the` cannot."""
    return word.lower() not in _STOP


def find_identifiers(text: str) -> list[str]:
    """Names that a text writes as code: in back quotes, with a call, or in a naming style that prose has not.

    Whole blocks of code do not count: they show how the reader uses the code, with names of his own.
    """
    text = strip_code(text)
    found = []
    for quoted in _QUOTED.findall(text):
        found.extend(re.findall(r"[A-Za-z_$][\w$]*", quoted))
    found += _IDENTIFIER.findall(text)
    made: list[str] = []
    for name in dict.fromkeys(found):
        if len(name) > 2 and name.lower() not in _STOP:
            made.append(name)
    return made


def find_paths(text: str) -> list[str]:
    """What looks like a path, without the line number of a stack trace."""
    return list(dict.fromkeys(_PATH.findall(text)))


def has_same_stem(one: str, other: str) -> bool:
    """Whether two words have the same stem, roughly: `compile` and `compiled`, `route` and `routing`."""
    if one == other:
        return True
    short = min(len(one), len(other))
    if one[:4] != other[:4]:
        return False
    same = 0
    while same < short and one[same] == other[same]:
        same += 1
    return same >= 4 and same >= max(len(one), len(other)) - 4 and same >= short - 2


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its ending, roughly, so that `parsing`, `parsed` and `parse` meet."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    if word.endswith("e") and len(word) > 4:
        return word[:-1]
    return word


def _split_words(text: str) -> Iterator[str]:
    for word in split(text).split():
        if (small := word.lower()) not in _STOP and (len(word) > 1 or not word.isascii()):
            yield small


class Rarity:
    """Counts words of one index."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[str, int] = {}
        self.total = count_symbols(store) + 1

    def count(self, word: str, columns: str = "") -> int:
        """The symbols that have a word, anywhere or in these columns of the table of words."""
        if columns:
            where = f'{{{columns}}} : "{word}"'
        else:
            where = f'"{word}"'
        if where not in self._counts:
            self._counts[where] = count_rows_with_words(self._store, where)
        return self._counts[where]

    def information(self, count: int) -> float:
        """What a word tells that so many have: the fewer, the more."""
        return math.log(1 + self.total / (count + 1))
