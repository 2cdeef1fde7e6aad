"""Our section in somebody's notes: once, replaced in place, taken out without a trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clients.markdown_section import END, START, put, take


@given(st.text(st.sampled_from("ab#\n -"), max_size=40))
def test_notes_around_the_section_stay(text: str) -> None:
    within = put(text, "use laconic")
    assert within.count(START) == within.count(END) == 1
    assert put(within, "use laconic") == within
    assert take(within).strip() == text.strip()


@pytest.mark.feature("C12")
def test_a_section_that_was_copied_is_put_back_to_one() -> None:
    text = put("before", "old") + "\nbetween\n\n" + put("", "old") + "\nafter\n"
    within = put(text, "new")
    assert within.count(START) == 1
    assert "old" not in within
    assert all(word in within for word in ("before", "between", "after", "new"))
