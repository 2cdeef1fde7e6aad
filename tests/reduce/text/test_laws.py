"""What holds for every text, whatever it is: never larger, never empty, never over, settled after one pass."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic.reduce.text import reduce_text
from laconic.tokens.count import counter

COST = counter()

_WORDS = st.sampled_from(
    [
        "alpha",
        "beta",
        "src/a.py",
        "error",
        "12",
        "0x7f3a",
        "héllo",
        "…",
        "failed",
        "ok",
        "[×3]",
        "\t",
        "  ",
        "{",
        "}",
        ":",
    ]
)
_LINES = st.one_of(
    st.sampled_from(
        [
            "", "Traceback (most recent call last):", '  File "a.py", line 3, in f', "    g()", "ValueError: bad",
            "=== RUN TestA", "--- PASS: TestA (0.00s)", "--- FAIL: TestB (0.00s)", "test_a.py::test_x PASSED [ 3%]",
            "src/a.ts(3,4): error TS2304: Cannot find name 'x'.", "a.py:3: error: Bad [misc]", "a/b.py:12:def f():",
            "2024-01-02 03:04:05 INFO started 17", "2024-01-02 03:04:06 ERROR broke 99", '{"a": 1, "b": [1, 2]}',
            "diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "-old", "+new", " same", "commit abcdef1",
            "-rw-r--r-- 1 u g 12 Jan  1 10:00 f", "./a/b/c.txt", "<html><body><p>hi</p>", "| a | b |", "… 3 lines",
            "[laconic: 3 of 9 lines]", "Downloading x-1.2.tar.gz", "\x1b[31mred\x1b[0m", "10%\r50%\r100%",
            'data: {"x": 1}',
        ]
    ),
    st.lists(_WORDS, max_size=8).map(" ".join),
    st.text(max_size=40),
)  # fmt: skip
_TEXTS = st.one_of(
    st.lists(_LINES, max_size=60).map("\n".join),
    st.tuples(_LINES, st.integers(1, 400)).map(lambda pair: "\n".join([pair[0]] * pair[1])),
    st.tuples(st.lists(_LINES, max_size=8), st.integers(1, 60)).map(lambda pair: "\n".join(pair[0] * pair[1])),
)


@given(_TEXTS)
def test_a_view_is_never_larger_and_never_empty(text: str) -> None:
    view = reduce_text(text, cost=COST, more="laconic recall 0a1b2c3d")
    assert len(view.text) <= len(text)
    assert COST(view.text) <= COST(text)
    assert bool(view.text.strip()) == bool(text.strip())


@given(_TEXTS, st.integers(1, 300))
def test_a_view_is_never_over_its_budget(text: str, budget: int) -> None:
    """Except that what says how to get the rest stays, whatever it costs."""
    view = reduce_text(text, cost=COST, budget=budget, more="laconic recall 0a1b2c3d")
    last = view.text.split("\n")[-1]
    assert COST(view.text) <= max(
        budget, COST(f"[laconic: 0 of {view.total_lines:,} lines; laconic recall 0a1b2c3d]")
    )
    assert bool(view.text.strip()) == bool(text.strip())
    assert view.lossless or "[laconic: " in text or last.endswith("; laconic recall 0a1b2c3d]")


@given(st.integers(1, 40), st.integers(1, 400))
def test_blank_lines_are_not_called_shown(paragraphs: int, budget: int) -> None:
    text = "\n\n".join(f"Paragraph {n} says that {'very ' * (n % 9)}little happened." for n in range(paragraphs))
    view = reduce_text(text, cost=COST, budget=budget)
    if match := re.fullmatch(r"\[laconic: (\d+) of \d+ lines\]", view.text.split("\n")[-1]):
        assert int(match[1]) == len(re.findall("^Par", view.text, re.MULTILINE))


@given(_TEXTS)
def test_a_second_pass_changes_little_and_keeps_what_was_said_to_be_missing(text: str) -> None:
    first = reduce_text(text, cost=COST)
    second = reduce_text(first.text, cost=COST)
    assert len(second.text) <= len(first.text)
    if first.text.split("\n")[-1].startswith("[laconic: "):
        assert second.text == first.text


@given(_TEXTS, st.integers(20, 200))
def test_a_smaller_budget_on_a_reduced_text_still_counts_the_lines_of_the_first(text: str, budget: int) -> None:
    first = reduce_text(text, cost=COST)
    again = reduce_text(first.text, cost=COST, budget=budget)
    if footer := re.search(r"\[laconic: [\d,]+ of ([\d,]+) lines", first.text.split("\n")[-1]):
        assert again.total_lines >= int(footer[1].replace(",", ""))


@pytest.mark.feature("U8")
@given(st.lists(st.integers(0, 10**6), min_size=300, max_size=600))
@settings(max_examples=10)
def test_whatever_is_cut_says_how_much_and_how_to_get_it(numbers: list[int]) -> None:
    lines = [f"2024-05-06 07:08:{n % 60:02} INFO worker finished job {n} in {n % 7} ms" for n in numbers]
    view = reduce_text("\n".join(lines), cost=COST, more="laconic recall 0a1b2c3d")
    assert not view.lossless
    assert re.search(rf"\[laconic: [\d,]+ of {len(lines)} lines; laconic recall 0a1b2c3d\]$", view.text)


@pytest.mark.parametrize("text", ["", "\n", "   \n\t\n"])
def test_nothing_stays_nothing(text: str) -> None:
    assert reduce_text(text, cost=COST).text == text


def test_lines_of_numbers_and_ids_are_sampled_not_called_repeats() -> None:
    """Each such line says something else: both ends stay, and nothing claims that they are the same."""
    text = "\n".join(str(number) for number in range(300))
    short = reduce_text(text, cost=COST).text
    assert short.startswith("0\n1\n2\n")
    assert "\n299\n" in short
    assert "×" not in short
