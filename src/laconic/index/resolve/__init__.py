"""Ties uses of names to definitions, in tiers, and answers who uses, calls, overrides and tests what.

`Code` reads one index; every question takes it and a symbol of the store. Nothing is worked out before it is asked.
"""

from laconic.index.resolve.centrality import centrality
from laconic.index.resolve.classes import members
from laconic.index.resolve.code import Code
from laconic.index.resolve.find_symbol import find_symbol, rank_misfit
from laconic.index.resolve.graph import CallEdge, callees, callers, implementations, overridden, paths, spread
from laconic.index.resolve.references import SymbolUse, references
from laconic.index.resolve.related_tests import related_tests, related_tests_of_file

__all__ = [
    "CallEdge",
    "Code",
    "SymbolUse",
    "callees",
    "callers",
    "centrality",
    "find_symbol",
    "implementations",
    "members",
    "overridden",
    "paths",
    "rank_misfit",
    "references",
    "related_tests",
    "related_tests_of_file",
    "spread",
]
