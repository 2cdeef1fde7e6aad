"""Paths into JSON, and what is said where one leads nowhere."""

from __future__ import annotations

import pytest

from laconic.errors import UsageError
from laconic.reduce.json_path import select_path

VALUE = {"items": [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["c"]}, {"name": "x"}], "a key": {"n": 7}}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("items[0].id", 1),
        ("$.items[-1].name", "x"),
        ("items[*].id", [1, 2]),
        ("items[*].tags[*]", ["a", "b", "c"]),
        ("items[0:2].id", [1, 2]),
        ('["a key"].n', 7),
        ("a key.n", 7),
        ("", VALUE),
    ],
)
def test_a_path_leads_to_its_value(path: str, found: object) -> None:
    assert select_path(VALUE, path) == found


@pytest.mark.parametrize(
    ("path", "said"), [("items[9]", "list of 3"), ("nothing", "items, a key"), ("items[*].no", "id")]
)
def test_a_path_that_leads_nowhere_says_what_is_there(path: str, said: str) -> None:
    with pytest.raises(UsageError, match="leads nowhere") as failed:
        select_path(VALUE, path)
    assert said in str(failed.value)
