"""Figures in aligned columns."""

from __future__ import annotations

import pytest

from laconic.render.table import Cell, format_cell, format_table


def test_columns_come_in_order_of_first_appearance_and_are_aligned() -> None:
    rows: list[dict[str, Cell]] = [{"name": "a", "tokens": 12}, {"name": "longer", "ms": 0.5}]
    assert format_table(rows) == "name    tokens  ms\na       12\nlonger          0.5"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), ("word", "word"), (12345, "12345"), (0.00001, "0"), (0.123456, "0.1235"), (1234567.8, "1234568")],
)
def test_a_figure_has_four_digits_and_no_powers_of_ten(value: Cell, text: str) -> None:
    assert format_cell(value) == text
