"""One box for every question about code: names, paths, text and words, ranked together without a mode to choose."""

from laconic.index.search.ranking import Ranked
from laconic.index.search.search import Found, search
from laconic.index.search.tasks import rank_symbols

__all__ = ["Found", "Ranked", "rank_symbols", "search"]
