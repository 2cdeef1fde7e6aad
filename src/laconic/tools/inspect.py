"""`inspect`: a symbol with its body, who uses it, what it calls, what implements it and which tests reach it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
from laconic.index.store import CALLABLE, Symbol
from laconic.plane.source import OpenedFile, body, clip_line, open_file
from laconic.plane.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.render.compact import Json

_FEW: Final = 6  # uses that are shown with their line of source
_CALLEES: Final = 12
_MOST_SYMBOLS: Final = 50
_OTHERS: Final = 5  # further symbols of the same name
_PARTS: Final = ("body", "refs", "callees", "implementations", "tests")
_PART_NAMES: Final = {
    **{name: name for name in _PARTS},
    **dict.fromkeys(("references", "callers", "usages", "uses"), "refs"),
    **dict.fromkeys(("definition", "source", "code"), "body"),
    **dict.fromkeys(("calls", "called"), "callees"),
    **dict.fromkeys(("overrides", "subclasses"), "implementations"),
}


def run(call: ToolCall) -> ToolAnswer:
    code = call.plane.code
    wanted = call.texts("symbol")[:_MOST_SYMBOLS]
    only = _only(call.texts("only"))
    pieces: list[Piece] = []
    notes: list[str] = []
    if len(call.texts("symbol")) > _MOST_SYMBOLS:
        notes.append(f"[only the first {_MOST_SYMBOLS} symbols; inspect the others in another call]")
    paths: list[str] = []
    for name in wanted:
        found = find_symbol(code, name) or _find_inherited(code, name)
        if not found:
            missing = UnknownName("symbol", name, tuple(suggest_names(call.plane.index.store, name)))
            if len(wanted) == 1:
                raise missing
            notes.append(str(missing))
            continue
        chosen, others = _chosen(found)
        file = open_file(call, code.sources[chosen.file].path)
        pieces += _about(call, code, chosen, file, only)
        paths.append(file.path)
        if others:
            notes.append(_others(code, others))
    note = "".join(f"{note}\n" for note in notes)
    return ToolAnswer(
        pieces, "symbol", note=note, unit="parts", paths=tuple(paths), spread=1.5, minimum=1, grouped=False
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


def _chosen(found: list[Symbol]) -> tuple[Symbol, list[Symbol]]:
    """The best candidate; the rest stands as alternatives."""
    return found[0], found[1:]


def _others(code: Code, others: list[Symbol]) -> str:
    named = ", ".join(f"{code.sources[each.file].path}:{each.line} {each.qualified}" for each in others[:_OTHERS])
    more = ""
    if len(others) > _OTHERS:
        more = f" and {len(others) - _OTHERS} more"
    return f"also: {named}{more} (name one as path::Symbol)"


def _about(call: ToolCall, code: Code, symbol: Symbol, file: OpenedFile, only: set[str]) -> list[Piece]:
    if "body" in only:
        pieces = [body(call, file, symbol, group=file.path)]
    else:
        pieces = []
    if only & {"refs", "tests"}:
        uses = references(code, symbol)
    else:
        uses = []
    tests, others = _split(code, uses)
    if "refs" in only:
        pieces += _uses(call, code, others, "references")
        if not uses:
            pieces.append(Piece((f"no references to {symbol.qualified} found\n",)))
    if "implementations" in only:
        pieces += _line(code, "overrides", overridden(code, symbol)) + _line(
            code, "implemented by" if symbol.kind not in CALLABLE else "overridden by", implementations(code, symbol)
        )
    if "callees" in only and symbol.kind in CALLABLE:
        called = []
        for each in callees(code, symbol):
            if each.sure:
                called.append(each.symbol)
        pieces += _line(code, "calls", called[:_CALLEES], len(called))
    if only & {"tests", "refs"}:
        pieces += _uses(call, code, tests, "tests")
    return pieces


def _split(code: Code, uses: Iterable[SymbolUse]) -> tuple[list[SymbolUse], list[SymbolUse]]:
    tests: list[SymbolUse] = []
    others: list[SymbolUse] = []
    for use in uses:
        source = code.by_path.get(use.path)
        (tests if source is not None and source.file_class == "test" else others).append(use)
    return tests, others


def _uses(call: ToolCall, code: Code, uses: list[SymbolUse], title: str) -> list[Piece]:
    """One piece a file: the symbols around the uses with their lines; the source itself when there are few."""
    if not uses:
        return []
    files: dict[str, list[SymbolUse]] = {}
    for use in uses:
        files.setdefault(use.path, []).append(use)
    possible = sum(not use.sure for use in uses)
    doubt = ""
    if possible:
        doubt = f", {possible} only possible (?)"
    heading = f"{title}: {len(uses)} in {len(files)} file{'s' if len(files) > 1 else ''}{doubt}"
    ordered = sorted(files.items(), key=lambda item: (not any(use.sure for use in item[1]), item[0]))
    made: list[Piece] = []
    for path, found in ordered:
        made.append(_file(call, code, path, found, heading, few=len(uses) <= _FEW))
    return made


def _file(call: ToolCall, code: Code, path: str, uses: list[SymbolUse], heading: str, *, few: bool) -> Piece:
    around: dict[str, list[str]] = {}
    lines: dict[int, bool] = {}
    for use in sorted(uses, key=lambda use: use.line):
        if use.symbol is not None:
            symbol = code.symbol(use.symbol)
        else:
            symbol = None
        name = ""
        if symbol is not None and use.kind != "import":
            name = symbol.qualified
        if use.sure:
            number = str(use.line)
        else:
            number = f"{use.line}?"
        if number not in around.setdefault(name, []):
            around[name].append(number)
        lines[use.line] = lines.get(use.line, False) or use.sure
    places = "; ".join(f"{' '.join(numbers)}{' ' + name if name else ''}" for name, numbers in around.items())
    record: dict[str, Json] = {
        "path": path,
        "lines": [*lines],
        "possible": [n for n, sure in lines.items() if not sure],
    }
    short = f"{path} {places}\n"
    if not few:
        return Piece((short,), heading, record=record)
    source = open_file(call, path).lines
    quoted = "".join(
        f"  {n}{'' if sure else '?'} {clip_line(source[n - 1].strip())}\n"
        for n, sure in lines.items()
        if n <= len(source)
    )
    return Piece((short, f"{short}{quoted}"), heading, record=record)


def _line(code: Code, title: str, symbols: list[Symbol], total: int = 0) -> list[Piece]:
    if not symbols:
        return []
    named = ", ".join(f"{each.qualified} {code.sources[each.file].path}:{each.line}" for each in symbols[:_CALLEES])
    rest = max(total, len(symbols)) - min(len(symbols), _CALLEES)
    more = ""
    if rest > 0:
        more = f" and {rest} more"
    record: dict[str, Json] = {"what": title, "symbols": [each.qualified for each in symbols]}
    few = f"{title}: {len(symbols)}\n"
    return [Piece((few, f"{title}: {named}{more}\n"), record=record)]


TOOL = Tool(
    "inspect",
    "One or several symbols (name, Class.method, path::name): body, references, callees, implementations, tests",
    "Shows the definition and its body, every reference by file with the symbol around it (a `?` marks one that is only"
    " possible), what it calls, what overrides or implements it, and the tests that use it.",
    (
        Argument("symbol", "texts", "", required=True, aliases=("target", "targets", "query", "path")),
        Argument("only", "texts", "", listed=False, aliases=("include", "sections", "parts", "operation")),
    ),
    run,
    budget=1_500,
    examples=('inspect(symbol=["Cart.add", "src/db.py::connect"])', 'inspect(symbol="total", only="refs")'),
    aliases="goto definition find_definition references find_references symbol get_symbol lookup find_symbol fast_goto"
    " fast_refs find_referencing_symbols get_definition symbols_lookup definition go_to_definition usages find_usages",
)
