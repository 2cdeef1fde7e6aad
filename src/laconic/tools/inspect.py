"""`inspect`: a symbol with its body, who uses it, what it calls, what implements it and which tests reach it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from laconic.errors import UnknownName, UsageError
from laconic.index.resolve import (
    Code,
    SymbolUse,
    callees,
    find_symbol,
    implementations,
    members,
    overridden,
    references,
)
from laconic.index.search.lookup import suggest_names
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import RANKED_TYPES, WITH_BODY
from laconic.render.compact_json import Json
from laconic.render.plural import count_of
from laconic.tool_runtime.find_in_workspaces import find_symbols, name_others
from laconic.tool_runtime.outline import outline_type
from laconic.tool_runtime.source import OpenedFile, body, clip_line, open_file
from laconic.tool_runtime.tool import AT, WORKSPACE, Argument, Piece, Tool, ToolAnswer, ToolCall

_FEW: Final = 6  # uses that are shown with their line of source
_FILES: Final = 3  # files of uses that come before everything but the body
_TESTS: Final = 2  # the same for files of tests
_PLACES: Final = 12  # lines of one file that are named where there is little room
_CALLEES: Final = 12  # symbols of a list where there is little room
_MANY: Final = 60  # the same where there is more
_MOST_SYMBOLS: Final = 50
_LARGE: Final = 150  # lines of a type of which only the signatures of its members are shown
_PARTS: Final = ("body", "refs", "callees", "implementations", "tests")
_PART_NAMES: Final = {
    **{name: name for name in _PARTS},
    **dict.fromkeys(("references", "callers", "usages", "uses"), "refs"),
    **dict.fromkeys(("definition", "source", "code"), "body"),
    **dict.fromkeys(("calls", "called"), "callees"),
    **dict.fromkeys(("overrides", "subclasses"), "implementations"),
}


def run(call: ToolCall) -> ToolAnswer:
    wanted = call.texts("symbol")[:_MOST_SYMBOLS]
    everything = find_symbols(call, wanted)
    code = everything.code
    only = _only(call.texts("only"))
    pieces: list[Piece] = []
    rest: list[Piece] = []  # of all symbols: the first of each come before the rest of any
    notes: list[str] = []
    if len(call.texts("symbol")) > _MOST_SYMBOLS:
        notes.append(f"[only the first {_MOST_SYMBOLS} symbols; inspect the others in another call]")
    paths: list[str] = []
    for name, named, elsewhere in zip(wanted, everything.symbols, everything.elsewhere, strict=True):
        found = named or _find_inherited(code, name)
        if not found:
            missing = UnknownName("symbol", name, tuple(suggest_names(call.runtime.index.store, name)))
            if len(wanted) == 1:
                raise missing
            notes.append(str(missing))
            continue
        chosen, *others = found
        file = open_file(call, code.sources[chosen.file].path)
        alone = not any(each.qualified == chosen.qualified for each in others)
        about = _about(call, code, chosen, file, only, alone=alone)
        pieces += about.first
        rest += about.rest
        paths.append(file.path)
        if others or elsewhere:
            notes.append(name_others(code, others, elsewhere))
    return ToolAnswer(
        pieces=[*pieces, *rest],
        kind="symbol",
        note="".join(f"{note}\n" for note in notes),
        unit="parts",
        paths=tuple(paths),
        spread=1.5,
        grouped=False,
    )


def _find_inherited(code: Code, name: str) -> list[Symbol]:
    """What `Class.member` means where the class has it from one above it."""
    owner, _, member = name.strip().strip("`").removesuffix("()").rpartition(".")
    if owner and member:
        types = find_symbol(code, owner)
    else:
        types = []
    found: list[Symbol] = []
    for type_ in types:
        found.extend(members(code, type_.id, member))
    return found


def _only(names: list[str]) -> set[str]:
    """The parts that were asked for; all where none was named."""
    parts = set()
    for name in names:
        parts.add(_PART_NAMES.get(name.lower().strip(), ""))
    if "" in parts:
        raise UsageError(f"`only` is {', '.join(names)}.", f"Name some of: {', '.join(_PARTS)}.")
    return parts or set(_PARTS)


class _SymbolPieces(NamedTuple):
    """What there is to show of a symbol: what comes first, and what can wait."""

    first: list[Piece]
    rest: list[Piece]

    def add(self, others: _SymbolPieces) -> None:
        self.first.extend(others.first)
        self.rest.extend(others.rest)

    def add_uses(self, pieces: list[Piece], most: int, title: str) -> None:
        """Show the first of some files with what comes first, the others below a line of their own."""
        self.first.extend(pieces[:most])
        for piece in pieces[most:]:
            self.rest.append(replace(piece, group=title))


def _name_uses(code: Code, symbol: Symbol, *, alone: bool) -> str:
    """What a list of uses is called: of functions of one name in one class it says whether it is about one or all."""
    overloads = 0
    for each in code.outline(symbol.file).symbols:
        overloads += each.kind in WITH_BODY and each.qualified == symbol.qualified
    if overloads > 1 and alone and code.sources[symbol.file].dialect.by_parameters:
        return f"references that fit this one of {overloads} overloads"
    if overloads > 1:
        return f"references to all {overloads} overloads"
    return "references"


def _about(
    call: ToolCall, code: Code, symbol: Symbol, file: OpenedFile, only: set[str], *, alone: bool
) -> _SymbolPieces:
    found = _SymbolPieces([], [])
    if "body" in only and symbol.kind in RANKED_TYPES and len(symbol.span) > _LARGE:
        found.first.append(outline_type(call, file, symbol))
    elif "body" in only:
        found.first.append(body(call, file, symbol, group=file.path))
    uses: list[SymbolUse] = []
    if only & {"refs", "tests"}:
        uses = references(code, symbol, alone=alone)
    tests, others = _split(code, uses)
    if "refs" in only:
        sure, possible = _split_sure(others)
        found.add_uses(
            _uses(call, code, sure, _name_uses(code, symbol, alone=alone)),
            _FILES,
            f"more references to {symbol.qualified}",
        )
        if not uses:
            found.first.append(Piece((f"no references to {symbol.qualified} found\n",)))
        found.rest.extend(_uses(call, code, possible, f"possible references to {symbol.name}, by name only"))
    if "implementations" in only:
        title = "implemented by"
        if symbol.kind in WITH_BODY:
            title = "overridden by"
        found.add(_list(code, "overrides", overridden(code, symbol)))
        found.add(_list(code, title, implementations(code, symbol)))
    if "callees" in only and symbol.kind in WITH_BODY:
        called = []
        for each in callees(code, symbol):
            if each.sure:
                called.append(each.symbol)
        found.add(_list(code, "calls", called))
    if only & {"tests", "refs"}:
        sure, possible = _split_sure(tests)
        found.add_uses(_uses(call, code, sure, "tests"), _TESTS, f"more tests of {symbol.qualified}")
        found.rest.extend(_uses(call, code, possible, f"possible tests of {symbol.name}, by name only"))
    return found


def _split(code: Code, uses: Iterable[SymbolUse]) -> tuple[list[SymbolUse], list[SymbolUse]]:
    tests: list[SymbolUse] = []
    others: list[SymbolUse] = []
    for use in uses:
        source = code.by_path.get(use.path)
        if source is not None and source.file_class == "test":
            tests.append(use)
        else:
            others.append(use)
    return tests, others


def _split_sure(uses: Iterable[SymbolUse]) -> tuple[list[SymbolUse], list[SymbolUse]]:
    """Sure uses, and those that are only possible; a line that has both counts as sure."""
    sure = []
    for use in uses:
        if use.sure:
            sure.append(use)
    known = set()
    for use in sure:
        known.add((use.path, use.line))
    return sure, [use for use in uses if not use.sure and (use.path, use.line) not in known]


def _uses(call: ToolCall, code: Code, uses: list[SymbolUse], title: str) -> list[Piece]:
    """One piece a file, that with most uses first; the lines of source themselves when there are few."""
    files: dict[str, list[SymbolUse]] = {}
    for use in uses:
        files.setdefault(use.path, []).append(use)
    heading = f"{title}: {len(uses)} in {count_of(len(files), 'file')}"
    pieces: list[Piece] = []
    for path in sorted(files, key=lambda path: (-len(files[path]), path)):
        pieces.append(_file(call, code, path, files[path], heading, few=len(uses) <= _FEW))
    return pieces


def _file(call: ToolCall, code: Code, path: str, uses: list[SymbolUse], heading: str, *, few: bool) -> Piece:
    """The uses in a file in sizes: some of the lines, all of them, their source."""
    around: dict[int, str] = {}
    for use in sorted(uses, key=lambda use: use.line):
        symbol = None
        if use.symbol is not None and use.kind != "import":
            symbol = code.symbol(use.symbol)
        around.setdefault(use.line, symbol.qualified if symbol is not None else "")
    sure = uses[0].sure
    record: dict[str, Json] = {"path": path, "lines": [*around], "possible": [] if sure else [*around]}
    texts = [f"{path} {_places(around, sure=sure)}\n"]
    if len(around) > _PLACES:
        few_of_them = dict(list(around.items())[:_PLACES])
        texts.insert(0, f"{path} {_places(few_of_them, sure=sure)} and {len(around) - _PLACES} more\n")
    if few:
        source = open_file(call, path).lines
        quoted = []
        for n in around:
            if n <= len(source):
                quoted.append(f"  {n} {clip_line(source[n - 1].strip())}\n")
        texts.append(texts[-1] + "".join(quoted))
    return Piece(tuple(texts), heading, record=record)


def _places(around: dict[int, str], *, sure: bool) -> str:
    """Lines, those inside of one symbol together with its name."""
    by_name: dict[str, list[str]] = {}
    for line, name in around.items():
        by_name.setdefault(name, []).append(f"{line}" if sure else f"{line}?")
    return "; ".join(" ".join([*numbers, name]).rstrip() for name, numbers in by_name.items())


def _list(code: Code, title: str, symbols: list[Symbol]) -> _SymbolPieces:
    """Symbols with their places in sizes: how many, the first, many. What is beyond that follows in further pieces."""
    found = _SymbolPieces([], [])
    if not symbols:
        return found
    sizes = [f"{title}: {len(symbols)}\n"]
    for size in sorted({min(len(symbols), _CALLEES), min(len(symbols), _MANY)}):
        sizes.append(f"{title}: {_name_all(code, symbols[:size])}{_and_more(len(symbols) - size)}\n")
    record: dict[str, Json] = {"what": title, "symbols": [each.qualified for each in symbols]}
    found.first.append(Piece(tuple(sizes), record=record))
    for start in range(_MANY, len(symbols), _MANY):
        found.rest.append(Piece((f"more {title}: {_name_all(code, symbols[start : start + _MANY])}\n",)))
    return found


def _name_all(code: Code, symbols: list[Symbol]) -> str:
    """Symbols with their places: those of one file together, its path once."""
    by_path: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        by_path.setdefault(code.sources[symbol.file].path, []).append(symbol)
    named: list[str] = []
    for path, members_of_file in by_path.items():
        first, *others = members_of_file
        named.append(f"{first.qualified} {path}:{first.line}")
        for symbol in others:
            named.append(f"{symbol.qualified} :{symbol.line}")
    return ", ".join(named)


def _and_more(number: int) -> str:
    if number <= 0:
        return ""
    return f" and {number} more"


TOOL = Tool(
    name="inspect",
    summary="Symbols (name, Class.method, path::name): body, references, callees, implementations, tests",
    help="Shows the definition and its body, every reference by file with the symbol around it (a `?` marks one that is"
    " only possible), what it calls, what overrides or implements it, and the tests that use it.",
    arguments=(
        Argument(
            name="symbol",
            kind="texts",
            help="",
            required=True,
            aliases=("target", "targets", "query", "path"),
            explained="names, Class.method, path::name or path:line",
        ),
        Argument(
            name="only",
            kind="texts",
            help="",
            listed=False,
            aliases=("include", "sections", "parts", "operation"),
            explained=f"some of: {', '.join(_PARTS)}",
        ),
        replace(WORKSPACE, listed=False),
        AT,
    ),
    run=run,
    budget=1_500,
    joins=lambda call: True,
    examples=('inspect(symbol=["Cart.add", "src/db.py::connect"])', 'inspect(symbol="total", only="refs")'),
    aliases="goto definition find_definition references find_references symbol get_symbol lookup find_symbol fast_goto"
    " fast_refs find_referencing_symbols get_definition symbols_lookup definition go_to_definition usages find_usages",
)
