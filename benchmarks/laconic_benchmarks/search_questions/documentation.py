"""Questions that nobody wrote for a search: first sentences of documentation, which is then taken out of the code.

The right answer is the definition that the sentence stood above. A sentence that names what it describes is no question.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from laconic.index.search.terms import extract_terms, is_telling
from laconic.index.search_words import fold
from laconic.index.store import Store, Symbol
from laconic.index.symbol_kinds import RANKED_TYPES, WITH_BODY
from laconic_benchmarks.search_questions.questions import Question, Target

_LEAST: Final = 4  # words that tell something
_MOST: Final = 30  # words in all
_LONGEST: Final = 300  # lines of what is asked about
_SENTENCE: Final = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)
_MARKUP: Final = re.compile(r"\{@\w+ ([^}]*)\}|<[^>]+>|[`*]|:\w+:(?=`)|\[([^\]]+)\](?:\([^)]*\))?")
_COMMENT: Final = re.compile(r"\s*(?://|/\*|\*|#(?!\[|include|define|if|endif|else|pragma)|--|;;|\"\"\"|\{-)")
_ABOVE: Final = re.compile(r"\s*(?:@|#\[|\[\[|template\b|export\b|public\b|static\b|inline\b)")
_QUOTES: Final = re.compile(r"\s*[rRuU]*(\"\"\"|'''|\"|')")
_WORD: Final = re.compile(r"\w+")


class Documented(NamedTuple):
    """A definition with the first sentence of its documentation."""

    path: str
    symbol: Symbol
    sentence: str


def find_documented(store: Store) -> list[Documented]:
    """All definitions of an index with documentation; the sentence is empty where it cannot be a question."""
    found = []
    for file in store.files():
        if file.file_class != "source":
            continue
        for symbol in store.symbols_in(file.id):
            if symbol.doc:
                found.append(Documented(file.path, symbol, _read_sentence(symbol)))
    return found


def choose_documented(found: Sequence[Documented], chance: Random, number: int) -> list[Documented]:
    """Some that can be asked for by their documentation."""
    said = Counter(each.sentence for each in found)
    single = [each for each in found if each.sentence and said[each.sentence] == 1]
    return chance.sample(single, min(number, len(single)))


def _read_sentence(symbol: Symbol) -> str:
    """The first sentence of what documents a definition, if it can be a question; else nothing."""
    if symbol.test or symbol.kind not in WITH_BODY | RANKED_TYPES:
        return ""
    if not 1 < symbol.end - symbol.start < _LONGEST:
        return ""
    text = _MARKUP.sub(lambda part: part[1] or part[2] or "", symbol.doc).strip()
    paragraph = " ".join(text.split("\n\n")[0].split())
    sentence = paragraph
    if whole := _SENTENCE.match(paragraph):
        sentence = whole[1]
    first, _, rest = sentence.partition(" ")
    if fold(first) == symbol.folded:  # the way of Go
        sentence = rest
    words = _WORD.findall(sentence)
    if len(words) > _MOST or len(extract_terms(sentence)) < _LEAST:
        return ""
    if symbol.folded in {fold(word) for word in words if is_telling(word)} or "@" in sentence:
        return ""
    return sentence


def ask(documented: Documented) -> Question:
    """The question that a documentation makes."""
    symbol = documented.symbol
    return Question(documented.sentence, "documentation", (Target(documented.path, symbol.line, symbol.line),))


def remove_documentation(root: Path, found: Sequence[Documented]) -> None:
    """Blank what documents definitions in the files of a folder; lines stay where they are."""
    by_path: defaultdict[str, list[Symbol]] = defaultdict(list)
    for each in found:
        by_path[each.path].append(each.symbol)
    for path, symbols in by_path.items():
        file = root / path
        lines = file.read_bytes().decode("utf-8", "surrogateescape").split("\n")
        removed: set[int] = set()
        for symbol in symbols:
            removed.update([*_lines_above(lines, symbol), *_lines_inside(lines, symbol)])
        for at in removed:
            lines[at] = ""
        file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))


def is_removed(store: Store, documented: Documented) -> bool:
    """Whether an index of the changed files still has the definition, and no longer its documentation."""
    for symbol in store.symbols_of_path(documented.path):
        if (symbol.qualified, symbol.line) == (documented.symbol.qualified, documented.symbol.line):
            return not symbol.doc
    return False


def _lines_above(lines: Sequence[str], symbol: Symbol) -> list[int]:
    """Comments above a definition, also those above its decorators."""
    found = []
    at = symbol.line - 2
    while at >= 0:
        comment = _COMMENT.match(lines[at]) or _is_inside_comment(lines, at)
        if not comment and not _ABOVE.match(lines[at]):
            break
        if comment:
            found.append(at)
        at -= 1
    return found


def _lines_inside(lines: Sequence[str], symbol: Symbol) -> list[int]:
    """A text that is the first thing in a body, as in Python."""
    end = min(symbol.end, len(lines))
    at = symbol.line - 1
    while at < end and not lines[at].rstrip().endswith(":"):
        at += 1
    at += 1
    opening = None
    if at < end:
        opening = _QUOTES.match(lines[at])
    if opening is None:
        return []
    found = [at]
    closed = lines[at].count(opening[1]) >= 2
    while not closed and at + 1 < end:
        at += 1
        closed = opening[1] in lines[at]
        found.append(at)
    return found


def _is_inside_comment(lines: Sequence[str], at: int) -> bool:
    """Whether a line is in a comment that opens above it."""
    for line in reversed(lines[max(0, at - 60) : at]):
        if "*/" in line:
            return False
        if "/*" in line:
            return True
    return False
