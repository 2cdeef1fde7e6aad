"""What the real Claude Code puts into its requests because of us, and that `doctor claude` says how much it is."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.flows.scripts import Step, body, model
from tests.flows.stage import Stage, installed
from tests.samples import shop

from laconic.clients.claude import Claude
from laconic.clients.wrapped_client import DefaultUpstreams, LaunchContext
from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic.mcp_server.tools_and_resources import offered_tools
from laconic.tokens.count import counter
from laconic.workspace.process import run

pytestmark = pytest.mark.flow

_EXPLORE = Step("Agent", {"description": "look", "prompt": "Find checkout.", "subagent_type": "Explore"})


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    home = tmp_path / "home"
    home.mkdir()
    return Stage(home, shop(tmp_path))


def _requests(stage: Stage, *steps: Step, search: str = "true") -> list[dict[str, Any]]:
    """The bodies that Claude Code sends for one prompt, with its tool search as it is for Anthropic's own host."""

    async def ask() -> list[dict[str, Any]]:
        async with ScriptedUpstream(lambda asked: model(steps, asked)) as upstream:
            variables = {
                "ANTHROPIC_API_KEY": "k",
                "ANTHROPIC_BASE_URL": upstream.url,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "ENABLE_TOOL_SEARCH": search,
            }
            words = ["claude", "-p", "Look at the code.", "--model", "claude-sonnet-4-5", "--allowedTools", "Agent"]
            words += ["--settings", '{"enableAllProjectMcpServers": true}']
            words[0] = str(installed("@anthropic-ai/claude-code") / "claude")
            client = await asyncio.create_subprocess_exec(
                *words,
                cwd=stage.project,
                env=stage.environment(**variables),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            await asyncio.wait_for(client.communicate(), 120)
            return _with_tools(upstream)

    return asyncio.run(ask())


def _names(request: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in request["tools"]}


@pytest.mark.parametrize("way", [["--project"], ["--user"], ["--plugin"]])
def test_our_tools_are_in_the_first_request_and_in_those_of_sub_agents(stage: Stage, way: list[str]) -> None:
    stage.setup("claude", *way)
    prefix = "mcp__plugin_laconic_laconic__" if way == ["--plugin"] else "mcp__laconic__"
    ours = {f"{prefix}{tool.name}" for tool in offered_tools(editing=False)}
    first, explorer, *_ = _requests(stage, _EXPLORE)
    for request in (first, explorer):
        assert ours <= _names(request)
        assert "ToolSearch" in _names(request)
        assert not [name for name in _names(request) if "McpResource" in name]
    assert "Agent" in _names(first)
    assert "Agent" not in _names(explorer)
    if way == ["--plugin"]:
        assert "laconic:cost" in json.dumps(first["messages"])


@pytest.mark.parametrize("way", ["wrap", "--project", "--user", "--plugin"])
def test_a_prompt_on_the_command_line_waits_for_our_tools(stage: Stage, way: str) -> None:
    """On a terminal it is sent before any server can have answered, and the next one would be written anew."""
    key = "sk-ant-api03-" + 40 * "k"
    known = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": [key[-20:]]}}
    known["projects"] = {str(stage.project): {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["laconic"]}}
    (stage.home / ".claude.json").write_text(json.dumps(known), "utf-8")
    words = ["claude", "--allowedTools=Agent", "Look at the code."]
    if way == "wrap":
        words = [sys.executable, "-m", "laconic", "wrap", *words]
    else:
        stage.setup("claude", way)
        words[0] = str(installed("@anthropic-ai/claude-code") / "claude")
    prefix = "mcp__plugin_laconic_laconic__" if way == "--plugin" else "mcp__laconic__"
    ours = {f"{prefix}{tool.name}" for tool in offered_tools(editing=False)}
    first, explorer, *_ = asyncio.run(_requests_on_a_terminal(stage, words, key, _EXPLORE))
    for request in (first, explorer):
        assert ours <= _names(request)
        assert "ToolSearch" in _names(request)
    assert "Agent" not in _names(explorer)


async def _requests_on_a_terminal(stage: Stage, words: list[str], key: str, *steps: Step) -> list[dict[str, Any]]:
    """What these words send, up to the first request of a sub-agent and one more."""
    path = f"{installed('@anthropic-ai/claude-code')}{os.pathsep}{stage.environment()['PATH']}"
    async with ScriptedUpstream(lambda asked: model(steps, asked)) as upstream:
        variables = {
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": upstream.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "true",
            "TERM": "xterm-256color",
            "PATH": path,
        }
        terminal, inside = pty.openpty()
        client = await asyncio.create_subprocess_exec(
            *words,
            cwd=stage.project,
            env=stage.environment(**variables),
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        asyncio.get_running_loop().add_reader(terminal, _drain, terminal)
        try:
            async with asyncio.timeout(120):
                while len(found := _with_tools(upstream)) < 3:
                    await asyncio.sleep(0.1)
        finally:
            asyncio.get_running_loop().remove_reader(terminal)
            with suppress(ProcessLookupError):
                os.killpg(client.pid, signal.SIGKILL)
            await client.wait()
            os.close(terminal)
        return found


def _with_tools(upstream: ScriptedUpstream) -> list[dict[str, Any]]:
    return [found for asked in upstream.asked if (found := body(asked)).get("tools")]


def _drain(terminal: int) -> None:
    with suppress(OSError):
        os.read(terminal, 65_536)


@pytest.mark.parametrize("way", [["--project"], ["--project", "--no-guidance"], ["--plugin", "--no-guidance"]])
def test_doctor_says_what_we_cost_within_two_percent(stage: Stage, way: list[str]) -> None:
    (without, *_) = _requests(stage)
    stage.setup("claude", *way)
    (with_us, *_) = _requests(stage)
    words = [str(Path(sys.executable).with_name("laconic")), "doctor", "claude"]
    said = run(words, stage.project, environment=stage.environment()).output.decode()
    found = re.search(r"every prompt carries ([\d,]+) tokens", said)
    assert found, said
    assert int(found[1].replace(",", "")) == pytest.approx(_tokens(with_us) - _tokens(without), rel=0.02)


@pytest.mark.parametrize("through_us", [True, False])
def test_a_wrapped_client_asks_for_the_settings_of_its_organisation(stage: Stage, through_us: bool) -> None:
    """It asks Anthropic's own host for them, and leaves that out where it takes its address for another company's."""
    asked = asyncio.run(_hosts_asked(stage, _variables_of_wrap(stage) if through_us else {}))
    assert ("api.anthropic.com:443" in asked) == through_us


def _variables_of_wrap(stage: Stage) -> dict[str, str]:
    seen = LaunchContext(stage.project, {"HOME": str(stage.home)}, ("-p", "hi"))
    client = Claude(stage.home)
    defaults = DefaultUpstreams(anthropic="https://api.anthropic.com", openai="", gemini="")
    return dict(client.launch(seen, client.find_upstreams(seen, defaults), "http://gateway", []).variables)


async def _hosts_asked(stage: Stage, variables: dict[str, str]) -> list[str]:
    """The hosts that Claude Code wants to reach past its base URL: a proxy notes them, and refuses."""
    hosts: list[str] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hosts.append((await reader.readline()).decode().split()[1])
        writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        writer.close()

    proxy = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with proxy, ScriptedUpstream(lambda asked: model([], asked)) as upstream:
        own = {
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": upstream.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "HTTPS_PROXY": f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}",
            "NO_PROXY": "127.0.0.1",
        }
        client = await asyncio.create_subprocess_exec(
            str(installed("@anthropic-ai/claude-code") / "claude"),
            *("-p", "hi"),
            cwd=stage.project,
            env=stage.environment(**{**variables, **own}),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
        )
        await asyncio.wait_for(client.wait(), 120)
        assert upstream.asked
    return hosts


def _tokens(request: dict[str, Any]) -> int:
    told = {name: request[name] for name in ("tools", "system", "messages")}
    return counter("claude-sonnet-4-5")(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
