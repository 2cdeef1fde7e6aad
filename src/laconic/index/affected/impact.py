"""Who depends on a change, and which tests reach it: nearest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.index.affected.evidence import evidence, holds_tests, is_test, last_name, symbol_of
from laconic.index.compare.symbols import TOP, Comparison
from laconic.index.resolve import Code, references, related_tests
from laconic.records import Impact, SymbolChange

MOST: Final = 10  # test files in the list
_FILES: Final = 20  # files that are named as users of one symbol


def impact_of(code: Code, change: SymbolChange) -> Impact | None:
    """References to a symbol and tests that reach it; one that is gone is looked for by its name."""
    symbol = symbol_of(code, change)
    if symbol is None:
        if change.span is not None or change.name == TOP:
            return None
        found = []
        for file, refs in code.mentions(last_name(change.name)):
            if file in code.sources:
                found.append((code.sources[file].path, len(refs)))
        return Impact(sum(count for _, count in found), tuple(path for path, _ in found[:_FILES]))
    uses = []
    for use in references(code, symbol, alone=True):
        if use.sure:
            uses.append(use)
    files = tuple(dict.fromkeys(use.path for use in uses))
    reached = (test for _, test in related_tests(code, symbol, depth=2) if test.test)
    tests: dict[str, None] = {}
    for test in reached:
        if holds_tests(path := code.sources[test.file].path):
            tests[path] = None
    return Impact(len(uses), files[:_FILES], tuple(tests)[:MOST], _find_stale(code, change))


def _find_stale(code: Code, change: SymbolChange) -> tuple[str, ...]:
    """Where the old name of a renamed symbol is still used, if nothing else has that name now."""
    old, new = last_name(change.old_name), last_name(change.name)
    if not old or old == new or code.store.symbols_named(old):
        return ()
    found: list[str] = []
    for file, refs in code.mentions(old):
        if file in code.sources:
            for ref in refs:
                found.append(f"{code.sources[file].path}:{ref.line}")
    return tuple(dict.fromkeys(found))[:_FILES]


def reaching(code: Code, found: Comparison, history: Sequence[Sequence[str]] = ()) -> list[str]:
    """Tests for a change: those it touches itself, then those that most speaks for.

    `history` are the files of earlier commits. Beyond the first few only those are listed that call what changed or
    are named after it.
    """
    code.refresh()
    own = []
    for f in found.files:
        if f.new is not None and is_test(f.change.path):
            own.append(f.change.path)
    points, sure = evidence(code, found, history)
    others = sorted((path for path in points if path not in own), key=lambda path: (-points[path], path))
    ranked = [*own, *others]
    return ranked[:MOST] + [path for path in ranked[MOST:] if path in sure or path in own]
