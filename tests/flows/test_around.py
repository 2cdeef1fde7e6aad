"""Claude Code with its own servers moved behind us: calls, a long result, `recall`, and everything back as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.flows.scripts import Step
from tests.flows.stage import UPSTREAM, Stage, installed
from tests.samples import shop

pytestmark = pytest.mark.flow

QUIET = {
    "ANTHROPIC_API_KEY": "k",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_TOOL_SEARCH": "false",  # then we list tools in a line each
    "ANTHROPIC_BASE_URL": UPSTREAM,
}
ENTITY = {"name": "checkout", "entityType": "function", "observations": ["it adds up prices"]}


def _written(project: Path) -> bytes:
    """A project's servers as somebody writes them by hand."""
    bin_ = installed("@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-memory")
    files = {"command": str(bin_ / "mcp-server-filesystem"), "args": [str(project / "data")]}
    memory = {"command": str(bin_ / "mcp-server-memory"), "env": {"MEMORY_FILE_PATH": str(project / "memory.jsonl")}}
    return (
        f'{{ "mcpServers":\n  {{"files": {json.dumps(files)},\n\n "memory" : {json.dumps(memory)} }}\n}}\n\n'.encode()
    )


def _recall(shown: list[str]) -> dict[str, object]:
    """What the last line of the long result names."""
    found = re.search(r"recall\W+(?:ref\W+)?([0-9a-z]{8,})", shown[-1])
    assert found, shown[-1][-300:]
    return {"ref": found[1], "lines": "2000-2001"}


def test_claude_code_calls_its_servers_through_us_and_gets_them_back(tmp_path: Path) -> None:
    program = installed("@anthropic-ai/claude-code") / "claude"
    home = tmp_path / "home"
    home.mkdir()
    stage = Stage(home, shop(tmp_path))
    (stage.project / "data").mkdir()
    log = "".join(f"2026-01-01T00:00:{number % 60:02d} INFO job {number} is done\n" for number in range(1, 4001))
    (stage.project / "data" / "app.log").write_text(log)
    config = stage.project / ".mcp.json"
    before = _written(stage.project)
    config.write_bytes(before)

    stage.setup("claude", "--around", "--project")
    assert list(json.loads(config.read_text())["mcpServers"]) == ["laconic-around"]
    command = [str(program), "-p", "Look at the log.", "--model", "claude-sonnet-4-5"]
    command += ["--allowedTools", "mcp__laconic-around", "--settings", '{"enableAllProjectMcpServers": true}']
    steps = (
        Step("call", {"tool": "create_entities", "arguments": {"entities": [ENTITY]}}),
        Step("look", {"tool": "read_text_file", "arguments": {"path": str(stage.project / "data" / "app.log")}}),
        Step("recall", _recall),
        Step("look", {"tool": "read_graph", "arguments": {}}),
    )
    made, shortened, lines, graph = stage.play(command, steps, QUIET)
    assert "it adds up prices" in made
    assert "job 1 is done" in shortened
    assert len(shortened) < len(log) / 10
    assert "job 2000 is done" in lines
    assert "job 2001 is done" in lines
    assert "checkout" in graph
    assert "it adds up prices" in (stage.project / "memory.jsonl").read_text()

    stage.setup("claude", "--around", "--project", "--remove")
    assert config.read_bytes() == before
    assert not (stage.project / ".mcp.around.claude.json").exists()
