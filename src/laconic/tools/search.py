"""`search`: one search for names, text, regular expressions, paths and questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from laconic.errors import UsageError
from laconic.index.resolve import Code, SymbolUse, references
from laconic.index.search import SearchResult
from laconic.index.search import search as look_up
from laconic.index.search.file_evidence import FileEvidence
from laconic.index.search.lookup import find_by_name, find_regex, symbol_hit
from laconic.index.search.query import Scope, parse_query, resolve_scope, split_globs
from laconic.index.search.task_query import TaskQuery, split_stems
from laconic.index.search.workspace_weight import weigh_query
from laconic.index.symbol_kinds import RANKED_TYPES
from laconic.index.text_search import TextQuery
from laconic.records import Hit
from laconic.reduce.pattern import compile_pattern
from laconic.render.compact_json import hit_record
from laconic.render.hits import by_file, enclosing, hit_line
from laconic.render.plural import count_of
from laconic.tool_runtime.find_in_workspaces import find_symbols
from laconic.tool_runtime.outline import scaffold
from laconic.tool_runtime.source import body, clip_line, open_file
from laconic.tool_runtime.tool import AT, WORKSPACE, Argument, Piece, Tool, ToolAnswer, ToolCall

MOST: Final = 100  # hits of one answer
_DEFAULT: Final = 15
_BODY: Final = 300  # tokens of the body that is shown with it
_MEMBERS: Final = 12  # names of members that are shown with a type
_BESIDE: Final = 4  # further hits beside a definition that was named outright
_SHORT: Final = 30  # lines of a type that is shown itself, not only the names in it
_LONGEST: Final = 2_000  # characters of a query that are read
_WIDEST: Final = 160  # characters of a line that is shown
_MATCHED: Final = 8  # hits of a question that are shown with the line that matches best
_LINES: Final = 400  # lines of one that are looked at for it
_AROUND: Final = 6  # lines on each side of a hit, at most
_LOOKED_AT: Final = 500  # hits of which those of one kind are chosen
_WHOLE: Final = re.compile(r"\d+ lines?")  # the preview of a file that was found as a whole
_CHOSEN: Final = frozenset({"symbols", "docs", "paths"})
_WITHIN: Final = ("all", "code", "symbols", "refs", "docs", "tests", "paths", "values")
_SECONDS: Final = 0.5  # for one line
_COUNTED: Final = 10_000  # lines of one file whose values are counted


def run(call: ToolCall) -> ToolAnswer:
    query, within = call.text("query"), call.text("in") or "all"
    if not query.startswith("/"):
        query = query[:_LONGEST]
    limit = _page_size(call)
    if within == "refs":
        return _references(call, query, limit)
    if within == "values":
        return _values(call, query)
    wanted = max(MOST, limit + max(0, call.number("offset")))
    if within in _CHOSEN:
        wanted = _LOOKED_AT  # the same for every page: how many there are is how many of these are chosen
    found = _find(call, query, wanted)
    hits = []
    for hit in found.hits:
        if _inside(hit, within):
            hits.append(hit)
    chosen = len(hits)
    hits = hits[: limit + max(0, call.number("offset"))]
    if not hits:
        return ToolAnswer([], "search_hits", note=_nothing(call, query, found), unit="hits")
    if not call.number("offset") and not _is_size_given(call) and _stands_out(query, hits):
        # Who names one definition wants that one; that its file has such a name too says nothing.
        beside = []
        for hit in hits[1:]:
            if hit.kind != "file" or hit.path != hits[0].path:
                beside.append(hit)
        hits = [hits[0], *beside[:_BESIDE]]
    head = ""
    if found.note:
        head = f"({found.note})\n"
    total = _count(call, query, found, wanted, chosen)
    return _answer(call, _pieces(call, hits), hits, total, head)


def _count(call: ToolCall, query: str, found: SearchResult, wanted: int, chosen: int) -> int:
    """How many hits there are, as all pages say it: by the hits that the first ones look at."""
    if call.text("in") in _CHOSEN:
        return chosen
    if wanted <= MOST:
        return found.total
    return max(_find(call, query, MOST).total, len(found.hits))


def _find(call: ToolCall, query: str, wanted: int) -> SearchResult:
    return look_up(
        call.runtime.index,
        query,
        path=call.text("path"),
        language=call.text("language"),
        kind=call.text("kind"),
        tests={"tests": True, "code": False}.get(call.text("in") or "all"),
        limit=wanted,
    )


def glance(call: ToolCall) -> ToolAnswer:
    """The definitions of the very name that was asked for; nothing where the query is no name."""
    query = parse_query(call.text("query")[:_LONGEST])
    hits: list[Hit] = []
    if query.names and not (query.regex or query.phrase or query.either):
        for row in find_by_name(call.runtime.index.store, query, Scope())[: _page_size(call)]:
            hits.append(symbol_hit(row.path, row.symbol, row.fit))
    pieces = []
    for hit in hits:
        text = hit_line(_shorten(hit), "")
        pieces.append(
            Piece(texts=(text,), group=hit.path, order=hit.line, record=hit_record(hit), score=1.0 + hit.score)
        )
    return _answer(call, pieces, hits, len(hits))


def _answer(call: ToolCall, pieces: list[Piece], hits: list[Hit], total: int | None, head: str = "") -> ToolAnswer:
    """Hits in the order of their rank: a path stands above each run of hits of one file."""
    return ToolAnswer(
        pieces=pieces,
        kind="search_hits",
        head=head,
        unit="hits",
        total=total,
        paths=tuple(by_file(hits[: _page_size(call)])),
        spread=3.0,
        grouped=False,
    )


def _is_size_given(call: ToolCall) -> bool:
    """Whether the call says how much it wants."""
    return bool(call.values.get("limit") or call.text("budget"))


def _page_size(call: ToolCall) -> int:
    """Hits of one answer: as many as the call says; as many as its budget takes; or a few."""
    if call.values.get("limit"):
        return min(MOST, max(1, call.number("limit")))
    if call.text("budget"):
        return MOST
    return _DEFAULT


def _inside(hit: Hit, within: str) -> bool:
    if within == "symbols":
        return hit.kind == "def"
    if within == "docs":
        return hit.kind == "doc" or _is_prose(hit.path)
    return within != "paths" or hit.kind == "file"


def _is_prose(path: str) -> bool:
    return path.endswith((".md", ".rst", ".txt", ".adoc"))


def _pieces(call: ToolCall, hits: list[Hit]) -> list[Piece]:
    """One piece a hit; a definition that stands out is shown with its body."""
    pieces = []
    before: Hit | None = None
    matching = _MatchingLines(call)
    for number, hit in enumerate(hits):
        if number == max(0, call.number("offset")):
            before = None  # it stands on the page before
        around = ""
        if before is not None and before.path == hit.path and before.symbol:
            around = enclosing(before)
        before = hit
        text = hit_line(_shorten(hit), around)
        texts, record = [text], hit_record(hit)
        if more := matching.around(hit, number):
            texts.append(text + "".join(f"  {line} {shown}\n" for line, shown in more))
            record["lines"] = [[line, shown] for line, shown in more]
        if matching.is_wanted:
            texts = texts[-1:]  # whoever asks for the lines around hits rather has fewer hits than bare ones
        piece = Piece(texts=tuple(texts), group=hit.path, order=hit.line, record=record, score=1.0 + hit.score)
        if number == 0 and _stands_out(call.text("query"), hits):
            piece = _with_body(call, hit, piece)
        pieces.append(piece)
    return pieces


class _MatchingLines:
    """Lines of source that go with a hit: those around it that were asked for, or the one that a question is about."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._around = min(_AROUND, max(0, call.number("context_lines")))
        self._task: TaskQuery | None = None
        query = parse_query(call.text("query"))
        bare = query.bare.strip()
        is_words = " " in bare or (bare.isalpha() and bare.islower())
        if is_words and not (query.regex or query.phrase or query.either):
            self._task = TaskQuery(call.runtime.index.store, query.bare)

    @property
    def is_wanted(self) -> bool:
        """Whether the call asks for lines around its hits."""
        return self._around > 0

    def around(self, hit: Hit, rank: int) -> list[tuple[int, str]]:
        """Numbers and texts."""
        is_whole = (
            hit.kind in {"file", "doc"} and not hit.symbol and _WHOLE.fullmatch(hit.preview.strip()) is not None
        )
        if self._around and not is_whole:
            return self._neighbours(hit)
        if self._task is None or rank >= _MATCHED:
            return []
        if is_whole:
            said = "" if hit.kind == "doc" or _is_prose(hit.path) else hit.path
            return self._best_line(hit, range(1, _LINES), self._task, said)
        if hit.kind == "def" and hit.span is not None:
            lines = range(hit.line + 1, min(hit.span.end, hit.span.start + _LINES) + 1)
            return self._best_line(hit, lines, self._task, f"{hit.preview} {hit.path}")
        return []

    def _neighbours(self, hit: Hit) -> list[tuple[int, str]]:
        lines = open_file(self._call, hit.path).lines
        first, last = max(1, hit.line - self._around), min(len(lines), hit.line + self._around)
        shown = []
        for n in range(first, last + 1):
            if n != hit.line:
                shown.append((n, clip_line(lines[n - 1].rstrip())[:_WIDEST]))
        return shown

    def _best_line(self, hit: Hit, lines: range, task: TaskQuery, around: str) -> list[tuple[int, str]]:
        """The line that says most of the question, if it says what the text around it does not."""
        file = FileEvidence(hit.path, open_file(self._call, hit.path).lines, task)
        said = set(split_stems(around))
        best, worth = 0, 0.0
        for line in lines:
            if line > len(file):
                break
            seen = file[line]
            if seen.rare > worth and any(word in task.words for word in seen.words - said):
                best, worth = line, seen.rare
        if not best:
            return []
        return [(best, clip_line(file.lines[best - 1].strip())[:_WIDEST])]


