"""One box: whatever a query looks like, the right place comes first, and no page is empty without a way on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.index.search import search
from laconic.index.workspace_index import Index
from laconic.records import Hit


def first(index: Index, query: str, **more: object) -> Hit:
    return search(index, query, **more).hits[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "path", "name"),
    [
        ("place_order", "shop/orders.py", "place_order"),
        ("placeOrder", "shop/orders.py", "place_order"),
        ("place-order", "shop/orders.py", "place_order"),
        ("create_invoice", "shop/orders.py", "createInvoice"),
        ("PlaceOrder", "shop/orders.py", "place_order"),
        ("class receipt", "shop/receipts.py", "Receipt"),
        ("function place order", "shop/orders.py", "place_order"),
        ("retryLater()", "shop/http-api.ts", "retryLater"),
        ("Receipt class", "shop/receipts.py", "Receipt"),
        ("create_inv", "shop/orders.py", "createInvoice"),
        ("render_*", "shop/receipts.py", "render_receipt"),
    ],
)
def test_a_name_is_found_in_any_naming_style(index: Index, query: str, path: str, name: str) -> None:
    hit = first(index, query)
    assert (hit.path, hit.name, hit.kind) == (path, name, "def")
    assert hit.span is not None
    assert hit.span.start <= hit.line <= hit.span.end


@pytest.mark.parametrize(
    "query", ["OrderBook.cancel", "OrderBook::cancel", "OrderBook#cancel", "orders.OrderBook.cancel"]
)
def test_a_qualified_name_finds_the_member_of_that_class(index: Index, query: str) -> None:
    assert {hit.symbol for hit in search(index, query).hits if hit.kind == "def"} == {"OrderBook.cancel"}
    assert first(index, query).symbol == "OrderBook.cancel"


def test_code_comes_before_tests_unless_the_query_asks_for_tests(index: Index) -> None:
    assert first(index, "charge").path == "shop/orders.py"
    assert first(index, "test place order").path == "tests/test_orders.py"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("shop/receipts.py", "shop/receipts.py"),
        ("receipts.py", "shop/receipts.py"),
        ("shop receipts.py", "shop/receipts.py"),
        ("http api.ts", "shop/http-api.ts"),
        ("shop/receipts", "shop/receipts.py"),
        ("docs/*.md", "docs/guide.md"),
        ("guide.md", "docs/guide.md"),
    ],
)
def test_a_path_finds_its_file(index: Index, query: str, path: str) -> None:
    hit = first(index, query)
    assert (hit.path, hit.kind) == (path, "file")


def test_a_path_with_a_line_finds_the_symbol_there(index: Index) -> None:
    assert first(index, "shop/orders.py:9").symbol == "OrderBook.place_order"


def test_a_regular_expression_finds_lines_with_the_symbol_around_them(index: Index) -> None:
    hits = search(index, r"/charge\(\w+, c/").hits
    assert [(hit.path, hit.line, hit.symbol) for hit in hits] == [
        ("shop/orders.py", 9, "OrderBook.place_order"),
        ("shop/orders.py", 16, "charge"),
    ]


def test_a_phrase_is_found_across_punctuation(index: Index) -> None:
    hit = first(index, "when the payment provider declines")
    assert (hit.path, hit.line, hit.symbol) == ("shop/orders.py", 17, "charge")


def test_a_quoted_phrase_is_taken_as_it_is(index: Index) -> None:
    assert [(hit.path, hit.line) for hit in search(index, '"retryLater(id)"').hits] == [("shop/http-api.ts", 3)]


def test_a_question_in_words_finds_what_it_is_about(index: Index) -> None:
    hits = search(index, "where is stock reserved and the customer charged").hits
    assert [hit.name for hit in hits[:2]] == ["place_order", "charge"]
    assert {hit.path for hit in hits[:2]} == {"shop/orders.py"}, "a test of that name comes later"


@pytest.mark.feature("U6")
def test_a_question_finds_what_says_it_in_other_words(tmp_path: Path) -> None:
    """No word of the question stands in the file: only the meaning leads there."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "gate.py").write_text("def authenticate(visitor):\n    return visitor.badge\n")
    (tmp_path / "code" / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    with closing(Index.open(tmp_path / "code", tmp_path / "cache")) as opened:
        opened.build()
        found = search(opened, "how do people login")
    assert [hit.name for hit in found.hits] == ["authenticate"]


def test_alternatives_bring_hits_of_each(index: Index) -> None:
    assert {"Receipt", "charge"} <= {hit.name for hit in search(index, "Receipt OR charge").hits}


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("OrderBook lang:typescript", {"shop/http-api.ts"}),
        ("OrderBook lang:ts", {"shop/http-api.ts"}),
        ("place_order path:tests/**", {"tests/test_orders.py"}),
        ("place_order path:{docs,tests}/**", {"tests/test_orders.py"}),
        ("place_order -tests -path:*.json", {"shop/orders.py"}),
        ("charge tests:only", {"tests/test_orders.py"}),
        ("place_order ext:json", {"settings.json"}),
    ],
)
def test_filters_inside_the_query_limit_every_source(index: Index, query: str, paths: set[str]) -> None:
    found = search(index, query)
    assert {hit.path for hit in found.hits} == paths
    assert not found.note


