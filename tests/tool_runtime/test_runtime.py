"""The code plane as every tool shares it: budgets, argument repair, sessions, errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
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


@pytest.mark.feature("C11")
@pytest.mark.parametrize(
    "given",
    [
        {"targets": ["shop/money.py:13-14"]},
        {"path": "shop/money.py", "start": 13, "end": 14},
        {"file_path": "shop/money.py", "start_line": "13", "end_line": "14"},
        {"files": [{"path": "shop/money.py", "start_line": 13, "end_line": 14}]},
        {"targets": '["shop/money.py:13-14"]'},
        {"arguments": {"targets": "shop/money.py#L13-L14"}},
        {"Paths": "shop/money.py:13-14"},
    ],
    ids=["right", "start-end", "strings", "objects", "json-text", "wrapped", "capital"],
)
def test_guessed_arguments_are_understood(runtime: ToolRuntime, given: dict[str, object]) -> None:
    reply = runtime.call("read", given)
    assert not reply.failed
    assert "13\tdef total" in reply.text
    assert "15\t" not in reply.text


@pytest.mark.feature("C11")
def test_what_is_not_understood_is_answered_with_the_signature_and_an_example(runtime: ToolRuntime) -> None:
    reply = runtime.call("read", {"colour": "blue"})
    assert reply.failed
    assert "read(targets, budget?)" in reply.text
    assert "For example: read(" in reply.text
    assert "Nearest: read" in runtime.call("reed", {}).text


def test_extra_arguments_are_named_and_left_aside(runtime: ToolRuntime) -> None:
    reply = runtime.call("read", {"targets": "shop/money.py:13-14", "colour": "blue"})
    assert not reply.failed
    assert "left aside: colour" in reply.text


@pytest.mark.feature("C9")
def test_a_hint_is_given_once_and_not_again(runtime: ToolRuntime) -> None:
    """How to see lines again is said the first time they are left out, not every time."""
    session = Session()
    runtime.call("read", {"targets": "shop/cart.py"}, session)
    assert "as shown above (again=true" in runtime.call("read", {"targets": "shop/cart.py:5-12"}, session).text
    second = runtime.call("read", {"targets": "shop/cart.py:13-20"}, session).text
    assert "as shown above" in second
    assert "again=true" not in second


@pytest.mark.feature("C6")
def test_lines_that_a_session_has_are_not_sent_again(runtime: ToolRuntime) -> None:
    session = Session()
    first = runtime.call("read", {"targets": "shop/cart.py"}, session)
    second = runtime.call("read", {"targets": "shop/cart.py:5-20"}, session)
    assert second.tokens < first.tokens / 3
    assert "as shown above" in second.text
    assert "def checkout" in runtime.call("read", {"targets": "shop/cart.py:5-20", "again": True}, session).text
    assert "def checkout" in runtime.call("read", {"targets": "shop/cart.py:5-20"}, Session()).text


@pytest.mark.feature("C6")
def test_whoever_asks_once_more_has_lost_the_lines_and_gets_them(runtime: ToolRuntime) -> None:
    """A client compacts its conversation, or a helper of it asks: neither has what the connection received."""
    session = Session()
    runtime.call("read", {"targets": "shop/cart.py"}, session)
    assert "as shown above" in runtime.call("read", {"targets": "shop/cart.py:5-20"}, session).text
    assert "def checkout" in runtime.call("read", {"targets": "shop/cart.py:5-20"}, session).text
    assert "as shown above" in runtime.call("read", {"targets": "shop/cart.py:5-20"}, session).text
    runtime.call("inspect", {"symbol": "Cart.add", "only": "body"}, session)
    assert "body as shown above" in runtime.call("inspect", {"symbol": "add", "only": "body"}, session).text
    assert "raise ValueError" in runtime.call("inspect", {"symbol": "add", "only": "body"}, session).text


@pytest.mark.feature("C6")
def test_behind_a_gateway_an_answer_points_to_nothing(runtime: ToolRuntime) -> None:
    session = Session(remembers=False)
    for tool, given in (("read", {"targets": "shop/cart.py"}), ("inspect", {"symbol": "total", "only": "refs"})):
        first = runtime.call(tool, given, session).text
        assert runtime.call(tool, given, session).text == first


def test_a_changed_file_is_sent_again(runtime: ToolRuntime) -> None:
    session = Session()
    runtime.call("read", {"targets": "shop/cart.py"}, session)
    path = runtime.root / "shop/cart.py"
    path.write_text(path.read_text("utf-8").replace("positive", "above zero"), "utf-8")
    assert "above zero" in runtime.call("read", {"targets": "shop/cart.py"}, session).text


@pytest.mark.feature("C7")
@pytest.mark.parametrize("budget", [50, 80, 200, "compact", "full"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_budget_holds_on_the_final_text(runtime: ToolRuntime, budget: object, form: str) -> None:
    reply = runtime.call("map", {"budget": budget, "format": form})
    limit = budget if isinstance(budget, int) else 10_000
    assert reply.tokens == runtime.count(reply.text) <= limit
    if form == "json" and not reply.text.endswith("[cut]\n"):
        json.loads(reply.text)


@pytest.mark.feature("U2")
def test_what_was_left_out_is_counted_and_can_be_fetched(runtime: ToolRuntime) -> None:
    whole = runtime.call("search", {"query": "price", "budget": "full"}).text
    page = runtime.call("search", {"query": "price", "budget": 90}).text
    assert "more: search('price', budget=90, offset=" in page
    start = int(page.rsplit("offset=", 1)[1].split(")")[0])
    rest = runtime.call("search", {"query": "price", "budget": "full", "offset": start}).text
    for line in whole.splitlines()[:-1]:
        assert line.split(" @")[0] in page + rest


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "shop/../../x", "link.py"])
def test_paths_stay_inside_the_workspace(runtime: ToolRuntime, path: str, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("SECRET = 1\n", "utf-8")
    (runtime.root / "link.py").symlink_to(tmp_path / "outside.py")
    reply = runtime.call("read", {"targets": [path]})
    assert "SECRET" not in reply.text
    assert "root:" not in reply.text


@pytest.mark.feature("C4", "J9")
def test_the_map_of_a_repository_says_what_it_is_made_of(runtime: ToolRuntime) -> None:
    text = runtime.call("map", {}).text
    assert "languages: python" in text
    assert "pyproject.toml Python shop 1.2: needs httpx; runs shop = shop.__main__:main" in text
    assert "entry points: shop/__main__.py" in text
    assert "tests: tests/ 1" in text
    assert "public API: Cart" in text
    assert "shop/ __init__.py __main__.py cart.py money.py" in text


@pytest.mark.feature("J2")
def test_a_snippet_has_at_most_80_lines_and_says_how_to_go_on(runtime: ToolRuntime) -> None:
    (runtime.root / "long.py").write_text("".join(f"x{n} = {n}\n" for n in range(300)), "utf-8")
    text = runtime.call("read", {"targets": "long.py:11-200"}).text
    assert "90\tx89 = 89" in text
    assert "91\t" not in text
    assert "more: read('long.py:91-200')" in text
    outline = runtime.call("read", {"targets": "long.py"}).text
    assert "long.py has 300 lines" in outline


@pytest.mark.feature("J2")
def test_a_request_has_three_snippets_and_says_how_to_go_on_once(runtime: ToolRuntime) -> None:
    for name in "abcde":
        (runtime.root / f"{name}.py").write_text("".join(f"x{n} = {n}\n" for n in range(300)))
    targets = [f"{name}.py:1-60" for name in "abcde"]
    said = runtime.call("read", {"targets": targets}).text
    assert said.count(" 300 lines]") == 3
    assert said.endswith("[3 of 5 targets; more: read(['d.py:1-60', 'e.py:1-60'])]\n")
    short = runtime.call("read", {"targets": [f"{name}.py:1-10" for name in "abcde"], "again": True}).text
    assert short.count(" 300 lines]") == 5
    assert runtime.call("read", {"targets": targets, "budget": "full", "again": True}).text.count(" 300 lines]") == 5


@pytest.mark.feature("J2")
def test_one_last_line_says_which_lines_of_a_range_are_missing(runtime: ToolRuntime) -> None:
    wide = "".join(f"{n} {'word ' * 60}\n" for n in range(300))
    (runtime.root / "wide.txt").write_text(wide)
    said = runtime.call("read", {"targets": ["wide.txt:1-200"]}).text
    assert said.count("; more: ") == 1
    assert "-200')]" in said


@pytest.mark.feature("J2")
def test_a_snippet_has_at_most_1200_tokens_and_is_cut_at_a_line_that_fits(runtime: ToolRuntime) -> None:
    words = " ".join(f"word{n}" for n in range(60))
    (runtime.root / "wide.md").write_text("".join(f"{n} {words}\n" for n in range(60)), "utf-8")
    reply = runtime.call("read", {"targets": "wide.md:1-60"})
    assert reply.tokens <= 1_300
    assert "more: read('wide.md:" in reply.text
    tight = runtime.call("read", {"targets": "wide.md:1-60", "budget": 400}).text
    assert tight.splitlines()[1].startswith("1\t0 word0")
    assert "[lines 1-" in tight


@pytest.mark.feature("J8")
def test_every_call_is_recorded(runtime: ToolRuntime) -> None:
    runtime.call("read", {"path": "shop/cart.py"})
    runtime.call("read", {})
    runtime.call("map", {})
    from laconic.sessions.tool_call_log import ToolCallLog

    with closing(ToolCallLog(runtime.cache)) as calls:
        figures = {each.tool: each for each in calls.figures()}
    assert (figures["read"].calls, figures["read"].errors, figures["read"].repaired) == (2, 1, 1)
    assert figures["read"].largest >= figures["read"].p95 > 0
    assert figures["map"].calls == 1


@pytest.mark.feature("C6")
def test_what_the_same_question_got_before_is_not_said_again(runtime: ToolRuntime) -> None:
    session = Session()
    first = runtime.call("inspect", {"symbol": "total", "only": "refs"}, session)
    second = runtime.call("inspect", {"symbol": "total", "only": "refs"}, session)
    assert "shop/cart.py" in first.text
    assert "shop/cart.py" not in second.text
    assert "(1 part as shown above; again=true repeats it)" in second.text
    assert runtime.call("inspect", {"symbol": "total", "only": "refs", "again": True}, session).text == first.text
    assert "shop/cart.py" in runtime.call("inspect", {"symbol": "Price", "only": "refs"}, session).text


@pytest.mark.feature("C6")
def test_pages_go_on_when_the_first_is_asked_for_twice(runtime: ToolRuntime) -> None:
    session = Session()
    given = {"query": "/self|price|def/", "budget": 120, "limit": 100}
    first = runtime.call("search", given, session).text
    second = runtime.call("search", given, session).text
    hits = [line for line in first.splitlines() if line[:1].isdigit()]
    assert hits
    assert not set(hits) & {line for line in second.splitlines() if line[:1].isdigit()}
    start = int(second.rpartition("offset=")[2].rstrip(")]\n"))
    assert start > len(hits)  # both pages are behind us


@pytest.mark.feature("C6")
@pytest.mark.feature("J2")
def test_a_range_that_was_cut_goes_on_when_it_is_asked_for_again(runtime: ToolRuntime) -> None:
    """`file.readRange` of 100 lines gets 80; the same call again brings the rest, not only a word on the first 80."""
    (runtime.root / "long.py").write_text("".join(f"line_{number} = {number}\n" for number in range(1, 131)))
    session = Session()
    first = runtime.call("read", {"targets": "long.py:1-120"}, session).text
    assert "line_80 =" in first
    assert "line_81 =" not in first
    second = runtime.call("read", {"targets": "long.py:1-120"}, session).text
    assert "1-80 as shown above" in second
    assert "line_81 =" in second
    assert "line_120 =" in second
    assert "line_121 =" not in second
    third = runtime.call("read", {"targets": "long.py:1-120"}, session).text
    assert "line_1 =" in third


@pytest.mark.feature("C6")
def test_of_a_range_that_was_shown_in_part_only_the_rest_is_sent(runtime: ToolRuntime) -> None:
    session = Session()
    runtime.call("read", {"targets": "shop/cart.py:1-10"}, session)
    text = runtime.call("read", {"targets": "shop/cart.py:1-14"}, session).text
    assert "1-10 as shown above" in text
    assert "11\t" in text
    assert "\n10\t" not in text


@pytest.mark.feature("C6")
@pytest.mark.feature("J3")
def test_how_many_there_are_does_not_depend_on_what_was_shown_before(runtime: ToolRuntime) -> None:
    session = Session()
    given = {"query": "/self|price|def/", "limit": 3}
    first = runtime.call("search", given, session).text.splitlines()[-1]
    second = runtime.call("search", given, session).text
    assert "(3 hits as shown above; again=true repeats it)" in second
    assert second.splitlines()[-1] == first  # 3 of so many, and where they go on
    third = runtime.call("search", given, session).text
    assert "as shown above" not in third


@pytest.mark.feature("J2")
@pytest.mark.parametrize("budget", [300, 600, 1200, 2400])
def test_a_snippet_uses_up_its_budget(runtime: ToolRuntime, budget: int) -> None:
    """Lines are packed by their cost, not in a few large steps."""
    (runtime.root / "wide.txt").write_text("".join(f"{number} word word word word word\n" for number in range(2000)))
    reply = runtime.call("read", {"targets": "wide.txt:1-2000", "budget": budget})
    assert budget * 0.8 < reply.tokens <= budget