def _shorten(hit: Hit) -> Hit:
    preview = hit.preview.strip()
    if len(preview) <= _WIDEST:
        return hit
    return structs.replace(hit, preview=f"{preview[: _WIDEST - 3]}…")


def _stands_out(query: str, hits: list[Hit]) -> bool:
    """Whether the first hit is the one definition that was asked for."""
    if hits[0].kind != "def":
        return False
    asked = re.split(r"[.:#/\s]+", query.strip("`() "))[-1]
    same = []
    for hit in hits:
        if hit.kind == "def" and hit.name == asked:
            same.append(hit)
    return len(hits) == 1 or (same[:1] == hits[:1] and (len(same) == 1 or hits[0].score > hits[1].score))


def _with_body(call: ToolCall, hit: Hit, piece: Piece) -> Piece:
    store = call.runtime.index.store
    row = store.file(hit.path)
    if row is not None:
        symbol = store.symbol_at(row.id, hit.line)
    else:
        symbol = None
    if symbol is None or symbol.line != hit.line:
        return piece
    if symbol.kind in RANKED_TYPES and len(symbol.span) > _SHORT:
        texts = (piece.texts[0], *scaffold(call, symbol, _MEMBERS))
        return replace(piece, texts=texts)
    whole = body(call, open_file(call, hit.path), symbol, group=hit.path)
    larger = []
    for text in whole.texts[1:]:
        if call.runtime.count(text) <= _BODY:
            larger.append(text)
    texts = (piece.texts[0], *larger)
    if len(texts) == len(whole.texts):
        sent = whole.sent
    else:
        sent = None
    return replace(piece, texts=texts, sent=sent)


