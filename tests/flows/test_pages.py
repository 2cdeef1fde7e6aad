"""The pages for clients, followed step by step by a reader who has the client, with a scripted provider behind it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, blocks
from tests.docs.stage import Shell, copy
from tests.flows.scripts import DONE, Step, model
from tests.flows.stage import UPSTREAM, installed, installed_python
from tests.flows.test_clients import CODEX, OPENCODE

from laconic.gateway.scripted_upstream import ScriptedUpstream

pytestmark = pytest.mark.flow

STEPS = (Step("search", {"query": "Counter"}), Step("inspect", {"symbol": "counter"}))
CLAUDE = {
    "ANTHROPIC_API_KEY": "k",
    "ANTHROPIC_BASE_URL": UPSTREAM,
    "ANTHROPIC_MODEL": "claude-sonnet-4-5",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
}
QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    home = tmp_path / "home"
    home.mkdir()
    return Shell(home, copy(tmp_path))


def follow(shell: Shell, page: str, package: str, variables: dict[str, str], files: dict[Path, str]) -> str:
    """Every block of a page, in order, with the client on the path."""
    return follow_with(installed(package), shell, page, variables, files)


def follow_with(programs: Path, shell: Shell, page: str, variables: dict[str, str], files: dict[Path, str]) -> str:
    return asyncio.run(_follow(shell, page, programs, variables, files))


async def _follow(shell: Shell, page: str, programs: Path, variables: dict[str, str], files: dict[Path, str]) -> str:
    found = [block for block in blocks(ROOT / page) if block.language == "sh"]
    async with ScriptedUpstream(lambda asked: model(STEPS, asked)) as upstream:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(UPSTREAM, upstream.url))
        known = {name: value.replace(UPSTREAM, upstream.url) for name, value in variables.items()}
        known["PATH"] = f"{programs}:{shell.environment()['PATH']}"
        return await asyncio.to_thread(shell.follow, found, known)


def test_claude_code(shell: Shell) -> None:
    asked = (
        '{"enableAllProjectMcpServers": true, "env": {"ENABLE_TOOL_SEARCH": "true"}}'  # the provider is another host
    )
    settings = {shell.home / ".claude" / "settings.json": asked}
    said = follow(shell, "docs/quickstart/claude-code.md", "@anthropic-ai/claude-code", CLAUDE, settings)
    assert "inspect" in said  # stats lists the tools that were called
    assert not (shell.project / ".mcp.json").exists()


def test_codex(shell: Shell) -> None:
    config = {shell.home / ".codex" / "config.toml": CODEX}
    known = {"SCRIPTED_KEY": "k", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": UPSTREAM}
    said = follow(shell, "docs/quickstart/codex.md", "@openai/codex", known, config)
    assert "inspect" in said
    assert "laconic" not in (shell.home / ".codex" / "config.toml").read_text()


def test_opencode(shell: Shell) -> None:
    config = {shell.project / "opencode.json": OPENCODE}
    said = follow(shell, "docs/quickstart/opencode.md", "opencode-ai", QUIET, config)
    assert "inspect" in said
    assert "laconic" not in (shell.project / "opencode.json").read_text()


def test_gemini(shell: Shell) -> None:
    (settings,) = [block.text for block in blocks(ROOT / "docs/quickstart/gemini.md") if block.language == "json"]
    files = {shell.home / ".gemini" / "settings.json": settings}
    known = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": UPSTREAM}
    said = follow(shell, "docs/quickstart/gemini.md", "@google/gemini-cli", known, files)
    assert DONE in said
    assert not (shell.project / ".gemini" / "settings.json").exists()


def test_aider(shell: Shell) -> None:
    files = {shell.project / ".aider.conf.yml": f"model: openai/m\nopenai-api-base: {UPSTREAM}/v1\n"}
    known = {"OPENAI_API_KEY": "k", "AIDER_ANALYTICS_DISABLE": "1", "AIDER_CHECK_UPDATE": "false"}
    programs = installed_python("aider-chat", "0.86.2")
    said = follow_with(programs, shell, "docs/quickstart/aider.md", known, files)
    assert DONE in said
