"""Each real client starts our server from the configuration that setup wrote, calls three tools and gets the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.flows.scripts import Step
from tests.flows.stage import UPSTREAM, Stage, installed
from tests.samples import shop

pytestmark = pytest.mark.flow

STEPS = (
    Step("search", {"query": "checkout"}),
    Step("read", {"targets": ["shop/money.py:13-16"]}),
    Step("inspect", {"symbol": ["Cart.add"]}),
)

OPENCODE = """{
  // where models come from
  "model": "scripted/m",
  "small_model": "scripted/m",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://UPSTREAM/v1", "apiKey": "k" },
      "models": { "m": { "tool_call": true } }
    }
  }
}
"""

CODEX = """model = "gpt-5"
model_provider = "scripted"
approval_policy = "never" # nobody is there to ask

[model_providers.scripted]
name = "scripted"
base_url = "http://UPSTREAM/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    home = tmp_path / "home"
    home.mkdir()
    return Stage(home, shop(tmp_path))


def _right(shown: list[str]) -> None:
    found, lines, symbol = shown
    assert "shop/cart.py" in found
    assert "checkout" in found
    assert "13\tdef total(prices: list[Price]) -> Price:" in lines
    assert "def add(self, price: Price, count: int = 1)" in symbol


@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_claude_code(stage: Stage, scope: str) -> None:
    program = installed("@anthropic-ai/claude-code") / "claude"
    stage.setup("claude", scope)
    command = [
        str(program),
        "-p",
        "Look at the code.",
        "--model",
        "claude-sonnet-4-5",
        "--allowedTools",
        "mcp__laconic",
        "--settings",
        '{"enableAllProjectMcpServers": true}',
    ]
    quiet = {
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ANTHROPIC_BASE_URL": UPSTREAM,
    }
    _right(stage.play(command, STEPS, quiet))


def test_codex(stage: Stage) -> None:
    program = installed("@openai/codex") / "codex"
    config = stage.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(CODEX)
    stage.setup("codex")
    command = [str(program), "exec", "--skip-git-repo-check", "Look at the code."]
    _right(stage.play(command, STEPS, {"SCRIPTED_KEY": "k"}))


def test_opencode(stage: Stage) -> None:
    program = installed("opencode-ai") / "opencode"
    (stage.project / "opencode.json").write_text(OPENCODE)
    stage.setup("opencode")
    quiet = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    _right(stage.play([str(program), "run", "Look at the code."], STEPS, quiet))
