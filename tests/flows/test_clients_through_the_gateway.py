"""Real clients through the gateway: forty calls with large outputs, checked against the provider's rules upstream."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
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


async def _session(client: str, folder: Path, model: PlannedModel) -> tuple[str, str]:
    async with ScriptedUpstream(model) as upstream:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LACONIC_CACHE_DIR": str(folder / "laconic"),
            "ANTHROPIC_BASE_URL": upstream.url,
            "ANTHROPIC_API_KEY": "k",
            "OPENAI_BASE_URL": upstream.url,
            "OPENAI_API_KEY": "k",
            **QUIET,
        }
        words = ["-m", "laconic", "wrap", "--no-code-plane", client, "--", *CASES[client]]
        running = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(running.communicate(), 240)
        return out.decode(), err.decode()


def _shared(before: Conversation, after: Conversation) -> bool:
    """Whether a request starts with all messages of the one before, cache marks aside."""
    keys = [[block.key for block in turn.blocks] for turn in before.turns]
    return [[block.key for block in turn.blocks] for turn in after.turns[: len(keys)]] == keys


@pytest.mark.flow
@pytest.mark.feature("S10", "P1")
@pytest.mark.parametrize("client", sorted(CASES))
def test_forty_calls_arrive_valid_and_mostly_as_extensions(client: str, tmp_path: Path) -> None:
    if shutil.which(client) is None:
        pytest.skip(f"{client} is not installed")
    model = PlannedModel(STEPS, _command)
    out, err = asyncio.run(_session(client, tmp_path, model))
    assert DONE in out + err, (out[-2000:], err[-2000:])
    assert model.faults == []
    assert len(model.seen) >= STEPS
    rewritten = sum(not _shared(old, new) for old, new in zip(model.seen, model.seen[1:], strict=False))
    assert rewritten <= STEPS // 8
    assert "prompt tokens instead of" in err
