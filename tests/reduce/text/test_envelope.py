"""An output inside a JSON object is read as the output that it is."""

from __future__ import annotations

import json

import pytest

from laconic.reduce.text import reduce_text
from laconic.tokens.count import counter

COST = counter()
_CODE = "\n".join(f"def price_{n}(order): return order.total_{n} * {n * 7919 % 977}" for n in range(400))


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, {"metadata": {"exit_code": 0, "duration_seconds": 0.1}}), ({"exit_code": 1}, {"stderr": ""}), ({}, {})],
)
def test_a_file_in_an_object_is_shown_whole(before: dict[str, object], after: dict[str, object]) -> None:
    view = reduce_text(json.dumps({**before, "output": _CODE, **after}), cost=COST)
    assert view.kind == "code"
    assert view.lossless
    for shown in (*_CODE.split("\n"), *before, *after):
        assert shown in view.text


def test_a_log_in_an_object_is_shortened_as_a_log_and_counts_its_lines() -> None:
    lines = [f"2026-01-01 10:00:{n % 60:02} INFO request {n} answered" for n in range(3_000)]
    lines[1_234] = "2026-01-01 10:20:34 ERROR request 1234 refused: disk full"
    view = reduce_text(json.dumps({"stdout": "\n".join(lines), "exit_code": 0}), cost=COST)
    assert view.kind == "log"
    assert view.total_lines == 3_002
    assert "disk full" in view.text
    assert "exit_code: 0" in view.text


@pytest.mark.parametrize("value", [{"a": "one\ntwo", "b": "x" * 900}, {"a": "one line " * 90}, ["one\ntwo" * 90]])
def test_other_json_stays_json(value: object) -> None:
    assert reduce_text(json.dumps(value), cost=COST).kind == "json"
