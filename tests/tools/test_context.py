"""`context`: names and lines in turns, the lines that say most of a task first, nothing that was sent before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import Settings
from laconic.plane.plane import Plane
from laconic.plane.session import Session
from laconic.plane.windows import Choice, Window
from laconic.records import Span
from laconic.tools import tools

FILLER = "".join(f"    step_{n} = prepare({n})\n" for n in range(60))
LONG = f"def ship(order):\n{FILLER}    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n{FILLER}"


@pytest.fixture
def plane(tmp_path: Path, settings: Settings) -> Iterator[Plane]:
    opened = Plane(shop(tmp_path), settings, tools())
    (opened.root / "shop" / "shipping.py").write_text(LONG)
    yield opened
    opened.close()


def lines(path: str) -> list[str]:
    return [f"line {n} of {path}" for n in range(1, 31)]


def test_of_a_long_function_the_lines_about_the_task_come_first(plane: Plane) -> None:
    task = "Shipping: the parcel weight of an order is compared with the heaviest, Overweight is raised wrongly"
    whole = plane.call("context", {"task": task, "budget": "1500"}).text
    first = whole.partition("shop/shipping.py\n")[2].partition("\nshop/")[0]
    assert "    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n" in first
    assert "… " not in whole


def test_a_larger_budget_goes_on_where_a_smaller_one_ends(plane: Plane) -> None:
    task = "total of the prices in a cart, and how an order is shipped when it is overweight"
    small = plane.call("context", {"task": task, "budget": "1500"}).text.split("\n")
    large = plane.call("context", {"task": task, "budget": "4000"}).text.split("\n")
    first = small.index("shop/shipping.py", 1)  # where the second round begins, which is smaller in the small answer
    assert first > 20
    assert large[:first] == small[:first]


def test_a_function_that_is_shown_is_not_named_again(plane: Plane) -> None:
    task = "Shipping: the parcel weight of an order is compared with the heaviest, Overweight is raised wrongly"
    code = plane.call("context", {"task": task, "budget": "1500", "show": "code"}).text
    assert "    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n" in code
    assert "1 def ship(order):\n" not in code
    names = plane.call("context", {"task": task, "budget": "1500", "show": "names"}).text
    assert "1 def ship(order):\n" in names
    assert "order.parcel_weight" not in names
    both = plane.call("context", {"task": task, "budget": "4000"}).text
    assert both.count("def ship(order):") == 1


@pytest.mark.feature("C6")
def test_lines_that_the_session_has_are_not_sent_again_nor_replaced_by_lesser_ones(plane: Plane) -> None:
    session = Session()
    given = {"task": "total of the prices in a cart", "budget": "1500"}
    first = plane.call("context", given, session)
    second = plane.call("context", given, session)
    assert "amount += price.cents" in first.text
    assert "amount += price.cents" not in second.text
    assert second.tokens < first.tokens
    again = plane.call("context", {**given, "again": True}, session)
    assert again.text == first.text


def test_lines_are_taken_by_worth_for_cost_and_shown_in_runs() -> None:
    worth = {("a", n): 0.1 for n in range(1, 31)} | {("a", 10): 9.0, ("a", 11): 8.0, ("a", 20): 7.0, ("b", 3): 10.0}
    choice = Choice(worth, lines, len, lambda path, line: False)
    assert choice.take(65) == [Window("b", Span(3, 3)), Window("a", Span(10, 11))]
    assert choice.take(25) == [Window("a", Span(20, 20))]


def test_what_the_reader_has_takes_room_but_is_not_shown() -> None:
    worth = {("a", 10): 9.0, ("a", 20): 7.0, ("a", 28): 5.0}
    choice = Choice(worth, lines, len, lambda path, line: line == 10)
    assert choice.take(40) == [Window("a", Span(20, 20))]
    assert choice.spared > 0


def test_brackets_and_empty_lines_are_shown_with_the_line_beside_them() -> None:
    source = ["a {", "  one();", "}", "", "", "b {", "  two();", "}"]
    choice = Choice({("f", 2): 9.0, ("f", 7): 5.0}, lambda path: source, len, lambda path, line: False)
    assert choice.take(30) == [Window("f", Span(2, 4))]  # not more of them than two
    assert choice.take(30) == [Window("f", Span(7, 8))]


def test_what_is_of_one_file_stands_together(plane: Plane) -> None:
    task = "total of the prices in a cart, and how an order is shipped when it is overweight"
    for show in ("names", "code"):
        answer = plane.call("context", {"task": task, "budget": "1500", "show": show}).text
        headings = [line for line in answer.split("\n") if line.startswith("shop/")]
        assert len(headings) > 1
        assert len(headings) == len(set(headings))


@pytest.mark.parametrize("budget", ["50", "80", "100"])
def test_the_smallest_budget_has_room_for_a_name(plane: Plane, budget: str) -> None:
    answer = plane.call("context", {"task": "total of the prices in a cart", "budget": budget}).text
    assert "shop/" in answer


def test_edges_of_what_the_reader_has_are_not_shown_alone() -> None:
    source = ["one", "two", "}", "", "three"]
    choice = Choice({("f", 2): 9.0, ("f", 5): 1.0}, lambda path: source, len, lambda path, line: line < 3)
    assert choice.take(40) == [Window("f", Span(4, 5))]


def test_what_was_shown_between_two_lines_is_not_shown_again() -> None:
    worth = {("a", 1): 9.0, ("a", 3): 8.0, ("a", 2): 0.1, ("a", 9): 0.2}
    choice = Choice(worth, lambda path: ["aa", "bb", "cc", "", "", "", "", "", "dd"], len, lambda path, line: False)
    assert choice.take(24)[0].span == Span(1, 5)
    rest = choice.take(100)
    assert [window.span for window in rest] == [Span(8, 9)]


def test_a_very_long_line_does_not_end_the_answer() -> None:
    source = ["first = 1", "long = '" + "x" * 40_000 + "'", "last = 2"]
    worth = {("a", 1): 9.0, ("a", 2): 9_000.0, ("a", 3): 1.0}
    choice = Choice(worth, lambda path: source, len, lambda path, line: False)
    assert choice.take(600) == [Window("a", Span(1, 3))]


def test_an_answer_that_was_given_before_says_so(plane: Plane) -> None:
    session = Session()
    given = {"task": "total of the prices in a cart", "show": "code"}
    first = plane.call("context", given, session)
    second = plane.call("context", given, session)
    assert "amount += price.cents" in first.text
    assert second.text == "all lines that matter were shown above (again=true repeats it)\n"
