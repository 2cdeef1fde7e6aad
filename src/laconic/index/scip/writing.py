"""Writes what the index knows as SCIP: every definition, and every use that is surely one of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from laconic.index.resolve.code import Code
from laconic.index.resolve.references import SymbolUse, references
from laconic.index.schema import position_of
from laconic.index.scip.messages import DEFINITION, IMPORT, READ, UTF8, WRITE, new
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES, NAMELESS, TYPES

Progress = Callable[[int, int], None]
_SIMPLE: Final = re.compile(r"[\w+$-]+", re.ASCII)
_ROLES: Final = {"import": IMPORT | READ, "write": WRITE}


def write_index(code: Code, version: str, progress: Progress) -> bytes:
    """A whole index; what may be a use of a symbol, but is not sure, is left out: the format has no word for it."""
    index = new("Index")
    index.metadata.tool_info.name = "laconic"
    index.metadata.tool_info.version = version
    index.metadata.project_root = code.root.as_uri()
    index.metadata.text_document_encoding = UTF8
    documents: dict[str, Any] = {}
    sources = sorted(code.sources.values(), key=lambda source: source.path)
    for done, source in enumerate(sources):
        progress(done, len(sources))
        for symbol in code.outline(source.id).symbols:
            if symbol.kind not in NAMELESS:
                _add_symbol(code, symbol, documents)
    for path in sorted(documents):
        documents[path].occurrences.sort(key=lambda each: tuple(each.range))
        index.documents.append(documents[path])
    return bytes(index.SerializeToString(deterministic=True))


def _add_symbol(code: Code, symbol: Symbol, documents: dict[str, Any]) -> None:
    """A definition and its uses, each in the document where it is."""
    path = code.sources[symbol.file].path
    identifier = _identify(code, symbol)
    document = _find_document(code, path, documents)
    information = document.symbols.add(symbol=identifier, display_name=symbol.name)
    information.documentation.append(symbol.signature)
    column = _find_name(code, symbol)
    if column >= 0:
        _add_occurrence(document, information, (symbol.line, column), DEFINITION)
    for use in references(code, symbol, believes_others=False, alone=True):
        if use.sure and _has_name(code, use, symbol.name):
            there = _find_document(code, use.path, documents)
            _add_occurrence(there, information, (use.line, use.column), _ROLES.get(use.kind, READ))


def _find_document(code: Code, path: str, documents: dict[str, Any]) -> Any:
    if path not in documents:
        document = documents[path] = new("Document")
        document.relative_path = path
        document.language = code.by_path[path].language
        document.position_encoding = UTF8
    return documents[path]


def _add_occurrence(document: Any, information: Any, place: tuple[int, int], roles: int) -> None:
    line, column = place
    occurrence = document.occurrences.add(symbol=information.symbol, symbol_roles=roles)
    occurrence.range.extend([line - 1, column, column + len(information.display_name.encode())])


def _find_name(code: Code, symbol: Symbol) -> int:
    """The byte of its line at which a definition has its name; -1 when the text does not have it there."""
    lines = code.lines(symbol.file)
    line = lines[symbol.line - 1] if symbol.line <= len(lines) else ""
    match = re.search(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])", line)
    return len(line[: match.start()].encode()) if match else -1


def _has_name(code: Code, use: SymbolUse, name: str) -> bool:
    """Whether a use is under the symbol's own name: the format has no other way to check an occurrence."""
    lines = code.lines(code.by_path[use.path].id)
    line = lines[use.line - 1] if use.line <= len(lines) else ""
    return line.encode()[use.column :].startswith(name.encode())


def _identify(code: Code, symbol: Symbol) -> str:
    """`scheme manager package version path/Type#method(line).`: lines tell functions of one name apart."""
    source = code.sources[symbol.file]
    chain = list(code.outline(symbol.file).around(position_of(symbol.id)))[::-1]
    found = [f"{_escape(part)}/" for part in source.path.split("/")]
    for each in chain:
        found.append(_escape(each.name) + _suffix(each))
    return "laconic . . . " + "".join(found)


def _suffix(symbol: Symbol) -> str:
    if symbol.kind in CALLABLES:
        return f"({symbol.line})."
    if symbol.kind in TYPES:
        return "#"
    return "."


def _escape(name: str) -> str:
    if _SIMPLE.fullmatch(name):
        return name
    return "`" + name.replace("`", "``") + "`"
