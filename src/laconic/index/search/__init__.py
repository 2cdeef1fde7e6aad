"""One search for every question about code: names, paths, text and words, ranked together without modes."""

from laconic.index.search.ranking import RankedSymbol
from laconic.index.search.search import SearchResult, search
from laconic.index.search.task_ranking import rank_symbols

__all__ = ["RankedSymbol", "SearchResult", "rank_symbols", "search"]
