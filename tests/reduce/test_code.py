"""Bodies of code are cut to their structure, and never cost more than they may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.reduce.code import LineKind, fold, guess
from laconic.tokens.count import counter

BODY = """def area(shape, factor):
    \"\"\"The area of a shape.\"\"\"
    one = compute(shape, factor, precision=12, rounding="half-even")
    two = compute(shape, factor, precision=13, rounding="half-even")
    if one > two:
        three = compute(shape, factor, precision=14, rounding="half-even")
        log.debug("three %s %s", three, explain(three, with_history=True))
        return three
    four = compute(shape, factor, precision=15, rounding="half-even")
    five = compute(shape, factor, precision=16, rounding="half-even")
    six = compute(shape, factor, precision=17, rounding="half-even")
    seven = compute(shape, factor, precision=18, rounding="half-even")
    nine = compute(shape, factor, precision=19, rounding="half-even")
    ten = compute(shape, factor, precision=19, rounding="half-even")
    eight = compute(shape, factor, precision=19, rounding="half-even")
    return four + five + six""".splitlines()
MARKS = "sdbbfbbrbbbbbbbr"

marked = st.lists(
    st.tuples(st.sampled_from("sdrfcmb "), st.integers(0, 12), st.text("abc (){}", max_size=30)), max_size=60
)


@pytest.mark.feature("U3")
def test_structure_stays_verbatim_and_gaps_say_which_lines_they_stand_for() -> None:
    folded = fold(BODY, MARKS, first=100, cost=counter())
    assert folded.text.split("\n") == [
        "def area(shape, factor):",
        '    """The area of a shape."""',
        "    … 102-103",
        "    if one > two:",
        "        … 105-106",
        "        return three",
        "    … 108-114",
        "    return four + five + six",
    ]
    assert (folded.shown, folded.total, folded.whole) == (5, 16, False)


def test_a_body_that_fits_its_budget_is_left_whole() -> None:
    assert fold(BODY, MARKS, cost=len, budget=10_000).text == "\n".join(BODY)


@pytest.mark.feature("U3")
@pytest.mark.parametrize("budget", range(20, 700, 20))
def test_a_return_is_never_shown_without_the_condition_that_leads_to_it(budget: int) -> None:
    shown = fold(BODY, MARKS, cost=len, budget=budget).text
    assert "return three" not in shown or "if one > two:" in shown


def test_a_smaller_budget_gives_up_inner_returns_before_the_last_and_the_signature_at_the_end() -> None:
    assert "return three" not in fold(BODY, MARKS, cost=len, budget=130).text
    assert "return four" in fold(BODY, MARKS, cost=len, budget=130).text
    assert fold(BODY, MARKS, cost=len, budget=40).text.startswith("def area")
    assert fold(BODY, MARKS, cost=len, budget=1).text == ""


@given(marked, st.integers(0, 400))
def test_a_budget_is_never_exceeded_and_remaining_lines_are_verbatim_and_in_order(
    rows: list[tuple[str, int, str]], budget: int
) -> None:
    lines = [" " * indent + text for _, indent, text in rows]
    folded = fold(lines, "".join(mark for mark, _, _ in rows), cost=len, budget=budget)
    assert len(folded.text) <= budget
    left = iter(lines)
    assert all(any(line == other for other in left) for line in folded.text.split("\n") if "…" not in line and line)


@given(marked)
@pytest.mark.feature("U3")
def test_without_a_budget_signatures_first_documentation_and_returns_always_stay(
    rows: list[tuple[str, int, str]],
) -> None:
    lines = [" " * indent + f"{number}{text}" for number, (_, indent, text) in enumerate(rows)]
    shown = fold(lines, "".join(mark for mark, _, _ in rows), cost=counter()).text.split("\n")
    assert [line for line, row in zip(lines, rows, strict=True) if row[0] in "sdr" and line not in shown] == []


def test_code_without_a_grammar_is_marked_by_the_words_that_lines_start_with() -> None:
    assert guess(BODY) == MARKS
    assert (
        guess(["fun f() {", "  x()", "", "}"])
        == LineKind.SIGNATURE + LineKind.BODY + LineKind.BLANK + LineKind.CLOSER
    )
