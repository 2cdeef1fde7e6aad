"""Pipelines: steps over answers of tools, bounded, with the step that failed in the error."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_proxy.stage import definition, relaying

from laconic.mcp_proxy.pipeline import read_result


def play(folder: Path, steps: object, **settings: object) -> tuple[str, bool]:
    async def work() -> tuple[str, bool]:
        async with relaying(folder, definition("a"), settings=settings) as client:
            result = await client.call("pipeline", steps=steps)
            return str(result["content"][0]["text"]), bool(result.get("isError"))

    return asyncio.run(work())


ROWS = {"call": "rows", "arguments": {"table": "30"}, "as": "r"}


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([{"count": "$r.rows"}], 30),
        ([{"count": "$r.rows", "by": "state"}], {"open": 20, "closed": 10}),
        (
            [{"filter": "$r.rows", "where": {"size": {">": 190}}, "as": "f"}, {"select": "$f", "fields": "id"}],
            ["a-0028", "a-0029"],
        ),
        (
            [
                {"filter": "$r", "where": {"owner": ["user1"], "state": "closed"}, "as": "f"},
                {"sum": "$f", "by": "size"},
            ],
            189.0,
        ),
        (
            [
                {"sort": "$r", "by": "size", "desc": True, "as": "s"},
                {"limit": "$s", "to": 1, "as": "l"},
                {"select": "$l", "fields": ["id"]},
            ],
            [{"id": "a-0029"}],
        ),
        ([{"unique": "$r", "by": "owner", "as": "u"}, {"count": "$u"}], 5),
        (
            [
                {"limit": "$r", "to": 2, "as": "l"},
                {"join": ["$l", "$r.rows"], "on": "id", "as": "j"},
                {"count": "$j"},
            ],
            2,
        ),
        (
            [
                {"limit": "$r", "to": 2, "as": "l"},
                {"call": "rows", "each": "$l", "arguments": {"table": "3"}, "as": "e"},
                {"count": "$e"},
            ],
            2,
        ),
    ],
)
def test_steps_select_filter_join_and_count(tmp_path: Path, steps: list[dict[str, Any]], wanted: object) -> None:
    text, failed = play(tmp_path, [ROWS, *steps])
    assert not failed
    assert json.loads(text) == wanted


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (
            [ROWS, {"filter": "$r.rows", "where": {"colour": 1}}],
            "Step 2 (filter '$r.rows') failed: No row has `colour`",
        ),
        ([ROWS, {"count": "$nothing"}], "There is no value '$nothing'"),
        ([{"call": "echo", "arguments": {"text": "x"}}], "is not marked as read-only"),
        ([{"call": "fail", "arguments": {"how": "result"}}], "code 17"),
        ([{"call": "nowhere"}], "No tool named 'nowhere'"),
        ([{"dance": 1}], "It has dance, but no operation"),
        ([ROWS, {"sort": "$r.rows", "by": "colour"}], "No row has `colour`"),
        ([ROWS, {"count": "$r.rows", "by": "colour"}], "Step 2 (count '$r.rows') failed: No row has `colour`"),
        ([ROWS, {"unique": "$r.rows", "by": "colour"}], "No row has `colour`"),
        ([ROWS, {"select": "$r.rows", "fields": "colour"}], "No row has `colour`"),
        ([ROWS, {"join": ["$r.rows", "$r.rows"], "on": "colour"}], "No row has `colour`"),
        ([ROWS, {"limit": "$r.rows", "to": "ten"}], "`to` is ten, which is not a count"),
        ([ROWS, {"limit": "$r.rows", "to": -3}], "which is not a count"),
        ([{"call": "state", "each": [str(number) for number in range(61)]}], "`each` has 61 items"),
        ([{"call": "fail", "each": ["a"], "arguments": {"how": "result"}}], "(for a)"),
        ([ROWS] * 21, "21 steps are too many"),
        ("text", "list of steps"),
        (
            [
                ROWS,
                {"call": "state", "each": "$r.rows", "as": "x"},
                {"call": "state", "each": "$r.rows"},
                {"call": "state", "each": "$r.rows"},
            ],
            "More than 60 calls",
        ),
    ],
)
def test_an_error_names_its_step(tmp_path: Path, steps: object, said: str) -> None:
    text, failed = play(tmp_path, steps)
    assert failed
    assert said in text


def test_steps_may_come_as_a_text_and_each_goes_over_lines(tmp_path: Path) -> None:
    steps = [{"call": "only_a", "each": "a\n\nb", "as": "e"}, {"select": "$e", "fields": ["item", "result"]}]
    wanted = [{"item": "a", "result": "a"}, {"item": "b", "result": "a"}]
    assert json.loads(play(tmp_path, json.dumps(steps))[0]) == wanted


def test_rows_that_python_printed_are_rows() -> None:
    text = "[{'id': 1, 'name': \"O'Hara\", 'gone': None}]"
    assert read_result({"content": [{"type": "text", "text": text}]}) == [{"id": 1, "name": "O'Hara", "gone": None}]


def test_the_user_may_allow_more_tools(tmp_path: Path) -> None:
    steps = [{"call": "echo", "arguments": {"text": "x"}}]
    assert play(tmp_path, steps, **{"around.pipeline_allow": "ec*"}) == ("a heard x", False)
