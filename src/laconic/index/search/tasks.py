"""Rank symbols for a task in words: an issue, a bug, a change to make.

Such a text is long, and most of it is not about code. The index hands over candidates; they are weighed again word by
word, by where a word stands in the task and whether it stands in the body, the name or the path of a symbol. Then the
code of the best is read (`judging`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from laconic.index.schema import file_of
from laconic.index.search.file_evidence import Pages
from laconic.index.search.ranking import Ranked, Taste, lent, matching, mentioned, named, prior
from laconic.index.search.rerank import called, judged, owners
from laconic.index.search.scope import Scope
from laconic.index.search.task_query import Asked, Told
from laconic.index.store import Store
from laconic.index.words import fold

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

_CLASSES: Final[Mapping[str, float]] = {
    **{"source": 1.0, "test": 0.2, "doc": 0.3, "config": 0.3},
    **{"data": 0.2, "generated": 0.3, "vendored": 0.3, "minified": 0.1},
}
_KINDS: Final[Mapping[str, float]] = {
    **{"function": 1.0, "method": 1.0, "constructor": 1.0, "macro": 0.8},
    **{"class": 0.4, "struct": 0.4, "interface": 0.4, "trait": 0.4, "enum": 0.4, "type": 0.3, "module": 0.2},
    **{"constant": 0.2, "variable": 0.2, "field": 0.1, "heading": 0.2, "key": 0.05},
}

_TASTE: Final = Taste(_KINDS, _CLASSES)


def rank_symbols(store: Store, task: str, limit: int, lines_of: Callable[[str], Sequence[str]]) -> list[Ranked]:
    """The symbols that a task in words is most likely about, best first; functions before what only declares."""
    asked = Asked(store, task)
    return ranked(store, Pages(asked, lines_of))[:limit]


def ranked(store: Store, pages: Pages, scope: Scope | None = None) -> list[Ranked]:
    """The same for a task that was compared with the index already."""
    return judged(candidates(store, pages.asked, scope), pages)


def candidates(store: Store, asked: Asked, scope: Scope | None = None) -> list[Ranked]:
    """What the index alone can say, best first."""
    scope = scope or Scope()
    kept = {each.word for each in asked.told}
    rows = matching(store, [term for term in asked.terms if term.word in kept], scope, _POOL)
    seen = {row.id for row in rows}
    more = matching(store, [term for term in asked.terms if term.word in kept & asked.title], scope, _POOL)
    rows += [row for row in more if row.id not in seen]
    rows += named(store, asked.names, scope, seen | {row.id for row in more})
    rows = [row for row in rows if row.symbol is not None]
    scored = _with_priors(_weighed(store, rows, asked.told), asked)
    return sorted(_with_neighbours(scored), key=lambda row: (-row.score, row.path, row.id))


def _weighed(store: Store, rows: Sequence[Ranked], told: Sequence[Told]) -> list[Ranked]:
    """The rows with new scores from 0 to 1, to which what their files hold is added."""
    length = {row.id: len(row.symbol.span) for row in rows if row.symbol is not None}
    body = {id: (0.75 + 0.25 * min(lines, _LONG) / _USUAL) ** -0.6 for id, lines in length.items()}
    scores: defaultdict[int, float] = defaultdict(float)
    files: defaultdict[int, float] = defaultdict(float)
    ids = json.dumps(list(length))
    for word, worth in told:
        held: defaultdict[int, float] = defaultdict(float)
        for column, weight in (("name", _NAME), ("path", _PATH)):
            for id in _holding(store, column, word, ids):
                held[id] += weight
        for id in _holding(store, "body", word, ids):
            held[id] += body[id]
        for id, value in held.items():
            scores[id] += worth * value / (value + 1)
        for file in {file_of(id) for id in held}:
            files[file] += worth
    for file, lines in store.connection.execute(
        "SELECT id, lines FROM files WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(files)),)
    ):
        files[file] /= 0.5 + min(lines, 3_000) / 600
    best, fullest = max(scores.values(), default=1.0), max(files.values(), default=1.0)
    return [row._replace(score=scores[row.id] / best + _FILE * files[file_of(row.id)] / fullest) for row in rows]


def _holding(store: Store, column: str, word: str, ids: str) -> Iterable[int]:
    """Which of these symbols have a word there. With the plus the index is read once, not once for each of them."""
    sql = "SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
    return (row[0] for row in store.connection.execute(sql, (f'{column} : "{word}"', ids)))


def _with_priors(rows: Iterable[Ranked], asked: Asked) -> list[Ranked]:
    found: list[Ranked] = []
    for row in rows:
        symbol = row.symbol
        assert symbol is not None
        score = row.score
        within = set(map(fold, owners(symbol)))
        score += _OWNER_IN_TITLE * (not within.isdisjoint(asked.named_in_title))
        score += _OWNER * (not within.isdisjoint(asked.folded))
        score += _NAMED * (symbol.folded in asked.folded)
        score += _ALIKE * (symbol.folded in asked.title_words)
        score += _ALIKE * (fold(called(row.path)) in asked.title_words)
        score += _PLACED * mentioned(row.path, asked.places)
        found.append(row._replace(score=score * prior(row, _TASTE, _LENGTH)))
    return found


def _with_neighbours(rows: Sequence[Ranked]) -> Iterator[Ranked]:
    """A field does not come up because its file does."""
    by_file = lent(rows)
    for row in rows:
        kind = _KINDS.get(row.symbol.kind, 0.2) if row.symbol is not None else 0.0
        yield row._replace(score=row.score + _NEIGHBOURS * kind * by_file[file_of(row.id)])
