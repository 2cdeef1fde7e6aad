"""What Claude Code's shell prints: shortened by our hook and by `laconic run`, brought back by `laconic recall`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.flows.scripts import Step
from tests.flows.stage import Stage, installed
from tests.flows.test_around import QUIET
from tests.samples import shop

pytestmark = pytest.mark.flow

_PRINT = "python3 -c \"[print(f'2026-01-01T00:00:{n % 60:02d} INFO job {n} is done') for n in range(1, 4001)]\""
_FAIL = (
    "python3 -c \"[print(f'step {n} of the build is fine') for n in range(900)]; raise SystemExit('no disk left')\""
)


def _recall(shown: list[str]) -> dict[str, object]:
    found = re.search(r"laconic recall ([0-9a-z]{8,})", shown[-1])
    assert found, shown[-1][-300:]
    return {"command": f"laconic recall {found[1]} --lines 2000-2001"}


def test_the_hook_shortens_what_a_command_prints_and_goes_without_a_trace(tmp_path: Path) -> None:
    program = installed("@anthropic-ai/claude-code") / "claude"
    home = tmp_path / "home"
    home.mkdir()
    stage = Stage(home, shop(tmp_path))
    settings = stage.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = b'{ "model":"claude-sonnet-4-5",\n\n "hooks" : {"PostToolUse": [{"matcher": "Edit", "hooks": []}]} }\n'
    settings.write_bytes(before)
    stage.setup("claude", "--hook", "--project")
    assert "laconic" in json.dumps(json.loads(settings.read_text())["hooks"])
    command = [str(program), "-p", "Run it.", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"]
    steps = (
        Step("Bash", {"command": _PRINT}),
        Step("Bash", _recall),
        Step("Bash", {"command": "echo short"}),
        Step("Bash", {"command": f"laconic run -- {_FAIL}"}),
    )
    shortened, lines, short, failed = stage.play(command, steps, QUIET)
    assert "job 1 is done" in shortened
    assert len(shortened) < 2_000
    assert "job 2000 is done" in lines
    assert "job 2001 is done" in lines
    assert "job 2002 is done" not in lines
    assert short == "short"
    assert "no disk left" in failed
    assert len(failed) < 3_000

    stage.setup("claude", "--hook", "--project", "--remove")
    assert settings.read_bytes() == before
