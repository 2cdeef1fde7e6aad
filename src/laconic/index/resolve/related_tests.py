"""Which tests reach a symbol or a file."""

from __future__ import annotations

from laconic.index.resolve.code import Code
from laconic.index.resolve.graph import spread
from laconic.index.store import Symbol


def related_tests(code: Code, symbol: Symbol, depth: int = 3) -> list[tuple[int, Symbol]]:
    """Tests that use a symbol, directly or through others, with the distance; the nearest first."""
    return spread(code, symbol, depth, keep=lambda found: _is_test(code, found))


def related_tests_of_file(code: Code, path: str, depth: int = 2) -> list[tuple[int, Symbol]]:
    """Tests that reach anything that a file defines at its top."""
    code.refresh()
    source = code.by_path.get(path)
    nearest: dict[int, tuple[int, Symbol]] = {}
    for symbol in code.outline(source.id).symbols if source else ():
        if symbol.parent is not None or symbol.kind in {"variable", "impl", "key", "heading"}:
            continue
        for distance, test in related_tests(code, symbol, depth):
            if test.id not in nearest or distance < nearest[test.id][0]:
                nearest[test.id] = (distance, test)
    return sorted(nearest.values(), key=lambda pair: (pair[0], pair[1].id))


def _is_test(code: Code, symbol: Symbol) -> bool:
    source = code.sources.get(symbol.file)
    return bool(symbol.test) or (source is not None and source.file_class == "test")
