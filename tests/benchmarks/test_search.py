"""The search benchmark ranks the first right hit and knows which files a clone can show at all."""

from __future__ import annotations

import pytest

from laconic.index.search import SearchResult
from laconic.records import Hit
from laconic_benchmarks.search import _measures, _rank


def test_the_rank_is_that_of_the_first_right_hit() -> None:
    found = SearchResult([Hit("a.py", 1, "def"), Hit("b.py", 2, "def"), Hit("b.py", 3, "def")], 3)
    assert _rank(found, frozenset({"b.py"})) == 2
    assert _rank(found, frozenset({"c.py"})) == 0


def test_no_outcome_measures_as_nothing() -> None:
    assert _measures([])["MRR"] == pytest.approx(0.0)
