"""Carrying lines over to a newer version: the laws."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.edits.align import NOWHERE, carry

# Few different lines, so that look-alikes are the rule and not the exception.
LINE = st.sampled_from(["a", "b", "c", "d", "    a", "", "}", "return x"])
LINES = st.lists(LINE, max_size=14)
FRESH = st.lists(st.sampled_from(["NEW1", "NEW2", "NEW3"]), max_size=4)


@given(LINES, LINES)
def test_a_carried_line_is_unchanged_and_order_is_kept(old: list[str], new: list[str]) -> None:
    carried = carry(old, new)
    assert all(new[j] == old[i] for i, j in enumerate(carried) if j != NOWHERE)
    kept = [j for j in carried if j != NOWHERE]
    assert all(a < b for a, b in pairwise(kept))


@given(LINES)
def test_an_unchanged_file_carries_every_line(lines: list[str]) -> None:
    assert carry(lines, lines) == list(range(len(lines)))


@pytest.mark.feature("P5")
@given(LINES, LINES, LINES, LINES)
def test_after_one_change_a_line_is_carried_to_where_it_went_or_nowhere(
    above: list[str], gone: list[str], come: list[str], below: list[str]
) -> None:
    """Whatever was replaced by whatever, look-alikes included."""
    carried = carry([*above, *gone, *below], [*above, *come, *below])
    shift = len(come) - len(gone)
    for i in range(len(above)):
        assert carried[i] in {i, NOWHERE}
    for i in range(len(above) + len(gone), len(carried)):
        assert carried[i] in {i + shift, NOWHERE}


@pytest.mark.feature("P5")
@given(LINES, LINES.filter(bool), LINES)
def test_a_deleted_line_is_carried_nowhere(above: list[str], gone: list[str], below: list[str]) -> None:
    """Not even when an equal line stands next to it."""
    carried = carry([*above, *gone, *below], [*above, *below])
    assert set(carried[len(above) : len(above) + len(gone)]) == {NOWHERE}


@pytest.mark.feature("P5")
@given(LINES, LINES, FRESH.filter(bool), LINES)
def test_text_that_was_not_there_before_hides_nothing_around_it(
    above: list[str], gone: list[str], come: list[str], below: list[str]
) -> None:
    carried = carry([*above, *gone, *below], [*above, *come, *below])
    assert carried[: len(above)] == list(range(len(above)))
    assert carried[len(above) + len(gone) :] == list(
        range(len(above) + len(come), len(above) + len(come) + len(below))
    )


def test_a_line_that_moved_past_another_is_in_doubt() -> None:
    old, new = ["head", "moved", "other", "tail"], ["head", "other", "moved", "tail"]
    assert carry(old, new) == [0, NOWHERE, NOWHERE, 3]


def test_lines_between_two_changes_are_found_by_what_is_unique_there() -> None:
    old = ["one", "x = 1", "", "two", "x = 2", "}", "end"]
    new = ["first", "x = 1", "", "second", "more", "x = 2", "}", "stop"]
    assert carry(old, new) == [NOWHERE, 1, 2, NOWHERE, 5, 6, NOWHERE]


def test_a_large_file_with_many_changes_takes_no_quadratic_time() -> None:
    """A hundred thousand equal lines around scattered changes end within the time of the suite."""
    old = ["same"] * 50_000 + ["middle"] + ["same"] * 50_000
    new = ["same"] * 49_000 + ["middle"] + ["same"] * 50_000
    assert carry(old, new)[50_000] == 49_000
