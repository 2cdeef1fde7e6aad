"""Calls as agents guessed them for other servers: each works, or its answer says how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import Settings
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

MONEY = '"""Prices and sums of them."""'


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    opened = ToolRuntime(shop(tmp_path), settings, tools())
    opened.index.build()
    yield opened
    opened.close()


@pytest.mark.feature("C11")
@pytest.mark.parametrize(
    ("tool", "given", "wanted"),
    [
        ("write_source", {"edits": [{"path": "new/a.py", "new_content": "x = 1\n", "create": True}]}, "new/a.py"),
        ("write_source", {"edits": [{"path": "new/a.py", "action": "create", "new_content": "x = 1\n"}]}, "new/a.py"),
        ("write_source", {"edits": [{"action": "create", "new_content": "# Why\n", "path": "NOTE.md"}]}, "NOTE.md"),
        ("write_source", {"edits": [{"path": "new/cache.py", "new_content": "x = 1\n"}]}, "new/cache.py"),
        (
            "write_source",
            {
                "edits": [
                    {
                        "action": "update",
                        "path": "shop/money.py",
                        "start_line": 1,
                        "end_line": 1,
                        "expected_file_sha256": "b1" * 32,
                        "expected_content": MONEY,
                        "content": '"""Money."""',
                    }
                ]
            },
            "shop/money.py",
        ),
        ("git_diff", {"ref": "HEAD"}, "nothing changed"),
        ("read_source", {"files": ["shop/money.py"]}, "def total"),
        ("git_diff", {"count": 3}, "left aside: count"),
    ],
    ids=["flag", "action", "action-first", "neither", "update", "diff-ref", "read", "diff-count"],
)
def test_calls_that_another_server_rejected_work(
    runtime: ToolRuntime, tool: str, given: dict[str, object], wanted: str
) -> None:
    reply = runtime.call(tool, given)
    assert not reply.failed, reply.text
    assert wanted in reply.text


@pytest.mark.feature("C11")
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("git_log", {"count": 3}),
        ("git_log", {"max_count": 6}),
        ("git_history", {"count": 3}),
        ("git_history", {"limit": 6}),
        ("git_stage_and_commit", {"files": ["shop/money.py"], "message": "Change"}),
    ],
)
def test_a_tool_that_we_do_not_have_names_the_nearest_with_a_call_that_works(
    runtime: ToolRuntime, tool: str, given: dict[str, object]
) -> None:
    reply = runtime.call(tool, given)
    assert reply.failed
    assert "Nearest: diff." in reply.text
    assert "run git itself" in reply.text
    assert 'diff(states="main..topic")' in reply.text


def test_an_expected_text_that_is_not_there_is_refused_with_the_fresh_lines(runtime: ToolRuntime) -> None:
    wrong = {"path": "shop/money.py", "start_line": 1, "expected_content": "something else", "content": "x"}
    reply = runtime.call("write_source", {"edits": [{"action": "update", **wrong}]})
    assert reply.failed
    assert "Nothing was written" in reply.text
    assert (runtime.root / "shop/money.py").read_text("utf-8").startswith(MONEY)


@pytest.mark.feature("C11")
def test_an_edit_that_is_written_out_as_arguments_is_one_edit(runtime: ToolRuntime) -> None:
    first = MONEY.splitlines()[0]
    given = {"path": "shop/money.py", "old_string": first, "new_string": f"# new\n{first}"}
    assert not runtime.call("edit", given).failed
    assert (runtime.root / "shop/money.py").read_text("utf-8").startswith(f"# new\n{MONEY}")
    assert "There are no edits" in runtime.call("edit", {"dry_run": True}).text


@pytest.mark.feature("C11")
def test_a_trace_from_one_symbol_to_another_starts_at_the_first(runtime: ToolRuntime) -> None:
    reply = runtime.call("trace", {"from": "total", "to": "total"})
    assert "should be a number" not in reply.text
    assert "total" in reply.text
