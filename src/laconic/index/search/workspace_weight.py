"""How much one of many workspaces has to say on a question, told from its word tables alone, within milliseconds."""

from __future__ import annotations

import math
import re
from typing import Final

from laconic.index import trigrams
from laconic.index.search.query import Query, Scope, parse_query
from laconic.index.search.ranking import match_terms
from laconic.index.search.terms import Rarity, extract_terms, find_identifiers
from laconic.index.search_words import fold
from laconic.index.store import Store
from laconic.index.store.file_queries import find_text_candidates

_DEFINED, _USED, _WRITTEN = 1.0, 0.6, 0.3  # for a name
_LAST: Final = re.compile(r"[\w$]+")
_NAMED: Final = 0.5  # what a name that a text writes as code adds, of the score of its words
_MOST: Final = 16  # words of a long text that are looked up


def weigh_query(store: Store, text: str) -> float:
    """The weight for a search; 0: it has nothing."""
    query = parse_query(text)
    if query.regex:
        return _weigh_text(store, trigrams.for_regex(query.regex), short=True)
    if query.either:
        return max(weigh_query(store, each) for each in query.either)
    if query.phrase or " " not in query.bare.strip():
        return _weigh_name(store, query)
    return weigh_words(store, query.bare)


def weigh_words(store: Store, text: str) -> float:
    """The weight for a question or a task: the score of its best row, and the names in it that are defined here."""
    terms = extract_terms(text)[:_MOST]
    rows = match_terms(store, terms, Scope(), 1)
    if not rows:
        return 0.0
    # A score says how rare the words are in this workspace; beside what all of them could have, it can be compared.
    rarity = Rarity(store)
    whole = 0.0
    for term in terms:
        whole += max(1, round(term.weight)) * math.log(1 + (rarity.total + 1) / (rarity.count(term.word) + 1))
    score = rows[0].score / whole
    named = 0
    for name in find_identifiers(text)[:_MOST]:
        named += bool(store.symbols_named(name))
    return score * (1 + _NAMED * named)


def _weigh_name(store: Store, query: Query) -> float:
    words = _LAST.findall(query.bare)
    if words and not query.phrase:
        if any(symbol.folded == fold(words[-1]) for symbol in store.symbols_named(words[-1])):
            return _DEFINED
        if store.files_mentioning(words[-1]):
            return _USED
    asked = trigrams.for_literal(query.phrase or query.bare)
    return _weigh_text(store, asked, short=not asked)


def _weigh_text(store: Store, asked: str, *, short: bool) -> float:
    """A text that is too short for the tables may be anywhere."""
    if not asked:
        return _WRITTEN if short else 0.0
    return _WRITTEN if find_text_candidates(store, asked) else 0.0
