"""Long lists come in pages: bounded, with the true total, each hit on exactly one page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import load
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

MANY = 260


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[ToolRuntime]:
    root = shop(tmp_path)
    handlers = (f"def handler_{number:03}():\n    return {number}\n\n" for number in range(MANY))
    (root / "many.py").write_text("".join(handlers))
    opened = ToolRuntime(
        root, load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none"), tools()
    )
    yield opened
    opened.close()


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"handler_\d+", text.split("\n[", maxsplit=1)[0])))


@pytest.mark.feature("J3")
def test_a_page_has_at_most_100_hits_whatever_is_asked_for(runtime: ToolRuntime) -> None:
    reply = runtime.call("search", {"query": "handler_", "limit": 5000, "budget": 10_000})
    assert len(_names(reply.text)) == 100
    assert f"[100 of {MANY} hits; more: search('handler_', limit=5000, budget=10000, offset=100)]" in reply.text


@pytest.mark.feature("J3", "U8")
@pytest.mark.parametrize("query", ["handler_", "/def handler_/"])
def test_pages_together_are_all_hits_and_no_hit_is_on_two(runtime: ToolRuntime, query: str) -> None:
    seen: list[str] = []
    for offset in range(0, MANY, 100):
        text = runtime.call("search", {"query": query, "limit": 100, "offset": offset, "budget": 10_000}).text
        seen += _names(text)
        last = offset + 100 >= MANY
        assert last or f"{f'{offset + 1}-{offset + 100}' if offset else 100} of {MANY} hits" in text
    assert sorted(seen) == [f"handler_{number:03}" for number in range(MANY)]


@pytest.mark.feature("J3", "C5")
def test_the_total_is_said_in_json_too(runtime: ToolRuntime) -> None:
    first = json.loads(runtime.call("search", {"query": "handler_", "limit": 5, "format": "json"}).text)
    later = json.loads(runtime.call("search", {"query": "handler_", "limit": 5, "offset": 10, "format": "json"}).text)
    assert (first["shown"], first["total"], first["kind"]) == (5, MANY, "search_hits")
    assert (later["shown"], later["total"]) == (5, MANY)
    assert first["budget_used"] <= first["budget_limit"]


@pytest.mark.feature("J3")
def test_a_page_beyond_the_last_says_where_the_last_ends(runtime: ToolRuntime) -> None:
    text = runtime.call("search", {"query": "handler_", "offset": 900}).text
    assert f"end at {MANY}" in text


@pytest.mark.feature("J3")
def test_a_hit_is_one_line_however_long_its_line_is(runtime: ToolRuntime) -> None:
    (runtime.root / "wide.py").write_text(f"needle = '{'x' * 5_000}'\n")
    text = runtime.call("search", {"query": "/needle = /"}).text
    assert len(text.splitlines()) == 2
    assert len(text) < 400
