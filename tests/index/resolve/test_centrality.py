"""Centrality puts what many files use before what few use, and says nothing about names that everything has."""

from __future__ import annotations

from collections.abc import Callable

from laconic.index.resolve import Code, centrality, find_symbol

Repository = Callable[[dict[str, str]], Code]


def test_what_many_files_use_comes_first(repository: Repository) -> None:
    users = {f"user{n}.py": "from lib import popular\n\npopular()\n" for n in range(5)}
    common = {f"c{n}.py": "class C:\n    def run(self): ...\n" for n in range(20)}
    code = repository(
        {**users, **common, "lib.py": "def popular(): ...\ndef rare(): ...\nrare()\ndef unused(): ...\n"}
    )
    symbols = [find_symbol(code, name)[0] for name in ("popular", "rare", "unused", "C.run")]
    scores = centrality(code, symbols)
    popular, rare, unused, run = (scores[symbol.id] for symbol in symbols)
    assert popular > rare > unused == run == 0.0