def _references(call: ToolCall, query: str, limit: int) -> ToolAnswer:
    """Uses of the symbol that the query names, with their lines; those that are sure come first."""
    everything = find_symbols(call, [query])
    code, found = everything.code, everything.symbols[0]
    uses: list[SymbolUse] = []
    if found:
        uses = sorted(references(code, found[0]), key=lambda use: not use.sure)
    if not uses:
        if found:
            said = f"no references to {query}"
        else:
            said = f"no symbol named {query}"
        return ToolAnswer([], "search_hits", note=f"{said}; try {call.ready('search', query)}\n", unit="hits")
    hits = []
    for use in uses[: limit + max(0, call.number("offset"))]:
        hits.append(_use_hit(code, query, use, open_file(call, use.path).lines))
    return _answer(call, _pieces(call, hits), hits, len(uses))


def _values(call: ToolCall, query: str) -> ToolAnswer:
    """The different texts that a pattern matches, or its first group, each with how often; the most frequent first."""
    asked = parse_query(query)
    if not asked.regex:
        example = call.ready("search", "/raise (\\w+)/", **{"in": "values"})
        raise UsageError("`in=values` counts what a pattern matches.", f"Write one: {example}")
    globs = split_globs(call.text("path"))
    scope = resolve_scope(call.runtime.index.store, replace(asked.filters, paths=(*asked.filters.paths, *globs)))
    counts: Counter[str] = Counter()
    folded = TextQuery(asked.regex, regex=True, ignore_case=asked.ignore_case).folded
    pattern = compile_pattern(f"(?i){asked.regex}" if folded else asked.regex)
    found = find_regex(call.runtime.index.store, call.runtime.root, replace(asked, wanted=_COUNTED), scope)
    for file in found.files:
        for line in file.lines:
            for match in pattern.finditer(line.text, timeout=_SECONDS):
                counts[match[1 if pattern.groups else 0] or ""] += 1
    pieces = []
    for value, count in counts.most_common():
        pieces.append(Piece((f"{count} {clip_line(value)[:_WIDEST]}\n",), record={"value": value, "count": count}))
    files = count_of(len(found.files), "file")
    head = f"{count_of(len(counts), 'value')}, counted {counts.total()} times in {files}\n"
    return ToolAnswer(pieces=pieces, kind="values", head=head, unit="values", total=len(counts), spread=50.0)


