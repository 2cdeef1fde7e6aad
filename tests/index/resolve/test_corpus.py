"""Every language ties the uses in its corpus folder to what the comments there say.

    engine.stop()               #! Engine.stop              a sure use of that symbol
    thing.stop()                #~ Engine.stop; Base.stop   a possible use of two symbols

A symbol that is marked once must be marked at every use. Definitions need no mark; `path::Symbol` tells two apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.index.resolve import Code, find_symbol, references
from laconic.index.workspace_index import Index

CORPUS = Path(__file__).parents[2] / "corpus" / "resolve"
FOLDERS = sorted(path.name for path in CORPUS.iterdir())
_MARK = re.compile(r"(?:#|//|--|/\*)([!~]) ([^#/]*?(?:/[^#/]+?)*)\s*(?:\*/)?\s*(?=(?:#|//)[!~]|$)")
Place = tuple[str, int]


def marks(folder: Path) -> Iterator[tuple[str, bool, Place]]:
    """Symbols with where they are marked, and whether as sure."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        for row, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for mark, wanted in _MARK.findall(line):
                for name in wanted.split(";"):
                    yield name.strip(), mark == "!", (path.relative_to(folder).as_posix(), row)


def _cases() -> list[tuple[str, str]]:
    return [(name, symbol) for name in FOLDERS for symbol in sorted({each for each, _, _ in marks(CORPUS / name)})]


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Code]]:
    cache = tmp_path_factory.mktemp("cache")
    opened = {name: Index.open(CORPUS / name, cache) for name in FOLDERS}
    for index in opened.values():
        index.build()
    yield {name: Code(index.store, index.root) for name, index in opened.items()}
    for index in opened.values():
        index.close()


@pytest.mark.parametrize(("folder", "symbol"), _cases())
def test_uses_are_tied_as_the_corpus_says(codes: dict[str, Code], folder: str, symbol: str) -> None:
    found = find_symbol(codes[folder], symbol)
    assert found, f"{symbol} is marked but not defined"
    uses = references(codes[folder], found[0])
    sure = {(use.path, use.line) for use in uses if use.sure}
    possible = {(use.path, use.line) for use in uses} - sure
    wanted = [(certain, place) for name, certain, place in marks(CORPUS / folder) if name == symbol]
    assert sorted(sure) == sorted({place for certain, place in wanted if certain})
    assert sorted(possible) == sorted({place for certain, place in wanted if not certain})
