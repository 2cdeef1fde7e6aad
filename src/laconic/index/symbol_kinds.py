"""The kinds of symbols, one row each: what holds for a kind, and what it is worth in the rankings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple


class SymbolKind(NamedTuple):
    """A kind of symbol: its traits, and its worth when somebody asks for it by name, by words, or by a task."""

    traits: str  # words separated by spaces; the sets below say what each means
    name: float | None = None  # None: not weighed
    words: float | None = None
    task: float | None = None


SYMBOL_KINDS: Final[Mapping[str, SymbolKind]] = {
    "function": SymbolKind("callable body", 1.0, 1.0, 1.0),
    "method": SymbolKind("callable body", 0.95, 1.0, 1.0),
    "constructor": SymbolKind("callable body", 0.9, 0.9, 1.0),
    "macro": SymbolKind("callable body", 0.95, 0.9, 0.8),
    "test": SymbolKind("callable nameless"),
    "class": SymbolKind("type owner ranked_type", 1.0, 0.95, 0.4),
    "struct": SymbolKind("type owner ranked_type", 1.0, 0.95, 0.4),
    "interface": SymbolKind("type owner ranked_type abstract", 1.0, 0.95, 0.4),
    "trait": SymbolKind("type owner ranked_type abstract", 1.0, 0.95, 0.4),
    "enum": SymbolKind("type owner ranked_type", 1.0, 0.9, 0.4),
    "record": SymbolKind("type owner"),
    "union": SymbolKind("type owner"),
    "object": SymbolKind("type owner ranked_type"),
    "impl": SymbolKind("type owner ranked_type nameless minor"),
    "type": SymbolKind("type abstract", 0.95, 0.8, 0.3),
    "module": SymbolKind("type ranked_type", 0.85, 0.6, 0.2),
    "constant": SymbolKind("leaf holder value", 0.9, 0.6, 0.2),
    "variable": SymbolKind("leaf holder value minor", 0.75, 0.5, 0.2),
    "field": SymbolKind("leaf holder minor", 0.7, 0.4, 0.1),
    "key": SymbolKind("leaf nameless minor", 0.5, 0.2, 0.05),
    "heading": SymbolKind("nameless minor", 0.6, 0.5, 0.2),
}
# Kinds that a word in front of a name asks for.
KINDS_BY_WORD: Final[Mapping[str, tuple[str, ...]]] = {
    "class": ("class", "struct", "interface", "trait", "enum", "type"),
    "struct": ("struct", "class"),
    "interface": ("interface", "trait", "class"),
    "trait": ("trait", "interface"),
    "enum": ("enum",),
    "type": ("type", "class", "struct", "interface", "enum", "trait"),
    "function": ("function", "method", "constructor", "macro"),
    "func": ("function", "method", "constructor"),
    "fn": ("function", "method", "constructor"),
    "def": ("function", "method", "constructor"),
    "method": ("method", "function", "constructor"),
    "constructor": ("constructor", "method"),
    "constant": ("constant", "variable", "field"),
    "const": ("constant", "variable", "field"),
    "variable": ("variable", "constant", "field"),
    "var": ("variable", "constant", "field"),
    "field": ("field", "variable"),
    "property": ("field", "method"),
    "macro": ("macro",),
    "module": ("module",),
    "namespace": ("module",),
    "heading": ("heading",),
}


def _with_trait(trait: str) -> frozenset[str]:
    found = set()
    for name, kind in SYMBOL_KINDS.items():
        if trait in kind.traits.split():
            found.add(name)
    return frozenset(found)


CALLABLES: Final = _with_trait("callable")
WITH_BODY: Final = _with_trait("body")  # callables that a program can name
TYPES: Final = _with_trait("type")
OWNERS: Final = _with_trait("owner")  # types whose members are written inside them
RANKED_TYPES: Final = _with_trait("ranked_type")  # those that the fitted weights of the rankings know as types
ABSTRACT: Final = _with_trait("abstract")  # types that others may implement
VALUES: Final = _with_trait("value")
HOLDERS: Final = _with_trait("holder")  # names that hold a value
LEAVES: Final = _with_trait("leaf")  # one line tells what they are
NAMELESS: Final = _with_trait("nameless")  # no program text refers to them by name
MINOR: Final = _with_trait("minor")  # who asks for a name rarely means one of these


def weigh_kinds(asked: Literal["name", "words", "task"]) -> dict[str, float]:
    """What kinds of symbols are worth when they are asked for in this way."""
    found: dict[str, float] = {}
    for name, kind in SYMBOL_KINDS.items():
        worth = getattr(kind, asked)
        if worth is not None:
            found[name] = worth
    return found
