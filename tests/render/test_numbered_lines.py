"""Numbered source: the form that edits refer to."""

from __future__ import annotations

import pytest

from laconic.edits.anchors import anchor
from laconic.records import Span
from laconic.render.numbered_lines import excerpts, header, number_lines


@pytest.mark.feature("P5")
def test_a_read_names_path_tag_and_lines() -> None:
    assert header("src/a.py", "4f2a91", 312) == "[src/a.py#4f2a91 312 lines]"
    assert header("a", "4f2a91", 1) == "[a#4f2a91 1 line]"
    assert number_lines(["def f():", "", "    pass"], 9) == "9\tdef f():\n\n11\t    pass"


def test_the_first_line_has_its_number_even_when_it_is_empty() -> None:
    assert number_lines(["", "", "x"], 4) == "4\t\n\n6\tx"


def test_anchors_stand_beside_the_numbers() -> None:
    assert number_lines(["x"], 7, anchor) == f"7:{anchor('x')}\tx"


def test_excerpts_merge_what_touches_and_stay_inside_the_file() -> None:
    lines = [f"l{i}" for i in range(1, 10)]
    assert excerpts(lines, [Span(8, 12), Span(1, 2), Span(3, 3)]) == "1\tl1\n2\tl2\n3\tl3\n...\n8\tl8\n9\tl9"
    assert excerpts([], [Span(1, 3)]) == ""
