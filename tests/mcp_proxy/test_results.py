"""What a caller needs stays in a shortened result, and what was left out comes back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from laconic.config import load
from laconic.mcp_proxy.recall import recall
from laconic.mcp_proxy.results import ResultReducer
from laconic.mcp_proxy.tool_lines import describe_tool
from laconic.tokens.count import counter

_LINES = [f"2026-11-01 00:{n // 60:02}:{n % 60:02} INFO [worker-{n % 4}] processed batch {n}" for n in range(1500)]
_LOG = "\n".join([*_LINES[:700], "2026-11-01 00:11:40 ERROR deadlock detected (pid 20417)", *_LINES[700:]])


@pytest.fixture
def reducer(tmp_path: Path) -> ResultReducer:
    return ResultReducer(load({"cache_dir": str(tmp_path)}, environ={}), counter(), "s")


def shorten(reducer: ResultReducer, *texts: str, tool: str = "tool", **more: Any) -> list[str]:
    content = [{"type": "text", "text": text} for text in texts]
    shortened = reducer.shorten(tool, {"content": content, **more})
    return [block["text"] for block in shortened["content"]]


def reference(text: str) -> str:
    found = re.search(r"recall (\w+)", text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("made", [json.dumps(_LOG), f"Execution result:\n{json.dumps(_LOG)}"])
def test_a_log_in_quotes_is_a_log(reducer: ResultReducer, made: str) -> None:
    view = shorten(reducer, made)[0]
    assert "deadlock detected (pid 20417)" in view
    assert counter()(view) < 600


def test_a_list_of_lines_is_read_like_a_text(reducer: ResultReducer) -> None:
    assert "deadlock detected (pid 20417)" in shorten(reducer, json.dumps(_LOG.split("\n")))[0]


@pytest.mark.parametrize("form", ["maps", "lists", "pairs"])
def test_the_one_row_that_differs_stays(reducer: ResultReducer, form: str) -> None:
    rows: list[Any] = []
    for number in range(600):
        status = "stuck" if number == 333 else ("done", "open")[number % 2]
        row: dict[str, Any] = {"id": number, "status": status, "owner": f"team-{number % 7}", "size": number * 37}
        rows.append({"maps": row, "lists": list(row.values()), "pairs": [f"k{number}", row]}[form])
    view = shorten(reducer, json.dumps(rows))[0]
    assert re.search(r"\b333\b.*stuck", view)
    assert re.search(r"\b0\b.*done", view)  # the first
    assert "600" in view


def test_a_column_that_one_row_has_is_not_hidden(reducer: ResultReducer) -> None:
    rows: list[dict[str, Any]] = [
        {"id": number, "name": f"job {number}", "took": number % 90} for number in range(500)
    ]
    rows[411]["note"] = "waits for approval"
    assert "waits for approval" in shorten(reducer, json.dumps(rows))[0]


def test_a_pattern_finds_its_place_in_a_line_of_any_length(reducer: ResultReducer) -> None:
    line = "a" * 40_000 + " needle-7 " + "b" * 40_000
    ref = reference(shorten(reducer, line)[0])
    found = recall(reducer, {"ref": ref, "grep": r"needle-\d"})
    assert "needle-7" in found
    assert len(found) < 1_000


def test_a_pattern_looks_at_what_a_path_selects(reducer: ResultReducer) -> None:
    value = {"pods": [{"name": f"pod-{n}", "state": "up"} for n in range(400)], "events": ["pod-9 seen"] * 400}
    ref = reference(shorten(reducer, json.dumps(value))[0])
    found = recall(reducer, {"ref": ref, "path": "pods", "grep": '"pod-9"'})
    assert "pod-9" in found
    assert "seen" not in found


def test_lines_behind_the_end_are_said_to_be_none(reducer: ResultReducer) -> None:
    ref = reference(shorten(reducer, _LOG)[0])
    assert f"{ref} has 1501 lines" in recall(reducer, {"ref": ref, "lines": "9000-9010"})


def test_a_pointer_says_that_not_all_was_shown(reducer: ResultReducer) -> None:
    shorten(reducer, _LOG)
    assert "which was shortened" in shorten(reducer, _LOG)[0]


def test_changes_are_told_only_against_what_was_shown_whole(reducer: ResultReducer) -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda"]
    pages = "\n".join(f"{words[n % 11]} {words[n * 7 % 11]} paragraph {n} of {words[n * 5 % 11]}" for n in range(900))
    shorten(reducer, pages, tool="read_pages")
    part = "\n".join(pages.split("\n")[300:380])
    view = shorten(reducer, part, tool="read_pages")[0]
    assert "lines gone" not in view
    assert "paragraph 300 " in view


def test_structured_content_that_holds_the_text_is_not_printed_twice(reducer: ResultReducer) -> None:
    guide = "\n".join(f"- step {n}: look at {n * 13} and write down what you saw there" for n in range(120))
    structured = {"uri": "guide://steps", "text": guide, "title": "Steps of the guide, one by one"}
    texts = shorten(reducer, guide, structuredContent=structured)
    assert sum("and write down what you saw" in text for text in texts) == 1
    assert "guide://steps" in texts[-1]


def test_what_an_sdk_wraps_in_a_name_is_not_added_to_the_same_text(reducer: ResultReducer) -> None:
    rows = [{"id": number, "page": f"<p>paragraph {number}</p>"} for number in range(60)]
    result = {"content": [{"type": "text", "text": json.dumps(rows)}], "structuredContent": {"result": rows}}
    assert reducer.shorten("read", result) == result  # it is short enough once


def test_a_caller_that_says_what_it_wants_gets_that(reducer: ResultReducer) -> None:
    rows = [{"id": 7000 + n, "owner": f"team-{n * 7919 % 613}", "note": "looked at " * (n % 9)} for n in range(2000)]
    result = {"content": [{"type": "text", "text": json.dumps(rows)}]}
    wanted = f"{rows[1203]['id']} | {rows[1203]['owner']} "
    plain = reducer.shorten("list", result)["content"][0]["text"]
    asked = reducer.shorten("list", result, f"Who owns {rows[1203]['id']}?")["content"][0]["text"]
    assert wanted not in plain
    assert wanted in asked
    assert counter()(asked) <= 4_000
    assert counter()(plain) <= 4_000


def test_the_only_argument_of_a_tool_is_named_although_it_is_not_required() -> None:
    tool = {"name": "query", "inputSchema": {"properties": {"sql": {"type": "string"}}}, "description": "Run SQL."}
    assert describe_tool("query", tool).startswith("query(sql?)")
