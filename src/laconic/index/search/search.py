"""The one entry: a query in, hits from all sources in one order out, and never an empty page without a way on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from laconic.index.search import lookup as names
from laconic.index.search import paths, phrases
from laconic.index.search.query import Filters, Query, patterns, understand
from laconic.index.search.questions import answers
from laconic.index.search.scope import Scope, scope_of
from laconic.index.text import TextFound
from laconic.index.workspace_index import Index
from laconic.records import Hit, Span

_ENOUGH: Final = 180  # hits beyond those wanted that are put in order; more are only counted
_PARTIAL: Final = 60  # names that hold the one that was asked for
_SPOKEN: Final = 3  # words that make a phrase
_LONGEST: Final = 14  # words of a phrase that somebody would quote
_CODE: Final = re.compile(r"[(){}\[\]<>=;:&|^%$@#\"`~\\]")  # what prose does not hold


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: one page of hits, how many there are, and what the reader should know."""

    hits: list[Hit]
    total: int
    note: str = ""  # a filter that was relaxed, files that were not looked at
    near: tuple[str, ...] = ()  # names to try instead, when nothing was found


def search(
    index: Index,
    text: str,
    *,
    path: str = "",
    language: str = "",
    kind: str = "",
    tests: bool | None = None,
    semantic: bool = True,
    limit: int = 20,
    offset: int = 0,
) -> Found:
    """Hits for a query of any kind, best first. Arguments narrow it like the filters inside the query do.

    `semantic=False` keeps the order of the words also where the extra is installed.
    """
    query = understand(text)
    given = understand(" ".join(f"{key}:{value}" for key, value in (("lang", language), ("kind", kind)) if value))
    both = query.filters
    filters = Filters(
        (*both.paths, *patterns(path)),
        both.without,
        (*both.languages, *given.filters.languages),
        (*both.kinds, *given.filters.kinds),
        both.tests if tests is None else tests,
    )
    query = replace(query, filters=filters, semantic=semantic, wanted=offset + limit)
    found = _within(index, query)
    if not found.hits and filters:
        found = _relaxed(index, query, found.note)
    near = () if found.hits else _near(index, query)
    return Found(found.hits[offset : offset + limit], found.total, found.note, near)


def _near(index: Index, query: Query) -> tuple[str, ...]:
    """What to try instead: names, or the files nearest to those that were asked for."""
    found = names.nearest(index.store, query.bare)
    return tuple(found or paths.nearest(index.store, query.filters.paths or (query.bare,)))


