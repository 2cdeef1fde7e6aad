"""What the gateway holds in memory: when nobody uses it, and with many long sessions.

Words: how many sessions (200) and how many tokens each has (100000).
"""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp

from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.gateway import answered, asked, exchange, history
from laconic_benchmarks.gateway_processes import GatewayProcess
from laconic_benchmarks.report import Options, Report, at_most, versions

_TURNS: Final = 2  # requests of each session


def run(options: Options) -> Report:
    """Measure."""
    sessions = int(options.args[0]) if options.args else 200
    tokens = int(options.args[1]) if len(options.args) > 1 else 100_000
    return asyncio.run(_run(sessions, tokens))


async def _run(sessions: int, tokens: int) -> Report:
    rows: list[dict[str, Cell]] = []
    async with (
        ScriptedUpstream(answered) as upstream,
        GatewayProcess(upstream.url) as gateway,
        aiohttp.ClientSession() as client,
    ):
        idle = gateway.memory()
        messages = history(tokens)
        for turn in range(_TURNS):
            for session in range(sessions):
                own = [{"role": "user", "content": f"Mend parser {session}."}, *messages[1:]]  # by which it is known
                await asked(client, gateway.base, own, f"session {session}")
                upstream.asked.clear()
            messages += exchange(len(messages))
            rows.append({"sessions": sessions, "turn": turn + 1, "mb": round(gateway.memory(), 1)})
        full = gateway.memory()
    return Report(
        "memory",
        f"{sessions} generated sessions of {tokens} tokens, Anthropic format",
        counter().name,
        tuple(rows),
        (
            at_most("memory when idle, MB", idle, 100.0),
            at_most(f"memory with {sessions} sessions, MB", full, 250.0),
        ),
        versions=versions("aiohttp", "starlette", "uvicorn"),
    )
