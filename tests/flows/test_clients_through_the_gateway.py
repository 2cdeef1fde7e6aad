"""Real clients through the gateway: forty calls with large outputs, checked against the provider's rules upstream."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tests.flows.model import DONE, PlannedModel

from laconic.gateway.scripted import ScriptedUpstream
from laconic.wire.conversation import Conversation

STEPS = 40
QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "NO_COLOR": "1",
}
CASES = {
    "claude": ["-p", "Follow the plan.", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"],
    "codex": [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "-m",
        "gpt-5",
        "Follow the plan.",
    ],
    "opencode": ["run", "--model", "anthropic/claude-sonnet-4-5", "Follow the plan."],
}


def _command(step: int) -> str:
    """Large outputs, some of them repeated."""
    return f"seq 1 {400 + 20 * (step % 7)} | sed 's/$/ line of the log of step {step % 5}/'"


def _environment(folder: Path, base: str) -> dict[str, str]:
    """A home of its own, and `base` as every provider."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LACONIC_CACHE_DIR": str(folder / "laconic"),
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_BASE_URL": base,
        "OPENAI_API_KEY": "k",
        **QUIET,
    }


async def _start(words: list[str], folder: Path, base: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=_environment(folder, base), stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )


async def _session(client: str, folder: Path, model: PlannedModel, *flags: str) -> tuple[str, str]:
    async with ScriptedUpstream(model) as upstream:
        words = [sys.executable, "-m", "laconic", "wrap", *flags, client, "--", *CASES[client]]
        running = await _start(words, folder, upstream.url)
        out, err = await asyncio.wait_for(running.communicate(), 240)
        return out.decode(), err.decode()


async def _interrupted(folder: Path, model: PlannedModel) -> str:
    """A session of Claude Code whose gateway is killed in the middle and started again."""
    async with ScriptedUpstream(model) as upstream:
        gateway = [sys.executable, "-m", "laconic", "gateway", "--anthropic-url", upstream.url, "--listen"]
        first = await _start([*gateway, "127.0.0.1:0"], folder, "")
        assert first.stdout is not None
        base = (await first.stdout.readline()).decode().split()[-1]
        client = await _start(["claude", *CASES["claude"]], folder, base)
        while len(model.seen) < STEPS // 2:
            await asyncio.sleep(0.05)
        first.kill()
        await first.wait()
        second = await _start([*gateway, base.removeprefix("http://")], folder, "")
        try:
            out, err = await asyncio.wait_for(client.communicate(), 240)
        finally:
            second.kill()
            await second.wait()
        return out.decode() + err.decode()


def _shared(before: Conversation, after: Conversation) -> bool:
    """Whether a request starts with all messages of the one before, cache marks aside."""
    keys = [[block.key for block in turn.blocks] for turn in before.turns]
    return [[block.key for block in turn.blocks] for turn in after.turns[: len(keys)]] == keys


def _rewritten(model: PlannedModel) -> int:
    return sum(not _shared(old, new) for old, new in pairwise(model.seen))


@pytest.mark.flow
@pytest.mark.feature("S10", "P1")
@pytest.mark.parametrize("client", sorted(CASES))
def test_forty_calls_arrive_valid_and_mostly_as_extensions(client: str, tmp_path: Path) -> None:
    if shutil.which(client) is None:
        pytest.skip(f"{client} is not installed")
    model = PlannedModel(STEPS, _command)
    out, err = asyncio.run(_session(client, tmp_path, model, "--no-code-plane"))
    assert DONE in out + err, (out[-2000:], err[-2000:])
    assert model.faults == []
    assert len(model.seen) >= STEPS
    assert _rewritten(model) <= STEPS // 8
    assert "prompt tokens instead of" in err


@pytest.mark.flow
@pytest.mark.feature("P1")
def test_a_gateway_that_is_killed_and_started_again_goes_on_where_it_was(tmp_path: Path) -> None:
    if shutil.which("claude") is None:
        pytest.skip("claude is not installed")
    model = PlannedModel(STEPS, _command)
    said = asyncio.run(_interrupted(tmp_path, model))
    assert DONE in said, said[-2000:]
    assert model.faults == []
    assert _rewritten(model) <= STEPS // 8


@pytest.mark.flow
@pytest.mark.parametrize("client", sorted(CASES))
def test_a_wrapped_client_is_offered_our_tools(client: str, tmp_path: Path) -> None:
    if shutil.which(client) is None:
        pytest.skip(f"{client} is not installed")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def here(): ...\n", "utf-8")
    model = PlannedModel(4, lambda step: f"sleep 1; echo {step}")
    out, err = asyncio.run(_session(client, tmp_path, model))
    assert DONE in out + err, (out[-2000:], err[-2000:])
    assert any("laconic" in name and "search" in name for name in model.tools), sorted(model.tools)
