"""What each tool answers about a small code base, in the text that an agent reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import Settings
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(shop(tmp_path), settings, tools())
    opened.index.build()
    yield opened
    opened.close()


@pytest.mark.feature("U5", "C2")
def test_search_shows_the_definition_that_was_named_with_its_body(runtime: ToolRuntime) -> None:
    text = runtime.call("search", {"query": "Cart.checkout"}).text
    assert text.startswith("shop/cart.py\n")
    assert "return total(self.items)" in text


@pytest.mark.feature("C2")
def test_text_hits_carry_the_enclosing_symbol_and_its_span(runtime: ToolRuntime) -> None:
    assert "@ Cart.add:12-17" in runtime.call("search", {"query": "count must be positive"}).text


@pytest.mark.feature("C2")
def test_a_line_of_a_module_is_not_said_to_stand_in_the_name_that_it_defines(runtime: ToolRuntime) -> None:
    (runtime.root / "demo.py").write_text("import shop\n\nchan = shop.open_session()\n")
    assert "3 chan = shop.open_session()\n" in runtime.call("search", {"query": "/chan = /"}).text


@pytest.mark.feature("C8", "U5")
def test_inspect_answers_definition_body_references_callees_and_tests_at_once(runtime: ToolRuntime) -> None:
    text = runtime.call("inspect", {"symbol": "total"}).text
    assert text.splitlines()[:2] == ["shop/money.py", "13-18"]
    assert "amount += price.cents" in text
    assert "references: 2 in 1 file" in text
    assert "21 Cart.checkout" in text
    tested = runtime.call("inspect", {"symbol": "Cart.checkout"}).text
    assert "calls: total shop/money.py:13" in tested
    assert "tests: 1 in 1 file" in tested
    assert "test_checkout_sums_the_items" in tested


def test_inspect_takes_several_symbols_and_knows_what_is_missing(runtime: ToolRuntime) -> None:
    reply = runtime.call("inspect", {"symbols": "total, Cart.ad"})
    assert not reply.failed
    assert "13-18" in reply.text
    assert "No symbol named 'Cart.ad'" in reply.text
    alone = runtime.call("inspect", {"symbol": "totl"})
    assert alone.failed
    assert "Nearest: total" in alone.text


@pytest.mark.feature("U5")
def test_trace_follows_callers_and_finds_paths(runtime: ToolRuntime) -> None:
    up = runtime.call("trace", {"symbol": "total"}).text
    assert "1 Cart.checkout shop/cart.py:19" in up
    assert "2 main shop/__main__.py:7 via checkout" in up
    path = runtime.call("trace", {"symbol": "main", "to": "total"}).text
    assert "main shop/__main__.py:7 -> Cart.checkout shop/cart.py:19 -> total shop/money.py:13\n" in path


@pytest.mark.feature("U5")
def test_context_names_the_places_of_a_task_with_their_bodies(runtime: ToolRuntime) -> None:
    text = runtime.call("context", {"task": "Checkout should apply a discount to the sum of all prices"}).text
    assert "shop/cart.py" in text
    assert "return total(self.items)" in text
    assert "def total(prices: list[Price]) -> Price:" in text


@pytest.mark.feature("U6", "C9")
def test_an_empty_search_names_what_is_near_and_a_ready_call(runtime: ToolRuntime) -> None:
    text = runtime.call("search", {"query": "chekout"}).text
    assert "checkout" in text
    assert runtime.call("search", {"query": "zzqqxy"}).text.startswith("nothing found for 'zzqqxy'")


@pytest.mark.feature("C6")
def test_a_body_that_the_session_has_is_only_pointed_to(runtime: ToolRuntime) -> None:
    session = Session()
    first = runtime.call("inspect", {"symbol": "Cart", "only": "body"}, session)
    again = runtime.call("inspect", {"symbol": "Cart", "only": "body"}, session)
    assert "self.items.append(price)" in first.text
    assert "body as shown above" in again.text
    assert again.tokens < first.tokens / 2


@pytest.mark.feature("C1", "J3")
def test_json_on_request_has_the_total_and_no_nulls(runtime: ToolRuntime) -> None:
    reply = runtime.call("search", {"query": "price", "format": "json", "limit": 3})
    found = json.loads(reply.text)
    assert len(found["hits"]) == 3
    assert found["total"] > 3
    assert found["more"].startswith("search(")
    assert "null" not in reply.text


@pytest.mark.feature("J11")
@pytest.mark.feature("U2")
@pytest.mark.parametrize("number", [13, 61, 140])
def test_every_implementation_can_be_had(runtime: ToolRuntime, number: int) -> None:
    """A count first, the list on request: no implementation is only counted whatever the budget."""
    classes = "".join(f"class Child{at}(Parent):\n    pass\n\n\n" for at in range(number))
    (runtime.root / "family.py").write_text(f"class Parent:\n    pass\n\n\n{classes}")
    given = {"symbol": "Parent", "only": "implementations"}
    small = runtime.call("inspect", {**given, "budget": 60}).text
    assert f"implemented by: {number}" in small
    whole = runtime.call("inspect", {**given, "budget": 8000}).text
    assert whole.count("family.py:") <= 3  # a path is not repeated for each symbol of its file
    for at in range(number):
        assert f"Child{at} " in whole


@pytest.mark.feature("J11")
def test_workspace_answers_with_numbers_only(runtime: ToolRuntime) -> None:
    text = runtime.call("workspace", {"action": "refresh"}).text
    assert "9 files" in text
    assert len(text.splitlines()) == 2


@pytest.mark.feature("U9")
def test_several_workspaces_are_listed(runtime: ToolRuntime, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("def a():\n    pass\n", "utf-8")
    runtime.call("map", {})
    runtime.call("workspace", {"action": "add", "path": str(other)})
    text = runtime.call("workspace", {"action": "list"}).text
    assert str(runtime.root) in text
    assert str(other) in text


@pytest.mark.feature("U8")
def test_recall_gives_back_what_was_archived_by_lines_and_pattern(runtime: ToolRuntime) -> None:
    ref = runtime.archive.put("s", "t", b"one\ntwo\nthree\n", "sample")
    assert runtime.call("recall", {"ref": ref}).text == "one\ntwo\nthree\n"
    assert runtime.call("recall", {"ref": ref, "lines": "2-3"}).text == "two\nthree\n"
    assert runtime.call("recall", {"ref": ref, "pattern": "thr"}).text == "3: three\n"
    assert runtime.call("recall", {"ref": "nothing"}).failed


def test_recall_says_that_a_file_has_changed_since_and_how_to_see_it(runtime: ToolRuntime) -> None:
    path = runtime.root / "shop/cart.py"
    ours = runtime.call("read", {"targets": "shop/cart.py:3-20"}).text
    theirs = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(path.read_text("utf-8").splitlines(), 1))
    refs = [
        runtime.archive.put("s", "", ours.encode(), "read shop/cart.py:3-20"),
        runtime.archive.put("s", "", theirs.encode(), f"read {path}"),
    ]
    other = runtime.archive.put("s", "", b"ran 3 tests\n", "run pytest shop/cart.py")
    for ref in (*refs, other):
        assert "changed since" not in runtime.call("recall", {"ref": ref}).text
    path.write_text(path.read_text("utf-8").replace("positive", "above zero"), "utf-8")
    for ref in refs:
        for lines in ({}, {"lines": "4-6"}):
            said = runtime.call("recall", {"ref": ref, **lines}).text
            assert "(shop/cart.py changed since; as it is now: read('shop/cart.py'))" in said
    assert "changed since" not in runtime.call("recall", {"ref": other}).text
    path.unlink()
    assert "changed since" in runtime.call("recall", {"ref": refs[0]}).text


def test_a_member_that_a_class_inherits_is_found_through_it(runtime: ToolRuntime) -> None:
    (runtime.root / "shop" / "gift.py").write_text("from shop.cart import Cart\n\n\nclass Gift(Cart):\n    pass\n")
    text = runtime.call("inspect", {"symbol": "Gift.checkout", "only": "body"}).text
    assert text.startswith("shop/cart.py\n19-21")


def test_a_page_beyond_the_end_says_where_the_end_is(runtime: ToolRuntime) -> None:
    text = runtime.call("search", {"query": "Price", "offset": 900}).text
    assert "offset 900 is beyond" in text


@pytest.mark.feature("U9")
def test_the_index_of_a_folder_that_is_gone_can_be_forgotten(runtime: ToolRuntime, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    runtime.call("workspace", {"action": "add", "path": str(other)})
    (other / "a.py").unlink()
    other.rmdir()
    assert str(other) in runtime.call("workspace", {"action": "list"}).text
    assert not runtime.call("workspace", {"action": "remove", "path": str(other)}).failed
    assert str(other) not in runtime.call("workspace", {"action": "list"}).text
    assert runtime.call("workspace", {"action": "remove", "path": str(other)}).failed


@pytest.mark.parametrize("pattern", ["/[/", "/(/", "/*/", "/[/i", "/a(b/"])
def test_a_pattern_that_is_none_is_an_error_with_the_fix(runtime: ToolRuntime, pattern: str) -> None:
    reply = runtime.call("search", {"query": pattern})
    assert reply.failed
    assert "is not a regular expression" in reply.text
    assert "Escape special characters" in reply.text


def test_a_folder_that_is_no_project_is_added_only_by_force(
    runtime: ToolRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = runtime.call("workspace", {"action": "add", "path": "/"})
    assert refused.failed
    assert "force=true" in refused.text
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    assert runtime.call("workspace", {"action": "add", "path": str(home)}).failed
    assert str(home) not in runtime.call("workspace", {"action": "list"}).text
    assert not runtime.call("workspace", {"action": "add", "path": str(home), "force": True}).failed
    assert str(home) in runtime.call("workspace", {"action": "list"}).text
