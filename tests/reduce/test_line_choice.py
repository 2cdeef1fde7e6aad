"""Choosing lines: by worth for cost, below their signatures, in runs that can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from laconic.records import Span
from laconic.reduce.line_choice import CodeBlock, LineChoice, Place, join_runs


def source(path: str) -> list[str]:
    return [f"line {n} of {path}" for n in range(1, 31)]


def choose(
    worth: Mapping[Place, float], room: int, lines: Sequence[str] = (), known: Sequence[int] = ()
) -> dict[CodeBlock, set[int]]:
    """Lines 1 to 15 of every file are one function, the others another."""

    def block_of(place: Place) -> CodeBlock:
        first = 1 if place[1] <= 15 else 16
        return CodeBlock(place[0], Span(first, first + 14), (first,), " in Shop")

    choice = LineChoice(worth, block_of, lambda path: lines or source(path), len, lambda path, line: line in known)
    choice.take(room)
    return choice.chosen.lines


def test_lines_are_taken_by_worth_for_cost_each_below_its_signature() -> None:
    worth = {("a", n): 0.1 for n in range(1, 31)} | {("a", 10): 9.0, ("a", 20): 7.0, ("b", 3): 10.0}
    assert choose(worth, 50) == {CodeBlock("b", Span(1, 15), (1,), " in Shop"): {1, 3}}
    assert choose(worth, 135) == {
        CodeBlock("b", Span(1, 15), (1,), " in Shop"): {1, 3},
        CodeBlock("a", Span(1, 15), (1,), " in Shop"): {1, 10},
        CodeBlock("a", Span(16, 30), (16,), " in Shop"): {16, 20},
    }


def test_what_the_reader_has_takes_room_but_is_not_shown() -> None:
    shown = choose({("a", 10): 9.0, ("a", 12): 5.0}, 60, known=[10])
    assert list(shown.values()) in ([], [{1, 12}])
    assert 10 not in {line for lines in shown.values() for line in lines}


def test_brackets_and_empty_lines_are_shown_with_the_line_beside_them() -> None:
    lines = ["a {", "  one();", "}", "", "", "b {", "  two();", "}", *[""] * 22]
    assert set().union(*choose({("f", 2): 9.0}, 60, lines).values()) == {1, 2, 3, 4}


def test_a_whole_block_is_shown_where_it_has_room_else_its_signature() -> None:
    block = CodeBlock("a", Span(1, 15), (1, 2))
    for room, wanted in ((10_000, set(range(1, 16))), (40, {1, 2})):
        choice = LineChoice({}, lambda place: block, source, len, lambda path, line: False)
        choice.take_block(block, room)
        assert choice.chosen.lines == {block: wanted}


def test_small_holes_are_filled_and_what_is_hidden_stays_so() -> None:
    lines = ["aa", "bb", "cc", "", "", "", "", "", "x" * 90, "dd"]
    assert join_runs([1, 3, 8, 10], lines, lambda line: False) == [Span(1, 3), Span(8, 8), Span(10, 10)]
    assert join_runs([1, 3], lines, lambda line: line == 2) == [Span(1, 1), Span(3, 3)]


def test_a_very_long_line_does_not_end_the_choice() -> None:
    lines = ["first = 1", "long = '" + "x" * 40_000 + "'", "last = 2", *[""] * 27]
    shown = choose({("a", 1): 9.0, ("a", 2): 9e9, ("a", 3): 1.0}, 200, lines)
    assert set().union(*shown.values()) >= {1, 3}
