"""Rows in forms of their own become JSON; anything else stays."""

from __future__ import annotations

import json

import pytest

from laconic.reduce.foreign_rows import rows_as_json

LOG = (
    "Commit history:\nCommit: a1\nMessage: One\n\nTwo: 2\n\nCommit: b2\nMessage: Next\n\nCommit: c3\nMessage: Last\n"
)


def test_blocks_of_keys_become_rows() -> None:
    rows = json.loads(rows_as_json(LOG))
    assert [row["Commit"] for row in rows] == ["a1", "b2", "c3"]
    assert rows[0]["Message"] == "One\nTwo: 2"


def test_pythons_lists_of_maps_become_rows() -> None:
    rows = [{"id": number, "name": "é'\"", "none": None} for number in range(4)]
    assert json.loads(rows_as_json(str(rows))) == rows


@pytest.mark.parametrize(
    "text", ["", "a\n\nb\n\nc", "Key: one\n\nKey: two", '[{"a": 1}]', "[{'a': open('x')}, 1, 2]", "[{", "x: y\n" * 50]
)
def test_other_texts_stay(text: str) -> None:
    assert rows_as_json(text) == ""
