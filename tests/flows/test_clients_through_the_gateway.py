"""Real clients through the gateway: forty calls with large outputs, checked against the provider's rules upstream.

On the way tasks are completed, the gateway is killed and started again, and the user goes back and takes another way.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from tests.flows.clients import CLIENTS, configure, environment
from tests.flows.model import DONE, PlannedModel, Step, Tasks

from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic.wire.parsed_request import ParsedRequest

CALLS = 40
LOOK, FOLLOW, ELSE = "Look around first.", "Follow the plan.", "Go another way instead."
WRAPPED = {
    "claude": ["-p", FOLLOW, "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"],
    "codex": ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5", FOLLOW],
    "opencode": ["run", "--model", "anthropic/claude-sonnet-4-5", FOLLOW],
}


def _command(step: int) -> str:
    """Large outputs, some of them repeated."""
    return f"seq 1 {400 + 20 * (step % 7)} | sed 's/$/ line of the log of step {step % 5}/'"


def _module(number: int) -> str:
    """Code of which no two lines say the same."""
    rows = [
        f"    def part_{number}_{row}(self): return self.rows[{row * number % 9973}]  # {row}" for row in range(150)
    ]
    return "\n".join([f"class Module{number}:", *rows, ""])


def _plan() -> list[Step]:
    """Four tasks of ten calls each."""
    steps: list[Step] = [Tasks(-1), Tasks(0)]
    for task in range(4):
        numbers = range(10 * task, 10 * task + CALLS // 4)
        steps += [f"cat src/module{number}.py" if number % 2 else _command(number) for number in numbers]
        steps.append(Tasks(task + 1))
    return steps


def _shared(before: ParsedRequest, after: ParsedRequest) -> bool:
    """Whether a request starts with all messages of the one before, cache marks aside."""
    keys = [[block.key for block in turn.blocks] for turn in before.turns]
    return [[block.key for block in turn.blocks] for turn in after.turns[: len(keys)]] == keys


def _rewritten(model: PlannedModel) -> int:
    """Requests of the same plan that do not extend the one before."""
    pairs = pairwise(zip(model.places, model.seen, strict=True))
    return sum(old[0][0] == new[0][0] and not _shared(old[1], new[1]) for old, new in pairs)


def _results(talk: ParsedRequest, plan: int) -> int:
    """Results of the calls of a plan that are there, whole or shortened."""
    ids = [block.id for turn in talk.turns for block in turn.blocks if block.kind == "result"]
    return sum(f"_{plan:02}_" in id for id in ids)


def _rolled_up(talk: ParsedRequest) -> int:
    """Calls that a line stands for."""
    texts = (block.text for turn in talk.turns for block in turn.blocks)
    return sum(int(match[1]) for text in texts for match in re.finditer(r"\[(\d+) calls? left out", text))


class Gateway:
    """A gateway process that can be killed and started again on the same port, and its log."""

    def __init__(self, folder: Path, upstream: str) -> None:
        self._folder = folder
        self._upstream = upstream
        self._log = folder / "gateway.log"
        self.base = "http://127.0.0.1:0"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self._start()
        try:
            yield
        finally:
            await self.kill()

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()

    async def restart(self) -> None:
        await self.kill()
        await self._start()

    async def _start(self) -> None:
        words = [sys.executable, "-m", "laconic", "gateway", "--listen", self.base.removeprefix("http://")]
        urls = ["--anthropic-url", self._upstream, "--openai-url", self._upstream]
        variables = {**environment(self._folder, ""), "LACONIC_CONTEXT_SEMANTIC": "4000"}
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *words, *urls, env=variables, stdout=asyncio.subprocess.PIPE, stderr=log
            )
        assert self._process.stdout is not None
        self.base = (await self._process.stdout.readline()).decode().split()[-1]

    def answered(self) -> int:
        """How many requests are done with."""
        return self._log.read_text("utf-8").count('"answered"')

    def actions(self) -> set[str]:
        lines = [json.loads(line) for line in self._log.read_text("utf-8").splitlines()]
        assert not [line for line in lines if "failure" in line]
        return {line["action"] for line in lines if "action" in line}


@pytest.mark.flow
@pytest.mark.feature("S1", "S4", "S10", "P1")
@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_long_session_with_tasks_a_restart_and_a_rewind(client: str, tmp_path: Path) -> None:
    model = PlannedModel({LOOK: ["pwd", "ls", "date"], FOLLOW: _plan(), ELSE: ["pwd", "ls -a", "id"]})
    (tmp_path / "src").mkdir()
    for number in range(CALLS):
        (tmp_path / "src" / f"module{number}.py").write_text(_module(number), "utf-8")

    async def session() -> set[str]:
        async with ScriptedUpstream(model) as upstream:
            gateway = Gateway(tmp_path, upstream.url)
            async with gateway.running():
                real = CLIENTS[client](tmp_path, gateway.base)
                assert DONE in await real.begin(LOOK)
                following = asyncio.ensure_future(real.go_on(FOLLOW))
                while (1, CALLS // 2) not in model.places and not following.done():
                    await asyncio.sleep(0.05)
                # While the client runs a command: what it makes of an answer that is cut in two is its own affair.
                answered = gateway.answered()
                while gateway.answered() == answered and not following.done():
                    await asyncio.sleep(0.005)
                await gateway.restart()
                assert DONE in await following
                await real.take_back()
                assert DONE in await real.go_on(ELSE)
                return gateway.actions()

    actions = asyncio.run(session())
    assert model.faults == []
    assert {place for place in model.places if place[0] == 1} == {(1, step) for step in range(len(_plan()) + 1)}
    assert _rewritten(model) <= CALLS // 6
    assert "semantic" in actions, actions
    back = next(talk for talk, place in zip(model.seen, model.places, strict=True) if place == (2, 0))
    assert _results(back, 0) + _rolled_up(back) == 3
    assert _results(back, 1) == 0, "what was taken back is gone"
    assert _results(model.seen[-1], 2) == 3


async def _wrap(client: str, folder: Path, model: PlannedModel, *flags: str) -> tuple[str, str]:
    pipe = asyncio.subprocess.PIPE
    async with ScriptedUpstream(model) as upstream:
        words = [sys.executable, "-m", "laconic", "wrap", *flags, client, "--", *WRAPPED[client]]
        variables = environment(folder, upstream.url)
        configure(folder, upstream.url)
        running = await asyncio.create_subprocess_exec(
            *words, cwd=folder, env=variables, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
        out, err = await asyncio.wait_for(running.communicate(), 240)
        return out.decode(), err.decode()


@pytest.mark.flow
@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_wrapped_client_that_asks_for_them_is_offered_our_tools(client: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def here(): ...\n", "utf-8")
    model = PlannedModel({FOLLOW: [f"sleep 1; echo {step}" for step in range(4)]})
    out, err = asyncio.run(_wrap(client, tmp_path, model, "--code-plane"))
    assert DONE in out + err, (out[-2000:], err[-2000:])
    assert any("laconic" in name and "search" in name for name in model.tools), sorted(model.tools)
    assert "prompt tokens instead of" in err
