"""The examples that the promises of the code plane give, each as a reader meets it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import Settings, load
from laconic.errors import BadSetting
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.tool_runtime.budget import read_budgets
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic.tools import tools


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(shop(tmp_path), settings, tools())
    opened.index.build()
    yield opened
    opened.close()


@pytest.mark.feature("C1")
def test_a_query_of_words_shows_the_line_that_matched(runtime: ToolRuntime) -> None:
    (runtime.root / "shop" / "door.py").write_text(
        "def leave(visitor):\n    visitor.ticket = None\n    shut_the_turnstile(visitor)\n    return visitor\n"
    )
    (runtime.root / "shop" / "gate.py").write_text("def shut_the_turnstile(visitor):\n    visitor.gate.shut()\n")
    said = runtime.call("search", {"query": "shut turnstile when visitor leaves"}).text
    assert "1-4 def leave(visitor)\n  3 shut_the_turnstile(visitor)\n" in said


@pytest.mark.feature("C1")
def test_hits_are_printed_in_the_order_of_their_rank(runtime: ToolRuntime) -> None:
    """The best hit of a file is not the first of its lines."""
    (runtime.root / "shop" / "late.py").write_text(
        '"""Talk of refund_order here."""\n\nNOTE = "refund_order is below"\n\n\n'
        "def refund_order(order):\n    return order\n"
    )
    lines = runtime.call("search", {"query": "refund_order", "budget": 500}).text.splitlines()
    assert lines[:2] == ["shop/late.py", "6-7"]
    assert any(line.startswith("1 ") for line in lines[2:])


@pytest.mark.feature("U5", "C8")
def test_sure_uses_come_before_possible_ones_and_files_with_most_uses_first(runtime: ToolRuntime) -> None:
    (runtime.root / "shop" / "many.py").write_text(
        "from shop.money import total\n\n\ndef one():\n"
        + "    total([])\n" * 80
        + "\n\ndef two(thing):\n    thing.total()\n"
    )
    said = runtime.call("inspect", {"symbol": "shop/money.py::total", "only": "refs", "budget": 900}).text
    assert said.index("references: ") < said.index("shop/many.py ")
    assert said.index("shop/many.py ") < said.index("shop/cart.py ")
    if "possible references" in said:
        assert said.index("shop/cart.py ") < said.index("possible references")
    small = runtime.call(
        "inspect", {"symbol": "shop/money.py::total", "only": "refs", "budget": 90, "again": True}
    ).text
    assert re.search(r"shop/many\.py .* and \d+ more\n", small)


@pytest.mark.feature("C7")
def test_a_small_budget_shows_a_part_and_its_continuation_goes_on(runtime: ToolRuntime) -> None:
    first = runtime.call("map", {"budget": 60}).text
    found = re.search(r"\[([1-9]\d*) of \d+ entries; more: .*offset=(\d+)\)?\]\n$", first)
    assert found is not None
    assert found[1] == found[2]
    assert runtime.call("map", {"budget": 60, "offset": int(found[2])}).text != first


@pytest.mark.feature("C9")
def test_counters_of_the_session_appear_once_when_defaults_shrink(runtime: ToolRuntime) -> None:
    session = Session()
    assert "this session" not in runtime.call("map", {}, session).text
    session.sent = 41_000
    assert "(this session has had 41k tokens in 1 answer: default budgets are now 75%; name `budget` for more)" in (
        runtime.call("map", {"path": "shop"}, session).text
    )
    assert "this session" not in runtime.call("search", {"query": "total"}, session).text


@pytest.mark.feature("C10")
@pytest.mark.parametrize(
    ("tool", "argument"), [("workspace", "path"), ("recall", "grep"), ("trace", "direction"), ("search", "limit")]
)
def test_arguments_that_are_needed_stand_in_the_schema(tool: str, argument: str) -> None:
    properties = tools()[tool].schema()["properties"]
    assert isinstance(properties, dict)
    assert argument in properties


@pytest.mark.feature("J3")
@pytest.mark.parametrize("name", ["context_lines", "contextLines"])
def test_a_search_shows_lines_around_hits_at_most_six(runtime: ToolRuntime, name: str) -> None:
    said = runtime.call("search", {"query": "/def total/", name: 1}).text
    assert re.search(r"^\d+ def total.*\n  \d+ .*\n  \d+ .*\n", said, re.MULTILINE)
    wide = runtime.call("search", {"query": "/def total/", name: 500, "again": True}).text
    assert len(re.findall(r"^  \d+ ", wide, re.MULTILINE)) <= 12


@pytest.mark.feature("J3")
def test_lines_around_hits_are_there_for_programs_too_and_never_left_out_silently(runtime: ToolRuntime) -> None:
    (runtime.root / "many.py").write_text(
        "".join(f"above_{n} = 1\nmarked_{n} = 2\nbelow_{n} = 3\n" for n in range(60))
    )
    asked = {"query": "/^marked_/", "context_lines": 1}
    found = json.loads(runtime.call("search", {**asked, "format": "json", "limit": 2}).text)["hits"]
    assert found[0]["lines"] == [[1, "above_0 = 1"], [3, "below_0 = 3"]]
    said = runtime.call("search", {**asked, "budget": 400}).text
    assert "more: " in said
    for number in re.findall(r"^\d+ marked_(\d+) ", said, re.MULTILINE):
        assert f" below_{number} = 3\n" in said


@pytest.mark.feature("C1")
def test_a_document_found_by_words_shows_the_line_that_matched(runtime: ToolRuntime) -> None:
    (runtime.root / "docs").mkdir()
    (runtime.root / "docs" / "broker.md").write_text(
        "# Broker\n\nSome words.\n\n## Redis\n\nOther words.\n\nThe visibility timeout is an hour.\n"
    )
    (runtime.root / "docs" / "prefork.md").write_text("A pool.\n\nUse prefork where work is heavy.\n")
    said = runtime.call("search", {"query": "redis visibility timeout", "in": "docs"}).text
    assert "docs/broker.md\n" in said
    assert "The visibility timeout is an hour." in said
    assert "3 Use prefork where work is heavy." in runtime.call("search", {"query": "prefork", "in": "docs"}).text
    whole = runtime.call("search", {"query": "docs/prefork.md"}).text
    assert "heavy" not in whole


@pytest.mark.feature("J6")
def test_six_calls_that_arrive_together_stay_within_25_000(runtime: ToolRuntime) -> None:
    (runtime.root / "big.txt").write_text("".join(f"{n} words that fill a line of this file\n" for n in range(9_000)))
    session = Session()
    for _ in range(6):
        session.announce()
    sizes = [
        runtime.call(
            "read", {"targets": [f"big.txt:{1 + at * 1_500}-{(at + 1) * 1_500}"], "budget": "full"}, session
        ).tokens
        for at in range(6)
    ]
    assert sum(sizes) <= 25_000
    assert sizes[0] > 5_000


@pytest.mark.feature("U2")
def test_a_budget_is_used_up_before_hits_are_dropped(runtime: ToolRuntime) -> None:
    (runtime.root / "many.py").write_text("".join(f"def handle_{n:03}():\n    return {n}\n\n" for n in range(400)))
    reply = runtime.call("search", {"query": "handle_", "budget": 600})
    assert reply.tokens > 500
    assert re.search(r"\[\d+ of 400 hits; more: ", reply.text)


@pytest.mark.feature("U4")
def test_figures_say_which_layer_cut(runtime: ToolRuntime) -> None:
    runtime.call("map", {"budget": 60})
    runtime.call("search", {"query": "total", "budget": 50})
    figures = ToolCallLog(runtime.cache).figures()
    assert sum(figure.cut_fit + figure.cut_recount + figure.cut_net for figure in figures) == 2
    assert all(figure.cut == figure.cut_fit + figure.cut_recount + figure.cut_net for figure in figures)


@pytest.mark.feature("U7")
def test_each_tool_can_have_a_budget_of_its_own(tmp_path: Path, settings: Settings) -> None:
    own = load(flags={**dict(settings), "budgets": "map=60, search=300"}, environ={}, file=tmp_path / "none")
    runtime = ToolRuntime(shop(tmp_path), own, tools())
    try:
        assert runtime.call("map", {}).tokens <= 60
        assert runtime.call("inspect", {"symbol": "Cart"}).tokens > 60
    finally:
        runtime.close()
    with pytest.raises(BadSetting, match="search=2000"):
        read_budgets(["map:60"])


@pytest.mark.feature("U9")
def test_the_state_of_another_workspace_is_its_own_and_adding_one_ends_with_its_index(
    runtime: ToolRuntime, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    for number in range(40):
        (other / f"m{number}.py").write_text(f"def f{number}():\n    pass\n")
    assert "is not indexed" in runtime.call("workspace", {"action": "status", "path": str(other)}).text
    added = runtime.call("workspace", {"action": "add", "path": str(other)}).text
    assert added.startswith("41 files read, 0 removed\n")
    said = runtime.call("workspace", {"action": "status", "path": str(other)}).text
    assert said.startswith(f"{other}: 41 files (0 skipped), ")


def test_a_name_that_does_not_exist_is_said_not_to_exist_with_the_nearest(runtime: ToolRuntime) -> None:
    said = runtime.call("search", {"query": "check_owt"}).text
    assert re.match(r"\(nothing is named check_owt|nothing found for 'check_owt'", said)
    assert "checkout" in said
    assert "Nearest: total" in runtime.call("inspect", {"symbol": "totall"}).text


def test_while_the_index_is_built_a_missing_name_says_so(runtime: ToolRuntime) -> None:
    for number in range(3_000):
        (runtime.root / f"filler_{number}.py").write_text(f"def filler_{number}():\n    return {number}\n" * 20)
    said = runtime.call("inspect", {"symbol": "nowhere_at_all"}).text
    assert "No symbol named 'nowhere_at_all'" in said
    if "may not be indexed yet" not in said:
        assert runtime.index.store.meta("built")


def test_a_regular_expression_matches_in_a_line_of_44_kilobytes(runtime: ToolRuntime) -> None:
    (runtime.root / "wide.py").write_text(f"data = '{'x' * 44_000} needle_{7} {'y' * 200}'\n")
    assert "needle_7" in runtime.call("search", {"query": r"/needle_\d/"}).text


def test_a_broken_regular_expression_is_an_error(runtime: ToolRuntime) -> None:
    reply = runtime.call("search", {"query": "/[/"})
    assert reply.failed
    assert "not a regular expression" in reply.text


@pytest.mark.feature("C7", "U8")
def test_a_long_text_is_continued_by_its_reference(runtime: ToolRuntime) -> None:
    task = "total of the prices in a cart. " * 30
    first = runtime.call("context", {"task": task, "budget": 110}).text
    found = re.search(r"more: context\('(@\w+)', budget=110, offset=(\d+)\)", first)
    assert found is not None
    later = runtime.call("context", {"task": found[1], "budget": 110, "offset": int(found[2])}).text
    assert "nothing in this code base" not in later
    assert json.dumps(later) != json.dumps(first)


@pytest.mark.feature("J11")
def test_the_different_values_of_a_pattern_are_counted(runtime: ToolRuntime) -> None:
    (runtime.root / "shop" / "errors.py").write_text(
        "def sell(order):\n    raise ValueError(1)\n\n\ndef buy(order):\n    raise ValueError(2) or KeyError(raise_it)\n"
        "\n\ndef pay(order):\n    raise KeyError(3)\n"
    )
    asked = {"query": r"/raise (\w+)/", "in": "values", "path": "shop/errors.py"}
    assert runtime.call("search", asked).text == "2 values, counted 3 times in 1 file\n2 ValueError\n1 KeyError\n"
    assert "in=values" in runtime.call("search", {"query": "raise", "in": "values"}).text


@pytest.mark.feature("C8")
def test_definition_and_references_come_in_one_call_and_overloads_are_told_apart(runtime: ToolRuntime) -> None:
    (runtime.root / "Json.java").write_text(
        "class Json {\n    String write(Object value) { return write(value, 0); }\n"
        '    String write(Object value, int depth) { return ""; }\n}\n'
    )
    (runtime.root / "Main.java").write_text(
        'class Main {\n    static String main(Json json) { return json.write("a"); }\n}\n'
    )
    said = runtime.call("inspect", {"symbol": "Json.write"}).text
    assert "    String write(Object value) { return write(value, 0); }\n" in said
    assert "references to all 2 overloads: 2 in 2 files\n" in said
    assert "Main.java" in said
    assert "also: Json.java:3 Json.write(Object value, int depth) (name one as path:line)\n" in said
    other = runtime.call("inspect", {"symbol": "Json.java:3"}).text
    assert "String write(Object value, int depth) {" in other
    assert "references that fit this one of 2 overloads: 1 in 1 file\n" in other
    assert "Main.java" not in other


@pytest.mark.feature("U2", "C8")
def test_a_large_type_leaves_room_for_who_uses_it(runtime: ToolRuntime) -> None:
    methods = "".join(f"    def method_number_{n}(self): ...\n" for n in range(150))
    (runtime.root / "shop" / "large.py").write_text(f"class Large:\n{methods}")
    (runtime.root / "shop" / "user.py").write_text("from shop.large import Large\n\nlarge = Large()\n")
    said = runtime.call("inspect", {"symbol": "Large", "budget": 400}).text
    assert "method_number_39:41 and 110 more\n" in said
    assert "shop/user.py" in said


@pytest.mark.feature("J2")
def test_a_file_without_an_outline_is_read_from_its_start_on(runtime: ToolRuntime) -> None:
    """`read` of a long text, or of a build script of which two lines are symbols, is no outline of nothing."""
    (runtime.root / "GUIDE.adoc").write_text("".join(f"line {n}\n" for n in range(1, 200)))
    said = runtime.call("read", {"targets": ["GUIDE.adoc"]}).text
    assert "40\tline 40\n[lines 1-40; more: read('GUIDE.adoc:41-" in said
    assert "GUIDE.adoc has 199 lines and no symbols" in runtime.call("map", {"path": "GUIDE.adoc"}).text


@pytest.mark.feature("J3")
def test_every_page_of_a_search_says_the_same_total_and_no_hit_comes_twice(runtime: ToolRuntime) -> None:
    """`offset: 0`, then `offset: 100`: pages of one list."""
    for number in range(4):
        names = "".join(f"def parcel_{number}_{at}(parcel):\n    return parcel\n\n" for at in range(30))
        (runtime.root / f"parcels_{number}.py").write_text(names)
    runtime.index.build()
    totals: set[int] = set()
    seen: list[tuple[str, int]] = []
    offset = 0
    while offset < 160:
        said = json.loads(runtime.call("search", {"query": "parcel", "offset": offset, "format": "json"}).text)
        totals.add(said["total"])
        for hit in said["hits"]:
            seen.append((hit["path"], hit["line"]))
        offset += len(said["hits"])
    assert len(totals) == 1
    assert len(seen) == len(set(seen))
