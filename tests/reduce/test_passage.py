"""Texts of tools as rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from laconic.records import FoldedRows
from laconic.reduce.passage import leave_out_rows, passage


def test_a_numbered_listing_gives_its_numbers_and_verbatim_lines() -> None:
    found = passage("     9→def f():\n    10→    return 1\n    11→\n    12→x\n\nnote")
    assert found.numbers == (9, 10, 11, 12, -1, -1)
    assert found.lines == ("def f():", "    return 1", "", "x", "", "note")


def test_a_table_of_figures_is_no_listing() -> None:
    assert passage("3\tapples\n17\tpears\n4\tplums\n9\tfigs").numbers == ()


def test_a_search_listing_gives_files_numbers_and_which_rows_were_found() -> None:
    found = passage("a/b.go:3:func F() {\na/b.go-4-\treturn\n--\nc.go:9:F()\nc.go:12:F()")
    assert found.heads == ("a/b.go", "a/b.go", "", "c.go", "c.go")
    assert found.numbers == (3, 4, -1, 9, 12)
    assert found.hits == {0, 3, 4}
    assert found.lines[1] == "\treturn"


def test_a_file_keeps_one_name_where_the_lines_around_a_hit_print_its_whole_path() -> None:
    text = "pkg/a.go:3:func F() {\n/home/me/pkg/a.go-4-\treturn\n/home/me/pkg/a.go-5-}\npkg/a.go:6:func G() {"
    assert passage(text).heads == ("pkg/a.go",) * 4


def test_files_of_the_same_name_stay_apart() -> None:
    text = "a.go:3:func F() {\n/x/a.go-4-\treturn\n--\n/y/a.go-9-}\n/y/b.go:10:F()\n/y/a.go:12:F()"
    assert passage(text).heads == ("a.go", "a.go", "", "/y/a.go", "/y/b.go", "/y/a.go")


@given(st.text())
def test_every_line_of_a_text_is_one_row(text: str) -> None:
    assert len(passage(text)) == text.count("\n") + 1


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_leaving_out_in_two_steps_is_leaving_out_at_once(first: set[int], second: set[int]) -> None:
    assert leave_out_rows(leave_out_rows((), first), second) == leave_out_rows((), first | second)


def test_a_pointer_keeps_the_rows_that_stay() -> None:
    runs = leave_out_rows((FoldedRows(2, 9, "source", 40, "as above"),), [4, 5])
    assert runs == (
        FoldedRows(2, 3, "source", 40, "as above"),
        FoldedRows(4, 5),
        FoldedRows(6, 9, "source", 44, "as above"),
    )
