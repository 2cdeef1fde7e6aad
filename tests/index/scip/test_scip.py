"""What another indexer wrote down (`index.scip`) is believed as far as the text still agrees; ours can be read back."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.index.resolve import Code, find_symbol, references
from laconic.index.scip.messages import DEFINITION, UTF8, UTF16, new, parse
from laconic.index.scip.reading import FILE, find_uses
from laconic.index.scip.writing import write_index
from laconic.index.workspace_index import Index

# Nothing in the text says what `thing` is, so `close` on it is only possible without the word of another indexer.
_STORE = (
    "class Store:\n    def close(self):\n        return 1\n\n\nclass Door:\n    def close(self):\n        return 2\n"
)
_USE = "def use(thing, other):\n    thing.close()\n    other.close()\n"
_CLOSE = "scip-python python shop 1.0 `store`/Store#close()."
_OTHER = "scip-python python shop 1.0 `store`/Door#close()."


@pytest.fixture
def code(tmp_path: Path) -> Iterator[Code]:
    root = tmp_path / "code"
    root.mkdir()
    (root / "store.py").write_text(_STORE)
    (root / "use.py").write_text(_USE)
    index = Index.open(root, tmp_path / "cache")
    index.build()
    yield Code(index.store, index.root)
    index.close()


def _index(*documents: tuple[str, int, list[tuple[list[int], str, int]]]) -> bytes:
    index = new("Index")
    index.metadata.tool_info.name = "other"
    for path, encoding, occurrences in documents:
        document = index.documents.add(relative_path=path, position_encoding=encoding)
        for place, symbol, roles in occurrences:
            document.occurrences.add(symbol=symbol, symbol_roles=roles).range.extend(place)
    return bytes(index.SerializeToString())


def _told() -> bytes:
    defined = [([1, 8, 13], _CLOSE, DEFINITION), ([6, 8, 13], _OTHER, DEFINITION)]
    return _index(("store.py", UTF8, defined), ("use.py", UTF8, [([1, 10, 15], _CLOSE, 8), ([2, 10, 15], _OTHER, 8)]))


def _uses(code: Code) -> dict[tuple[str, int], tuple[bool, str]]:
    symbol = find_symbol(code, "Store.close")[0]
    return {(use.path, use.line): (use.sure, use.tier) for use in references(code, symbol)}


def test_without_such_a_file_a_use_on_something_unknown_is_possible(code: Code) -> None:
    assert _uses(code) == {("use.py", 2): (False, "name"), ("use.py", 3): (False, "name")}


def test_its_uses_are_sure_and_those_of_other_symbols_are_dropped(code: Code) -> None:
    (code.root / FILE).write_bytes(_told())
    assert _uses(code) == {("use.py", 2): (True, "scip")}


def test_an_occurrence_counts_only_where_the_text_still_has_the_name(code: Code) -> None:
    stale = _index(
        ("store.py", UTF8, [([1, 8, 13], _CLOSE, DEFINITION)]),
        ("use.py", UTF8, [([0, 4, 9], _CLOSE, 8), ([1, 3, 8], _CLOSE, 8), ([99, 0, 5], _CLOSE, 8), ([], _CLOSE, 8)]),
        ("../outside.py", UTF8, [([0, 0, 5], _CLOSE, 8)]),
    )
    (code.root / FILE).write_bytes(stale)
    assert all(tier != "scip" for _, tier in _uses(code).values())


def test_a_definition_that_moved_is_not_believed(code: Code) -> None:
    (code.root / FILE).write_bytes(_index(("store.py", UTF8, [([2, 8, 13], _CLOSE, DEFINITION)])))
    assert _uses(code) == {("use.py", 2): (False, "name"), ("use.py", 3): (False, "name")}


@pytest.mark.parametrize(("encoding", "column"), [(UTF8, 11), (UTF16, 7), (0, 7)])
def test_columns_are_counted_as_the_index_says(encoding: int, column: int) -> None:
    lines = {"a.py": ["def run(): pass"], "b.py": ["'👍€'; run()"]}
    data = _index(("a.py", UTF8, [([0, 4, 7], "s run().", 1)]), ("b.py", encoding, [([0, column, 9], "s run().", 8)]))
    found = find_uses(data, "a.py", 1, "run", lambda path: lines[path])
    assert [(use.path, use.line, use.column) for use in found] == [("b.py", 1, 11)]


@given(st.binary(max_size=400), st.integers(0, 200))
def test_a_cut_or_spoiled_file_adds_nothing_that_is_not_there(noise: bytes, cut: int) -> None:
    texts = {"store.py": _STORE.split("\n"), "use.py": _USE.split("\n")}
    for data in (noise, _told()[:cut] + noise, _told() + noise):
        for use in find_uses(data, "store.py", 2, "close", lambda path: texts.get(path, [])):
            assert texts[use.path][use.line - 1].encode()[use.column :].startswith(b"close")


def _read_back(data: bytes) -> dict[str, Any]:
    return {document.relative_path: document for document in parse("Index", data).documents}


def test_what_we_write_can_be_read_back(code: Code, tmp_path: Path) -> None:
    (code.root / "shop.py").write_text("from store import Store\n\n\ndef open_shop():\n    return Store().close()\n")
    index = Index.open(code.root, tmp_path / "cache")
    index.build()
    fresh = Code(index.store, index.root)
    data = write_index(fresh, "1", lambda done, total: None)
    texts = {source.path: fresh.lines(source.id) for source in fresh.sources.values()}
    found = find_uses(data, "store.py", 2, "close", lambda path: texts.get(path, []))
    assert [(use.path, use.line) for use in found if use.is_same] == [("shop.py", 5)]
    documents = _read_back(data)
    for path, document in documents.items():
        for each in document.occurrences:
            line, start, end = each.range
            name = texts[path][line].encode()[start:end].decode()
            assert f"{name}#" in each.symbol or f"{name}(" in each.symbol or f"{name}." in each.symbol
    assert {each.display_name for each in documents["store.py"].symbols} == {"Store", "Door", "close"}
    index.close()


@pytest.mark.parametrize(
    "data",
    [
        b"\x12\x00" * 5_000_000,  # documents without anything
        b"\x12\x80\x80\x80\x09" + b"\x12\x00" * 9_437_184,  # one that is larger than any real one
        b"\x0a\x00" * 10_000_000,
    ],
)
def test_a_file_that_is_made_to_be_slow_costs_little(data: bytes) -> None:
    tracemalloc.start()
    before = time.thread_time()
    assert find_uses(data + _told(), "store.py", 2, "close", lambda path: []) == []
    took, (_, peak) = time.thread_time() - before, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 15
    assert peak < 100_000_000


def test_occurrences_without_end_cost_no_more_than_some_seconds(code: Code) -> None:
    defined = [([1, 8, 13], _CLOSE, DEFINITION)]
    used = [([1, 10, 15], _CLOSE, 8)] * 20_000
    data = _index(("store.py", UTF8, defined), *[("use.py", UTF8, used)] * 40)
    texts = {"store.py": _STORE.split("\n"), "use.py": ["x" * 20_000, " " * 10 + "close" + "y" * 20_000]}
    before = time.thread_time()
    assert find_uses(data, "store.py", 2, "close", lambda path: texts[path])
    assert time.thread_time() - before < 8