def _use_hit(code: Code, query: str, use: SymbolUse, lines: Sequence[str]) -> Hit:
    preview = ""
    if 0 < use.line <= len(lines):
        preview = clip_line(lines[use.line - 1].strip())[:160]
    around = None
    if use.symbol is not None:
        around = code.symbol(use.symbol)
    if around is None:
        return Hit(path=use.path, line=use.line, kind="ref", name=query, preview=preview, sure=use.sure)
    return Hit(
        path=use.path,
        line=use.line,
        kind="ref",
        name=query,
        preview=preview,
        symbol=around.qualified,
        span=around.span,
        sure=use.sure,
    )


def _nothing(call: ToolCall, query: str, found: SearchResult) -> str:
    """An empty answer still says what to try."""
    near = ""
    if found.near:
        near = f"nearest names: {', '.join(found.near)}; "
    if found.near:
        next_call = call.ready("search", found.near[0])
    else:
        next_call = call.ready("context", "...")
    note = ""
    if found.note:
        note = f" ({found.note})"
    return f"nothing found for {query!r}{note}; {near}try {next_call}\n"


TOOL = Tool(
    name="search",
    summary="Find by name, phrase, /regex/, path or question; hits with their symbol and span",
    help="Accepts identifiers in any style, Class.method, a kind and a name (class Foo), phrases, /regular expressions/,"
    " globs and paths, or a question in words. `in` narrows: code, symbols, refs, docs, tests, paths. The query may"
    " contain filters: path:src/** lang:rust kind:class -tests. `in=values` counts the distinct texts that a regular"
    " expression or its first group matches: /raise (\\w+)/.",
    arguments=(
        Argument(
            name="query",
            kind="text",
            help="",
            required=True,
            explained='a name, words, "a phrase", /a regex/, or a path',
        ),
        Argument(
            name="path",
            kind="text",
            help="glob",
            aliases=("include", "glob", "file_pattern", "file", "folder", "files"),
            explained="only files that this glob matches",
        ),
        Argument(name="in", kind="text", help="", choices=_WITHIN, default="all", explained="only hits of this kind"),
        Argument("limit", "number", "", explained=f"hits in one answer, at most {MOST}"),
        Argument(
            name="context_lines",
            kind="number",
            help="",
            listed=False,
            aliases=("context", "c", "lines_around"),
            explained=f"lines to show on each side of a hit, at most {_AROUND}",
        ),
        Argument(
            name="language",
            kind="text",
            help="",
            listed=False,
            aliases=("type", "file_type"),
            explained="only files of this language",
        ),
        Argument(
            name="kind",
            kind="text",
            help="",
            listed=False,
            aliases=("symbol_kind",),
            explained="only symbols of this kind, such as class",
        ),
        WORKSPACE,
        AT,
    ),
    run=run,
    joins=lambda call: call.text("in") == "refs",
    glance=glance,
    weigh=lambda call: weigh_query(call.runtime.index.store, call.text("query")[:_LONGEST]),
    budget=1_000,
    examples=('search(query="Cart.add")', 'search(query="/raise \\\\w+Error/", path="src/**")'),
    aliases="grep rg find search_code code_search fast_search find_in_files search_code_advanced semantic_search query"
    " search_files glob find_files search_symbols search_for_pattern",
)