def test_filters_as_arguments_do_the_same(index: Index) -> None:
    assert {hit.path for hit in search(index, "OrderBook", language="typescript").hits} == {"shop/http-api.ts"}
    assert {hit.path for hit in search(index, "place_order", path="tests", tests=True).hits} == {
        "tests/test_orders.py"
    }
    kinds = {hit.name for hit in search(index, "order", kind="class").hits}
    assert kinds == {"OrderBook"}


def test_a_filter_that_excludes_everything_is_relaxed_and_said(index: Index) -> None:
    found = search(index, "Receipt path:docs/**")
    assert found.hits[0].path == "shop/receipts.py"
    assert "docs/**" in found.note
    assert "elsewhere" in found.note


def test_a_filter_without_any_file_names_the_nearest(index: Index) -> None:
    assert "docs/guide.md" in search(index, "Receipt", path="docs/guides.md").note


def test_a_name_that_does_not_exist_brings_the_nearest_names(index: Index) -> None:
    found = search(index, '"rendr_recipt"')
    assert not found.hits
    assert "render_receipt" in found.near


def test_pages_follow_each_other_without_gap(index: Index) -> None:
    whole = search(index, "order", limit=50)
    pages = [search(index, "order", limit=3, offset=at).hits for at in range(0, len(whole.hits), 3)]
    assert [hit for page in pages for hit in page] == whole.hits
    assert whole.total >= len(whole.hits)


@given(st.text(max_size=60))
def test_no_query_fails(index: Index, query: str) -> None:
    if query.strip().startswith("/"):
        return  # a regular expression may be invalid, and says so
    found = search(index, query)
    assert found.total >= len(found.hits)


def test_a_question_of_many_words_is_answered(index: Index) -> None:
    assert search(index, "where do we reserve the stock for an order and then charge the customer").hits


def test_the_very_name_comes_before_names_that_only_hold_it(tmp_path: Path) -> None:
    """Also where nothing defines it; and `7_3` is not in `73_0`."""
    code, cache = tmp_path / "code", tmp_path / "cache"
    code.mkdir()
    for number in (7, 73):
        lines = [f"def fn_{number}_{part}(x):\n    return x\n" for part in (0, 30, 31)]
        (code / f"part_{number}.py").write_text("\n".join(lines), "utf-8")
    (code / "use.py").write_text("def main():\n    return fn_7_3(1)\n", "utf-8")
    with closing(Index.open(code, cache)) as index:
        index.refresh()
        found = search(index, "fn_7_3").hits
    assert [(hit.path, hit.line) for hit in found] == [("use.py", 2), ("part_7.py", 4), ("part_7.py", 7)]
