"""What an answer prints to go on works in a shell as it is printed, and brings what was not shown."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from tests.samples import shop

from laconic.config import load
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.continuations import follow_continuations, judge


@pytest.mark.feature("C7", "U8")
@pytest.mark.parametrize("seed", range(2))
def test_printed_continuations_run_in_a_shell_and_advance(tmp_path: Path, seed: int) -> None:
    root = shop(tmp_path)
    for number in range(30):
        names = "".join(f"def handle_{number}_{at}(order):\n    return order + {at}\n\n" for at in range(12))
        (root / f"handlers_{number}.py").write_text(names)
    found = follow_continuations(root, tmp_path / "cache", Random(seed), 10)
    assert len(found) == 10
    assert not [problem for problem in found if problem]


_WIDE = "x" * 200


def read_numbers(command: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in re.findall(r"\b(budget|offset)=(\d+)", command):
        found[name] = int(value)
    return found


@pytest.mark.feature("C7")
@pytest.mark.parametrize("budget", [50, 55, 60, 75, 100, 200])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search", {"query": "handle"}),
        ("search", {"query": "total", "in": "refs"}),
        ("inspect", {"symbol": ["handle_1_1", "handle_2_1"]}),
        ("map", {}),
        ("read", {"targets": ["handlers_0.py"]}),
        ("trace", {"symbol": "handle_0_0"}),
    ],
)
def test_whoever_follows_continuations_of_a_compact_budget_misses_nothing(
    tmp_path: Path, tool: str, given: dict[str, object], budget: int
) -> None:
    root = shop(tmp_path)
    for number in range(3):
        names = "".join(f"def handle_{number}_{at}(order):\n    return '{_WIDE}'\n\n" for at in range(8))
        folder = root / f"a_folder_with_a_long_name_{number}" / "and_another_one_below_it"
        folder.mkdir(parents=True)
        (folder / f"handlers_{number}.py").write_text(names)
        (root / f"handlers_{number}.py").write_text(names)
    settings = load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none")
    runtime = ToolRuntime(root, settings, tools())
    try:
        runtime.index.build()
        whole = runtime.call(tool, {**given, "budget": 10_000, "again": True}).text
        assert "more: " not in whole
        seen: set[str] = set()
        asked: dict[str, int] = {"budget": budget}
        for _ in range(400):
            page = runtime.call(tool, {**given, **asked, "again": True}).text
            if "there is no room" not in page:
                seen.update(page.splitlines())
            following = read_numbers(page.rpartition("more: ")[2])
            if "more: " not in page or not following:
                break
            if target := re.search(r"more: read\('([^']+)'", page):
                given = {"targets": [target[1]]}
            else:
                assert asked.get("offset", 0) < following.get("offset", 0) or asked["budget"] < following["budget"]
            asked = {"budget": budget, **following}
        missed = []
        for line in whole.splitlines():
            if "handle_" in line and line.split()[0].isdigit() and line not in seen:
                missed.append(line)
        assert not missed
    finally:
        runtime.close()


def test_a_page_that_repeats_or_leaves_a_gap_is_found_out() -> None:
    first = "a.py\n1 one\n[1 of 3 hits; more: laconic search x --offset=1]\n"
    assert "the same page" in judge(first, first, "laconic search x --offset=1")
    assert "is followed by 3-3" in judge(first, "a.py\n3 three\n[3-3 of 3 hits]\n", "laconic search x --offset=1")
    assert judge(first, "a.py\n2 two\n3 three\n", "laconic search x --offset=1") == ""


def test_a_page_that_skips_what_was_cut_or_widens_in_vain_is_found_out() -> None:
    cut = "a.py\n[cut]\n[1 of 3 hits; more: laconic search x --offset=1]\n"
    assert "is skipped" in judge(cut, "a.py\n2 two\n3 three\n", "laconic search x --offset=1")
    narrow = "a.py\n[cut]\n[there is no room for all of this; more: laconic search x --budget=80]\n"
    again = "a.py\n1\n[cut]\n[there is no room for all of this; more: laconic search x --budget=120]\n"
    assert "still no room" in judge(narrow, again, "laconic search x --budget=80")
    assert judge(narrow, "a.py\n1 one\n[1 of 3 hits; more: laconic search x]\n", "laconic search x --budget=80") == ""
