"""`search`: one box for names, text, regular expressions, paths and questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.index.resolve import Code, SymbolUse, find_symbol, references
from laconic.index.search import SearchResult
from laconic.index.search import search as look_up
from laconic.index.search.line_scores import TYPES
from laconic.plane.outline import scaffold
from laconic.plane.source import body, clip_line, open_file
from laconic.plane.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.records import Hit
from laconic.render.compact import hit_record
from laconic.render.hits import by_file, enclosing, hit_line

MOST: Final = 100  # hits of one answer
_DEFAULT: Final = 15
_BODY: Final = 300  # tokens of the body that is shown with it
_MEMBERS: Final = 12  # names of members that are shown with a type
_BESIDE: Final = 4  # further hits beside a definition that was named outright
_SHORT: Final = 30  # lines of a type that is shown itself, not only the names in it
_LONGEST: Final = 2_000  # characters of a query that are read
_WITHIN: Final = ("all", "code", "symbols", "refs", "docs", "tests", "paths")


def run(call: ToolCall) -> ToolAnswer:
    query, within = call.text("query"), call.text("in") or "all"
    if not query.startswith("/"):
        query = query[:_LONGEST]
    limit = min(MOST, max(1, call.number("limit") or _DEFAULT))
    if within == "refs":
        return _references(call, query, limit)
    found = look_up(
        call.plane.index,
        query,
        path=call.text("path"),
        language=call.text("language"),
        kind=call.text("kind"),
        tests={"tests": True, "code": False}.get(within),
        limit=limit + max(0, call.number("offset")),
    )
    hits = []
    for hit in found.hits:
        if _inside(hit, within):
            hits.append(hit)
    if not hits:
        return ToolAnswer([], "search_hits", note=_nothing(call, query, found), unit="hits")
    if not call.number("offset") and not call.values.get("limit") and _stands_out(query, hits):
        # Who names one definition wants that one; that its file has such a name too says nothing.
        beside = []
        for hit in hits[1:]:
            if hit.kind != "file" or hit.path != hits[0].path:
                beside.append(hit)
        hits = [hits[0], *beside[:_BESIDE]]
    pieces = _pieces(call, hits)
    note = ""
    if found.note:
        note = f"({found.note})\n"
    if within in {"all", "tests", "code"}:
        total = found.total
    else:
        total = None
    paths = tuple(by_file(hits))
    return ToolAnswer(pieces, "search_hits", note=note, unit="hits", total=total, paths=paths, spread=3.0)


def _inside(hit: Hit, within: str) -> bool:
    if within == "symbols":
        return hit.kind == "def"
    if within == "docs":
        return hit.kind == "doc" or hit.path.endswith((".md", ".rst", ".txt", ".adoc"))
    return within != "paths" or hit.kind == "file"


def _pieces(call: ToolCall, hits: list[Hit]) -> list[Piece]:
    """One piece a hit; a definition that stands out is shown with its body."""
    pieces = []
    around = ""
    for number, hit in enumerate(hits):
        hit = _shorten(hit)
        text = hit_line(hit, around)
        around = ""
        if hit.symbol:
            around = enclosing(hit)
        piece = Piece((text,), hit.path, hit.line, hit_record(hit))
        if number == 0 and _stands_out(call.text("query"), hits):
            piece = _with_body(call, hit, piece)
        pieces.append(piece)
    return pieces


def _shorten(hit: Hit) -> Hit:
    preview = hit.preview.strip()
    if len(preview) <= 160:
        return hit
    return Hit(hit.path, hit.line, hit.kind, hit.name, f"{preview[:157]}…", hit.symbol, hit.span, hit.sure, hit.score)


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
    store = call.plane.index.store
    row = store.file(hit.path)
    if row is not None:
        symbol = store.symbol_at(row.id, hit.line)
    else:
        symbol = None
    if symbol is None or symbol.line != hit.line:
        return piece
    if symbol.kind in TYPES and len(symbol.span) > _SHORT:
        texts = (piece.texts[0], *scaffold(call, symbol, _MEMBERS))
        return Piece(texts, hit.path, hit.line, piece.record)
    whole = body(call, open_file(call, hit.path), symbol, group=hit.path)
    larger = []
    for text in whole.texts[1:]:
        if call.plane.count(text) <= _BODY:
            larger.append(text)
    texts = (piece.texts[0], *larger)
    if len(texts) == len(whole.texts):
        sent = whole.sent
    else:
        sent = None
    return Piece(texts, hit.path, hit.line, piece.record, sent)


def _references(call: ToolCall, query: str, limit: int) -> ToolAnswer:
    """Uses of the symbol that the query names, with their lines."""
    code = call.plane.code
    found = find_symbol(code, query)
    uses: Sequence[SymbolUse] = ()
    if found:
        uses = references(code, found[0])
    if not uses:
        if found:
            said = f"no references to {query}"
        else:
            said = f"no symbol named {query}"
        return ToolAnswer([], "search_hits", note=f"{said}; try {call.ready('search', query)}\n", unit="hits")
    hits: list[Hit] = []
    for use in uses:
        lines: Sequence[str] = ()
        if len(hits) < limit:
            lines = open_file(call, use.path).lines
        hits.append(_use_hit(code, query, use, lines))
    pieces = _pieces(call, hits[: limit + max(0, call.number("offset"))])
    return ToolAnswer(pieces, "search_hits", unit="hits", total=len(hits), paths=tuple(by_file(hits[:limit])))


def _use_hit(code: Code, query: str, use: SymbolUse, lines: Sequence[str]) -> Hit:
    preview = ""
    if 0 < use.line <= len(lines):
        preview = clip_line(lines[use.line - 1].strip())[:160]
    around = None
    if use.symbol is not None:
        around = code.symbol(use.symbol)
    if around is None:
        return Hit(use.path, use.line, "ref", query, preview, sure=use.sure)
    return Hit(use.path, use.line, "ref", query, preview, around.qualified, around.span, use.sure)


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
    "search",
    "Find by name, phrase, /regex/, path, or a question; hits with enclosing symbol and span",
    "One box: identifiers in any style, Class.method, kind words (class Foo), phrases, /regular expressions/, globs and"
    " paths, or a question in words. `in` narrows: code, symbols, refs, docs, tests, paths. Filters may stand in the"
    " query: path:src/** lang:rust kind:class -tests.",
    (
        Argument("query", "text", "", required=True),
        Argument("path", "text", "glob", aliases=("include", "glob", "file_pattern", "file", "folder", "files")),
        Argument("in", "text", "", choices=_WITHIN, default="all"),
        Argument("limit", "number", "", listed=False),
        Argument("language", "text", "", listed=False, aliases=("type", "file_type")),
        Argument("kind", "text", "", listed=False, aliases=("symbol_kind",)),
    ),
    run,
    budget=1_000,
    examples=('search(query="Cart.add")', 'search(query="/raise \\\\w+Error/", path="src/**")'),
    aliases="grep rg find search_code code_search fast_search find_in_files search_code_advanced semantic_search query"
    " search_files glob find_files search_symbols search_for_pattern",
)
