"""Search code: a query in, hits from all sources in one order out, and a suggestion whenever there are none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from laconic.errors import WorkspaceError
from laconic.index.file_class_weights import weigh_classes
from laconic.index.schema import SHIFT, position_of
from laconic.index.search import lookup, semantic
from laconic.index.search.file_evidence import TaskFiles
from laconic.index.search.query import Filters, Query, Scope, parse_query, resolve_scope, split_globs
from laconic.index.search.question_ranking import rank_question
from laconic.index.search.ranking import Priors, RankedSymbol, rank
from laconic.index.search.task_query import TaskQuery
from laconic.index.search.terms import Rarity, Term, extract_terms, has_same_stem
from laconic.index.search_words import split
from laconic.index.store import Store
from laconic.index.symbol_kinds import weigh_kinds
from laconic.index.text_search import TextMatches
from laconic.index.workspace_index import Index
from laconic.records import Hit, Span
from laconic.workspace.read_file import as_lines, read_bytes

_ENOUGH: Final = 180  # hits beyond those wanted that are put in order; more are only counted
_PARTIAL: Final = 60  # names that hold the one that was asked for
_CODE_NAME: Final = re.compile(r"(?=.*(?:[_\d]|[a-z][A-Z]))[A-Za-z_]\w*")  # no word of a language
_IN_TEXT: Final = 0.4  # score of a line that holds the text
_WHOLE_WORD: Final = 0.8  # of one that uses a name which nothing defines: above names that hold it
_SPOKEN: Final = 3  # words that make a phrase
_LONGEST: Final = 14  # words of a phrase that somebody would quote
_CODE_SIGNS: Final = re.compile(r"[(){}\[\]<>=;:&|^%$@#\"`~\\]")  # what prose does not hold
_TOP: Final = 0.75  # score of the best answer in words; sure hits are above it
_IN_NAME: Final = 0.6  # what a name that holds all words adds
_IN_PATH: Final = 0.5  # the same for a path
_WORD_KINDS: Final = weigh_kinds("words")
_WORD_CLASSES: Final = weigh_classes("words")
_CONSIDERED: Final = 250  # rows that are looked at closely
_SHOWN: Final = 100
_INSTEAD: Final = 5  # hits that share words with a name that does not exist


@dataclass(frozen=True, slots=True)
class SearchResult:
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
) -> SearchResult:
    """Hits for a query of any kind, best first. Arguments narrow it like the filters inside the query do.

    `semantic=False` keeps the order of the words also where the extra is installed.
    """
    query = parse_query(text)
    given = parse_query(" ".join(f"{key}:{value}" for key, value in (("lang", language), ("kind", kind)) if value))
    both = query.filters
    filters = Filters(
        paths=(*both.paths, *split_globs(path)),
        without=both.without,
        languages=(*both.languages, *given.filters.languages),
        kinds=(*both.kinds, *given.filters.kinds),
        tests=both.tests if tests is None else tests,
    )
    query = replace(query, filters=filters, semantic=semantic, wanted=offset + limit)
    found = _search_within(index, query)
    if not found.hits and filters:
        found = _search_everywhere(index, query, found.note)
    near: tuple[str, ...] = ()
    if not found.hits:
        near = _suggest(index, query)
    return SearchResult(found.hits[offset : offset + limit], found.total, found.note, near)


def _suggest(index: Index, query: Query) -> tuple[str, ...]:
    """What to try instead: names, or the files nearest to those that were asked for."""
    found = lookup.suggest_names(index.store, query.bare)
    return tuple(found or lookup.suggest_paths(index.store, query.filters.paths or (query.bare,)))


@dataclass(slots=True)
class _SearchNotes:
    """What the sources say beside their hits."""

    notes: list[str] = field(default_factory=list)
    lines: int = 0  # of text that match, also those that are not hits
    offered: set[tuple[str, int]] = field(default_factory=set)  # those of them that were named
    cut: set[str] = field(default_factory=set)  # files of which only the first lines were named

    def note_lines(self, found: TextMatches) -> TextMatches:
        self.lines += found.total
        self.cut |= {file.path for file in found.files if file.matches > len(file.lines)}
        if found.unread:
            self.notes.append(f"{found.unread} files were not looked at in time: narrow path")
        return found

    def count(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        for hit in hits:
            self.offered.add((hit.path, hit.line))
            yield hit

    def beyond(self, hits: Iterable[Hit]) -> int:
        """Lines that match and are no hits. A definition in a file with more lines is taken to stand on one of them."""
        defined = set()
        for hit in hits:
            if hit.kind == "def" and hit.path in self.cut:
                defined.add((hit.path, hit.line))
        return max(0, self.lines - len(self.offered) - len(defined - self.offered))


class _HitList(NamedTuple):
    hits: list[Hit]
    total: int
    note: str


def _search_within(index: Index, query: Query) -> _HitList:
    scope = resolve_scope(index.store, query.filters)
    if scope.empty:
        near = lookup.suggest_paths(index.store, query.filters.paths)
        note = f"no file matches {_describe_filters(query.filters)}"
        return _HitList([], 0, note + (f" (near: {', '.join(near)})" if near else ""))
    found: dict[tuple[str, int], Hit] = {}
    gathering = _SearchNotes()
    for hit in _search_sources(index, query, scope, gathering):
        # A file and its first line are two things.
        found.setdefault((hit.path, 0 if hit.kind in {"file", "doc"} and not hit.symbol else hit.line), hit)
        if len(found) >= _ENOUGH + query.wanted:
            break
    hits = sorted(found.values(), key=lambda hit: -hit.score)
    total = len(hits) + gathering.beyond(hits)
    return _HitList(hits, total, "; ".join(gathering.notes))


def _search_everywhere(index: Index, query: Query, note: str) -> _HitList:
    """The same without its filters, and said so."""
    elsewhere = _search_within(index, replace(query, filters=Filters()))
    note = note or f"nothing in {_describe_filters(query.filters)}"
    return elsewhere._replace(note=f"{note}; these are from elsewhere" if elsewhere.hits else note)


def _search_sources(index: Index, query: Query, scope: Scope, gathering: _SearchNotes) -> Iterator[Hit]:
    """Everything that may answer, the surest first."""
    store = index.store
    if query.regex:
        found = gathering.note_lines(lookup.find_regex(store, index.root, query, scope))
        yield from gathering.count(lookup.text_hits(store, found, 1.0, query.testing))
    elif query.either:
        for part in query.either:
            one = replace(parse_query(part), filters=query.filters, semantic=query.semantic, wanted=query.wanted)
            yield from _search_sources(index, one, scope, gathering)
    elif query.place:
        yield from _find_place(index, query, scope)
        yield from _find_files(index, query, scope)
    else:
        files = list(_find_files(index, query, scope))
        defined = list(_find_definitions(index, query, scope))
        texts = _find_texts(index, query, scope, gathering)
        if _CODE_NAME.fullmatch(query.bare) and all(hit.name != query.bare for hit in defined):
            texts = iter(_prefer_whole_words(query.bare, list(texts)))
        first = list(islice(texts, 1))
        yield from [*files, *defined, *first]
        yield from texts  # one by one: nobody may want thousands
        is_name = bool(query.single or query.qualified)
        if is_name and not (files or defined or first):
            others = answer_words(index, query, scope)[:_INSTEAD]
            if others and not query.filters:
                gathering.notes.append(_describe_missing(store, query))
            yield from others
        elif not query.phrase and not (is_name and defined):
            yield from answer_words(index, query, scope)


def _prefer_whole_words(name: str, texts: Sequence[Hit]) -> list[Hit]:
    """The very name is a better answer than definitions whose names only hold it."""
    whole = re.compile(rf"\b{re.escape(name)}\b")
    found: list[Hit] = []
    for hit in texts:
        if whole.search(hit.preview):
            found.append(msgspec.structs.replace(hit, score=hit.score * _WHOLE_WORD / _IN_TEXT))
        else:
            found.append(hit)
    return found


def _describe_missing(store: Store, query: Query) -> str:
    """That a name does not exist, and which are nearest to it."""
    near = lookup.suggest_names(store, (query.qualified or (query.bare,))[-1])
    said = f"nothing is named {query.bare}"
    if near:
        said += f", nearest: {', '.join(near)}"
    return f"{said}; what is shown only shares words with it"


def _find_place(index: Index, query: Query, scope: Scope) -> Iterator[Hit]:
    assert query.place is not None
    line = query.place[1]
    for placed in lookup.find_by_path(index.store, query, scope)[:3]:
        symbol = index.store.symbol_at(placed.file, line)
        if symbol:
            yield lookup.symbol_hit(placed.path, symbol, 1.1 * placed.fit)


def _find_files(index: Index, query: Query, scope: Scope) -> Iterator[Hit]:
    if query.phrase or scope.kinds:
        return
    sure = lookup.is_path_query(query) or bool(query.place)
    for placed in lookup.find_by_path(index.store, query, scope)[:50]:
        if sure:
            score = placed.fit
        else:
            score = 0.85 * placed.fit
        yield Hit(
            path=placed.path,
            line=1,
            kind="file",
            preview=_say_length(placed.lines),
            span=Span(1, placed.lines),
            score=score,
        )


def _find_definitions(index: Index, query: Query, scope: Scope) -> Iterator[Hit]:
    store = index.store
    if query.phrase and " " in query.phrase:
        return
    if "*" in query.bare and " " not in query.bare and "/" not in query.bare:
        yield from (
            lookup.symbol_hit(row.path, row.symbol, 0.8 * row.fit)
            for row in lookup.find_by_glob(store, query.bare, scope)
        )
        return
    for row in lookup.find_by_name(store, query, scope):
        yield lookup.symbol_hit(row.path, row.symbol, row.fit)
    if query.single:
        for row in lookup.find_containing(store, query, scope)[: max(_PARTIAL, query.wanted)]:
            yield lookup.symbol_hit(row.path, row.symbol, 0.4 + 0.35 * row.fit)


def _find_texts(index: Index, query: Query, scope: Scope, gathering: _SearchNotes) -> Iterator[Hit]:
    if scope.kinds:
        return
    store, text = index.store, query.phrase or query.bare
    count = len(text.split())
    if query.phrase or query.single or query.qualified or count == 1 or _CODE_SIGNS.search(text):
        found = gathering.note_lines(lookup.find_text(store, index.root, text, scope, query.wanted))
        yield from gathering.count(lookup.text_hits(store, found, _IN_TEXT, query.testing))
    elif _SPOKEN <= count <= _LONGEST and not query.kinds:
        found = lookup.find_phrase(store, index.root, text, scope)
        gathering.lines += found.total
        yield from gathering.count(lookup.text_hits(store, found, 0.9 if count > _SPOKEN else 0.7, query.testing))


def _describe_filters(filters: Filters) -> str:
    said = list(filters.paths)
    for mark, names in (("-", filters.without), ("lang:", filters.languages), ("kind:", filters.kinds)):
        for name in names:
            said.append(f"{mark}{name}")
    if filters.tests is not None:
        said.append("tests:only" if filters.tests else "tests:no")
    return " ".join(said)


def answer_words(index: Index, query: Query, scope: Scope) -> list[Hit]:
    """Symbols and files that the words of a query are about, best first.

    Names that hold the words come first, and they are often those of accessors. For a question the code is read too, as
    for a task, and both orders count.
    """
    best = rank_by_words(index.store, query, scope)
    top = 1.0
    if best:
        top = best[0][0]
    if " " in query.bare.strip() and not (query.testing or query.kinds):
        best = _rank_by_code(index, query, scope, best)
    if query.semantic and semantic.is_question(query) and (encode := semantic.load_encoder()):
        best = semantic.reorder(encode, query.text, best)
    found: list[Hit] = []
    for score, row in best[:_SHOWN]:
        found.append(_ranked_hit(index.store, row, _TOP * score / top))
    return found


def rank_by_words(store: Store, query: Query, scope: Scope) -> list[tuple[float, RankedSymbol]]:
    """The order that names, signatures, documentation and paths speak for."""
    wanted = extract_terms(query.bare) or extract_terms(query.text)
    wanted = [term for term in wanted if not (query.testing and term.word in {"test", "tests"})] or wanted
    classes = _WORD_CLASSES
    if query.testing:
        classes = {**_WORD_CLASSES, "test": 1.6}
    rows = rank(store, wanted, scope, Priors(_WORD_KINDS, classes, file_row=0.6), text=query.text)
    held = _WordShare(_share_of_words(store, wanted))
    best = []
    for row in rows[:_CONSIDERED]:
        best.append((row.score * _agreement(row, held), row))
    best.sort(key=lambda item: (-item[0], item[1].path, item[1].id))
    return best


def _rank_by_code(
    index: Index, query: Query, scope: Scope, by_words: list[tuple[float, RankedSymbol]]
) -> list[tuple[float, RankedSymbol]]:
    """The order that the code of the candidates speaks for too; the scores stay, in their order."""

    def lines_of(path: str) -> Sequence[str]:
        try:
            return as_lines(read_bytes(index.root, path))
        except WorkspaceError:
            return ()  # gone since it was indexed

    files = TaskFiles(TaskQuery(index.store, query.text), lines_of)
    last = by_words[-1][0] if by_words else 1.0
    found: list[tuple[float, RankedSymbol]] = []
    for at, row in enumerate(rank_question(index.store, query.text, by_words, files, scope)):
        found.append((by_words[at][0] if at < len(by_words) else last, row))
    return found


def _share_of_words(store: Store, wanted: list[Term]) -> dict[str, float]:
    """The share of each word in what the question says, by how rare it is."""
    rarity = Rarity(store)
    worth = {}
    for term in wanted[:24]:
        worth[term.word] = rarity.information(rarity.count(term.word))
    whole = sum(worth.values()) or 1.0
    found: dict[str, float] = {}
    for word, value in worth.items():
        found[word] = value / whole
    return found


class _WordShare:
    """How much of what a question says stands in a name or a path; the same few are asked for again and again."""

    def __init__(self, worth: dict[str, float]) -> None:
        self._worth = worth
        self._known: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        if text not in self._known:
            parts = set()
            for part in split(text).split():
                parts.add(part.lower())
            self._known[text] = sum(
                value
                for word, value in self._worth.items()
                if word in parts or any(has_same_stem(word, part) for part in parts)
            )
        return self._known[text]


def _agreement(row: RankedSymbol, held: _WordShare) -> float:
    """More than 1 when the name or the path holds the words."""
    name = 0.0
    if row.symbol:
        name = held(row.symbol.qualified)
    return 1.0 + _IN_NAME * name + _IN_PATH * held(row.path)


def _ranked_hit(store: Store, row: RankedSymbol, score: float) -> Hit:
    symbol = row.symbol
    if symbol is None:
        assert position_of(row.id) == -1
        found = store.file_by_id(row.id >> SHIFT)
        lines = 1
        if found:
            lines = found.lines
        kind = "file"
        if row.file_class == "doc":
            kind = "doc"
        return Hit(
            path=row.path, line=1, kind=kind, preview=_say_length(lines), span=Span(1, max(lines, 1)), score=score
        )
    return lookup.symbol_hit(row.path, symbol, score)


def _say_length(lines: int) -> str:
    if lines == 1:
        return "1 line"
    return f"{lines} lines"