@dataclass(slots=True)
class _Gathering:
    """What the sources say beside their hits."""

    notes: list[str] = field(default_factory=list)
    lines: int = 0  # of text that match, also those that are not hits
    offered: set[tuple[str, int]] = field(default_factory=set)  # those of them that were named
    cut: set[str] = field(default_factory=set)  # files of which only the first lines were named

    def heard(self, found: TextFound) -> TextFound:
        self.lines += found.total
        self.cut |= {file.path for file in found.files if file.matches > len(file.lines)}
        if found.unread:
            self.notes.append(f"{found.unread} files were not looked at in time: narrow path")
        return found

    def counted(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        for hit in hits:
            self.offered.add((hit.path, hit.line))
            yield hit

    def beyond(self, hits: Iterable[Hit]) -> int:
        """Lines that match and are no hits. A definition in a file with more lines is taken to stand on one of them."""
        defined = {(hit.path, hit.line) for hit in hits if hit.kind == "def" and hit.path in self.cut}
        return max(0, self.lines - len(self.offered) - len(defined - self.offered))


class _Gathered(NamedTuple):
    hits: list[Hit]
    total: int
    note: str


def _within(index: Index, query: Query) -> _Gathered:
    scope = scope_of(index.store, query.filters)
    if scope.empty:
        near = paths.nearest(index.store, query.filters.paths)
        note = f"no file matches {_described(query.filters)}"
        return _Gathered([], 0, note + (f" (near: {', '.join(near)})" if near else ""))
    found: dict[tuple[str, int], Hit] = {}
    gathering = _Gathering()
    for hit in _sources(index, query, scope, gathering):
        # A file and its first line are two things.
        found.setdefault((hit.path, 0 if hit.kind in {"file", "doc"} and not hit.symbol else hit.line), hit)
        if len(found) >= _ENOUGH + query.wanted:
            break
    hits = sorted(found.values(), key=lambda hit: -hit.score)
    total = len(hits) + gathering.beyond(hits)
    return _Gathered(hits, total, "; ".join(gathering.notes))


def _relaxed(index: Index, query: Query, note: str) -> _Gathered:
    """The same without its filters, and said so."""
    elsewhere = _within(index, replace(query, filters=Filters()))
    note = note or f"nothing in {_described(query.filters)}"
    return elsewhere._replace(note=f"{note}; these are from elsewhere" if elsewhere.hits else note)


def _sources(index: Index, query: Query, scope: Scope, gathering: _Gathering) -> Iterator[Hit]:
    """Everything that may answer, the surest first."""
    store = index.store
    if query.regex:
        found = gathering.heard(phrases.pattern(store, index.root, query, scope))
        yield from gathering.counted(phrases.as_hits(store, found, 1.0, query.testing))
    elif query.either:
        for part in query.either:
            one = replace(understand(part), filters=query.filters, semantic=query.semantic, wanted=query.wanted)
            yield from _sources(index, one, scope, gathering)
    elif query.place:
        yield from _place(index, query, scope)
        yield from _files(index, query, scope)
    else:
        yield from _files(index, query, scope)
        defined = list(_definitions(index, query, scope))
        yield from defined
        yield from _texts(index, query, scope, gathering)
        if not query.phrase and not ((query.single or query.qualified) and defined):
            yield from answers(store, query, scope)


def _place(index: Index, query: Query, scope: Scope) -> Iterator[Hit]:
    assert query.place is not None
    line = query.place[1]
    for placed in paths.by_path(index.store, query, scope)[:3]:
        symbol = index.store.symbol_at(placed.file, line)
        if symbol:
            yield names.as_hit(placed.path, symbol, 1.1 * placed.fit)


def _files(index: Index, query: Query, scope: Scope) -> Iterator[Hit]:
    if query.phrase or scope.kinds:
        return
    sure = paths.wants_path(query) or bool(query.place)
    for placed in paths.by_path(index.store, query, scope)[:50]:
        score = placed.fit if sure else 0.85 * placed.fit
        yield Hit(placed.path, 1, "file", preview=f"{placed.lines} lines", span=Span(1, placed.lines), score=score)


def _definitions(index: Index, query: Query, scope: Scope) -> Iterator[Hit]:
    store = index.store
    if query.phrase and " " in query.phrase:
        return
    if "*" in query.bare and " " not in query.bare and "/" not in query.bare:
        yield from (
            names.as_hit(row.path, row.symbol, 0.8 * row.fit) for row in names.globbed(store, query.bare, scope)
        )
        return
    for row in names.exact(store, query, scope):
        yield names.as_hit(row.path, row.symbol, row.fit)
    if query.single:
        for row in names.partial(store, query, scope)[: max(_PARTIAL, query.wanted)]:
            yield names.as_hit(row.path, row.symbol, 0.4 + 0.35 * row.fit)


def _texts(index: Index, query: Query, scope: Scope, gathering: _Gathering) -> Iterator[Hit]:
    if scope.kinds:
        return
    store, text = index.store, query.phrase or query.bare
    count = len(text.split())
    if query.phrase or query.single or query.qualified or count == 1 or _CODE.search(text):
        found = gathering.heard(phrases.literal(store, index.root, text, scope, query.wanted))
        yield from gathering.counted(phrases.as_hits(store, found, 0.4, query.testing))
    elif _SPOKEN <= count <= _LONGEST and not query.kinds:
        found = phrases.spoken(store, index.root, text, scope)
        gathering.lines += found.total
        yield from gathering.counted(phrases.as_hits(store, found, 0.9 if count > _SPOKEN else 0.7, query.testing))


def _described(filters: Filters) -> str:
    said: Iterable[str] = (
        *filters.paths,
        *(f"-{glob}" for glob in filters.without),
        *(f"lang:{name}" for name in filters.languages),
        *(f"kind:{name}" for name in filters.kinds),
        *(() if filters.tests is None else (f"tests:{'only' if filters.tests else 'no'}",)),
    )
    return " ".join(said)
