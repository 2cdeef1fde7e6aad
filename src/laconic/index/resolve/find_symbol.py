"""Find symbols by name: `name`, `Class.method`, `method(int)`, `path::Symbol`, `path:line`."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.declared_types import after_parameters, split_outside
from laconic.index.file_class_weights import NAMED_FIRST
from laconic.index.resolve.code import Code, SourceFile
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import MINOR

_LINE: Final = re.compile(r"(.+?):(\d+)\Z")
_PARTS: Final = re.compile(r"::|\.|#|->|/")


def find_symbol(code: Code, text: str) -> list[Symbol]:
    """Candidates, the best first; empty when nothing has that name."""
    code.refresh()
    text, parameters = _split_parameters(text.strip().strip("`").removesuffix("()"))
    found = _find(code, text)
    if parameters:
        return [each for each in found if _takes(each, parameters)] or found
    return found


def _split_parameters(text: str) -> tuple[str, list[str]]:
    """`add(int, Item)` names one of several functions by the types that it takes."""
    name, mark, rest = text.partition("(")
    if not mark or not text.endswith(")") or not name:
        return text, []
    return name, [each.strip() for each in split_outside(rest[:-1], ",")]


def _takes(symbol: Symbol, wanted: list[str]) -> bool:
    at = symbol.signature.find("(", max(0, symbol.signature.find(symbol.name)))
    size = len(symbol.signature) - len(after_parameters(symbol.signature, symbol.name))
    parameters = split_outside(symbol.signature[at + 1 : size - 1], ",")
    if len(parameters) != len(wanted):
        return False
    return all(re.search(rf"\b{re.escape(one)}\b", other) for one, other in zip(wanted, parameters, strict=True))


def _find(code: Code, text: str) -> list[Symbol]:
    where, mark, what = text.rpartition("::")
    if mark and (files := _files(code, where)):
        return _find_named(code, what, files)
    if (match := _LINE.match(text)) and (files := _files(code, match[1])):
        found = []
        for each in files:
            found.append(code.symbol_at(each.id, int(match[2])))
        return [symbol for symbol in found if symbol is not None]
    return _find_named(code, text, None)


def _files(code: Code, text: str) -> list[SourceFile]:
    """Files by path, or by the end of one."""
    text = text.strip().removeprefix("./")
    if exact := code.by_path.get(text):
        return [exact]
    base = text.rpartition("/")[2]
    found: list[SourceFile] = []
    for each in code.by_basename.get(base, ()):
        if each.path.endswith(f"/{text}"):
            found.append(each)
    return found


def _find_named(code: Code, text: str, files: list[SourceFile] | None) -> list[Symbol]:
    parts = []
    for part in _PARTS.split(text):
        if part:
            parts.append(part)
    if not parts:
        return []
    if files is not None:
        wanted = set()
        for each in files:
            wanted.add(each.id)
    else:
        wanted = None
    found = []
    for symbol in code.symbols_named(parts[-1]):
        if symbol.file in code.sources and (wanted is None or symbol.file in wanted):
            found.append(symbol)
    scored = []
    for symbol in found:
        scored.append((_misfit(code, symbol, parts), symbol))
    return [symbol for misfit, symbol in sorted(scored, key=lambda pair: (pair[0], pair[1].id)) if misfit[0] == 0]


def rank_misfit(code: Code, symbol: Symbol, text: str) -> tuple[int, ...]:
    """How badly a symbol that was found fits what was asked, to compare it with those of other workspaces."""
    name, _ = _split_parameters(text.strip().strip("`").removesuffix("()"))
    parts = []
    for part in _PARTS.split(name.rpartition("::")[2]):
        if part:
            parts.append(part)
    return _misfit(code, symbol, parts or [symbol.name])


def _misfit(code: Code, symbol: Symbol, parts: list[str]) -> tuple[int, ...]:
    """How badly a symbol fits: its owners, its module, its spelling, and where it stands."""
    source = code.sources[symbol.file]
    held = symbol.qualified.split(".")[:-1]
    module = re.split(r"[/.]", source.path.rpartition(".")[0])
    asked = parts[:-1]
    trail = []
    for each in [*module, *held]:
        trail.append(each.lower())
    missing = 0
    at = len(trail)
    for part in reversed(asked):
        while at > 0 and trail[at - 1] != part.lower():
            at -= 1
        missing += at == 0
        at = max(at - 1, 0)
    exact = symbol.name == parts[-1]
    owner = not asked or [each.lower() for each in held[-len(asked) :]] == [each.lower() for each in asked]
    weight = NAMED_FIRST.get(source.file_class, 1)
    minor = symbol.kind in MINOR
    declared = "declaration" in symbol.modifiers.split()  # somewhere else is the body
    return (missing, not exact, not owner, minor, declared, weight, len(held), len(source.path))
