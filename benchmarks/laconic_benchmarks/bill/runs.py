"""One run of a real client against the provider that bills, wrapped or plain, and what it comes to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic_benchmarks.bill.clients import BilledClient
from laconic_benchmarks.bill.provider import DONE, BillingProvider, ProviderClock
from laconic_benchmarks.bill.scenarios import Scenario

_SECONDS: Final = 280


class RunFailed(Exception):
    """A client did not come to the end of its scenario."""


class RunResult(msgspec.Struct, frozen=True):
    """What the provider billed, and what our record says of the same run."""

    requests: int
    tokens: int
    dollars: float
    recorded: tuple[dict[str, float], ...] = ()  # one row for each model
    results: tuple[int, ...] = ()  # how many each request carried

    def total(self, name: str) -> float:
        """A figure of the record, over all models."""
        return sum(row[name] for row in self.recorded)

    @property
    def claimed(self) -> float:
        """The share of the money that the record says was saved."""
        whole = self.total("dollars_whole")
        if not whole:
            return 0.0
        return 1 - self.total("dollars") / whole


async def run_client(
    client: BilledClient,
    scenario: Scenario,
    path: str,
    home: Path,
    *,
    wrapped: bool,
    flags: Sequence[str] = (),
    pause: float = 0.0,
) -> RunResult:
    """All prompts of a scenario, in one session with a pause between them; `flags` are those of `laconic wrap`."""
    clock = ProviderClock()
    provider = BillingProvider(scenario, client.model, clock)
    project = home / "project"
    project.mkdir()
    for number, text in enumerate(scenario.files):
        (project / f"file_{number}.txt").write_text(text, "utf-8")
    async with ScriptedUpstream(provider) as upstream:
        environment = {**client.prepare(home, upstream.url), "PATH": path}
        for number in range(scenario.prompts):
            words = list(client.again if number else client.first)
            if wrapped:
                words = [sys.executable, "-m", "laconic", "wrap", *flags, *words]
            said = await _run_program(words, project, environment)
            if DONE not in said:
                raise RunFailed(f"{client.name}, {scenario.name}: {said[-3000:]}")
            clock.skip(pause)
        recorded: tuple[dict[str, float], ...] = ()
        if wrapped:
            said = await _run_program([sys.executable, "-m", "laconic", "stats", "--json"], project, environment)
            recorded = tuple(json.loads(said)["models"])
    return RunResult(
        requests=len(provider.usages),
        tokens=provider.tokens,
        dollars=provider.dollars,
        recorded=recorded,
        results=tuple(provider.results),
    )


async def _run_program(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What it printed; whatever it left running is ended."""
    running = await asyncio.create_subprocess_exec(
        *words,
        cwd=folder,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        out, _ = await asyncio.wait_for(running.communicate(), _SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    return out.decode("utf-8", "replace")
