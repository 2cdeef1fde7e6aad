"""Laws that hold for every call of the code plane, whatever it asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.samples import shop

from laconic.config import Settings
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.hostile import hostile_calls, lay_out
from laconic_benchmarks.laws import budget_law, hostile_law


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(shop(tmp_path), settings, tools())
    opened.index.build()
    yield opened
    opened.close()


@pytest.mark.feature("C7")
@pytest.mark.parametrize("seed", range(3))
def test_no_answer_is_over_its_budget_and_json_stays_json(runtime: ToolRuntime, seed: int) -> None:
    assert not [problem for problem in budget_law(runtime, Random(seed), 44) if problem]


def test_hostile_calls_read_nothing_outside_and_get_an_answer(tmp_path: Path, settings: Settings) -> None:
    trapped = ToolRuntime(lay_out(tmp_path / "around"), settings, tools())
    some = [call for number, call in enumerate(hostile_calls()) if number % 5 == 0]
    found, _ = hostile_law(trapped, some)
    trapped.close()
    assert not [problem for problem in found if problem]


def test_an_error_is_json_where_json_was_asked_for_and_within_the_budget(runtime: ToolRuntime) -> None:
    reply = runtime.call("inspect", {"symbol": "nowhere" * 200, "format": "json", "budget": 60})
    assert reply.failed
    assert "nowhere" in json.loads(reply.text)["error"]
    assert runtime.count(reply.text) <= 60


@pytest.mark.parametrize("pattern", ["a{99999999}", "(" * 500 + ")" * 500, "x" * 20_000])
def test_a_pattern_that_needs_too_much_is_refused_before_it_is_compiled(runtime: ToolRuntime, pattern: str) -> None:
    reply = runtime.call("search", {"query": f"/{pattern}/"})
    assert reply.failed
    assert "simplify it" in reply.text


def test_a_patch_outside_the_workspace_is_not_read(runtime: ToolRuntime, tmp_path: Path) -> None:
    (tmp_path / "outside.patch").write_text("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+hidden\n", "utf-8")
    reply = runtime.call("diff", {"states": "../outside.patch", "view": "hunks"})
    assert reply.failed
    assert "hidden" not in reply.text
