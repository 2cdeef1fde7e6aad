"""A pattern finds records of a document, not lines of its print."""

from __future__ import annotations

import json

import pytest

from laconic.reduce.json_path import select_path
from laconic.reduce.matching_records import find_records

_JOBS = {
    "count": 40,
    "jobs": [{"id": 700 + n, "state": ("done", "open")[n % 2], "owner": {"team": f"t{n}"}} for n in range(40)],
}


@pytest.mark.parametrize("pattern", ["^id: 717$", "717", "t17", r"team: T17"])
def test_a_pattern_finds_the_whole_record(pattern: str) -> None:
    ((path, text),) = find_records(_JOBS, pattern, 3)
    assert json.loads(text) == {"id": 717, "state": "open", "owner": {"team": "t17"}}
    assert select_path(_JOBS, path) == json.loads(text)


def test_a_value_outside_of_lists_is_its_own_record() -> None:
    assert find_records(_JOBS, "count", 3) == [("count", "40")]


def test_of_long_texts_only_what_is_around_the_match_is_given() -> None:
    report = {"rows": [{"id": 1, "log": "a " * 4_000 + "needle 7 " + "b " * 4_000, "note": "short"}]}
    ((_, text),) = find_records(report, "needle", 3)
    assert "needle 7" in text
    assert "short" in text
    assert len(text) < 1_000


def test_names_with_dots_and_spaces_stay_paths() -> None:
    document = {"a.b": {"c d": [{"x": "here"}]}}
    ((path, _),) = find_records(document, "here", 3)
    assert select_path(document, path) == {"x": "here"}
