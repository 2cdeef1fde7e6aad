"""Ties uses of names to definitions, in tiers, and answers who uses, calls, overrides and tests what.

`Code` reads one index; every question takes it and a symbol of the store. Nothing is worked out before it is asked.
"""

from laconic.index.resolve.central import centrality
from laconic.index.resolve.classes import members
from laconic.index.resolve.code import Code
from laconic.index.resolve.covering import covering_tests, covering_tests_of_file
from laconic.index.resolve.find import find_symbol
from laconic.index.resolve.graph import CallEdge, callees, callers, implementations, overridden, paths, spread
from laconic.index.resolve.references import SymbolUse, references

__all__ = [
    "CallEdge",
    "Code",
    "SymbolUse",
    "callees",
    "callers",
    "centrality",
    "covering_tests",
    "covering_tests_of_file",
    "find_symbol",
    "implementations",
    "members",
    "overridden",
    "paths",
    "references",
    "spread",
]
