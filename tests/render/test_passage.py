"""Rows for a model."""

from __future__ import annotations

from laconic.conversation.replay import lines_of
from laconic.records import FoldedRows
from laconic.reduce.passage import passage
from laconic.render.passage import passage_text

LISTING = "\n".join(f"{number:>6}→\tline {number} of code" for number in range(8, 32))


def test_a_listing_shows_its_first_number_and_every_tenth() -> None:
    rows = passage_text(passage(LISTING)).split("\n")
    assert rows[0] == "8\t\tline 8 of code"
    assert rows[1] == "\tline 9 of code"
    assert rows[2] == "10\t\tline 10 of code"
    assert [row for row in rows if row[0].isdigit()] == [rows[0], rows[2], rows[12], rows[22]]


def test_every_line_of_a_listing_stays_verbatim() -> None:
    assert lines_of(passage_text(passage(LISTING))) == lines_of(LISTING)


def test_a_line_that_looks_numbered_keeps_its_own_number() -> None:
    text = "     1→a = 1\n     2→3: three of them\n     3→c = 3"
    assert passage_text(passage(text)).split("\n")[1] == "2\t3: three of them"


def test_a_line_that_begins_with_a_colon_keeps_it_apart_from_its_number() -> None:
    text = '     9→x = a\n    10→    : names.map((name) => {\n    11→    | "other"'
    shown = passage_text(passage(text))
    assert shown.split("\n")[1] == "10→    : names.map((name) => {"
    assert lines_of(shown) == lines_of(text)


def test_a_search_listing_names_each_file_once() -> None:
    text = "src/a.go:3:func F() {\nsrc/a.go-4-\treturn nil\nsrc/b.go:9:F()"
    assert passage_text(passage(text)) == "src/a.go\n3:func F() {\n\treturn nil\nsrc/b.go\n9:F()"


def test_rows_that_are_not_shown_become_one_line_with_their_numbers() -> None:
    rows = passage_text(passage(LISTING), [FoldedRows(2, 4), FoldedRows(6, 8, "key", 0, "as above")], "[note]").split(
        "\n"
    )
    assert rows[2] == "[… 10-12]"
    assert rows[3] == "13\t\tline 13 of code"
    assert rows[4] == "[14-16: as above]"
    assert rows[5] == "17\t\tline 17 of code"
    assert rows[-1] == "[note]"


def test_plain_text_is_left_as_it_is() -> None:
    text = "one\n\n  two\n3 apples"
    assert passage_text(passage(text)) == text
