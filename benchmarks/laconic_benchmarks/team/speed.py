"""What a request costs at 100k tokens: CPU and added time, with the ledger in files and in PostgreSQL, turn about.

LiteLLM's proxy is asked in turn with them where `laconic bench peers install litellm` has put it. It runs without a
database: its client for PostgreSQL downloads programs when it is installed.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import aiohttp

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic_benchmarks.gateway import asked, exchange, history
from laconic_benchmarks.gateway_processes import GatewayProcess, cpu, provider
from laconic_benchmarks.peers.environments import installed, peer
from laconic_benchmarks.peers.passing import KEY, LITELLM, litellm_proxy
from laconic_benchmarks.postgres_server import PostgresServer
from laconic_benchmarks.report import Bar, Options, at_least, at_most

Row = dict[str, str | int | float | None]
Waits = dict[str, list[float]]  # milliseconds, by who was asked
_SIZE: Final = 100_000  # tokens
_RATE: Final = 30.0  # requests a second, whether or not those before were answered
_SESSIONS: Final = 30  # that send them
_WARM: Final = 2  # turns of a session before those that count
_ANSWER: Final = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 2},
}


def answer_briefly(_: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((json.dumps(_ANSWER).encode(),))


async def measure_speed(options: Options) -> tuple[list[Row], list[Bar]]:
    turns = 20 if options.quick else 120
    cache = Path(options.cache)
    async with AsyncExitStack() as stack:
        url = stack.enter_context(provider(answer_briefly))
        server = stack.enter_context(PostgresServer(safe=True))
        client = await stack.enter_async_context(aiohttp.ClientSession())
        files = await stack.enter_async_context(GatewayProcess(url))
        team = await stack.enter_async_context(GatewayProcess(url, ("--store", server.new_database())))
        bases = {"files": files.base, "postgresql": team.base}
        processes = {"files": files.pid, "postgresql": team.pid}
        if number := installed(cache, peer(LITELLM)):
            name = f"{LITELLM} {number}, no database"
            bases[name], processes[name] = await stack.enter_async_context(litellm_proxy(cache, url))
        waits, spent = await _ask_in_turn(client, {"direct": url, **bases}, processes, turns)
        paced, used = await _ask_at_a_rate(client, team, 3 if options.quick else 20)
    direct = statistics.median(waits["direct"])
    rows = [_row(f"speed, {name}", spent[name], waits[name], direct) for name in bases]
    loaded = _row(f"speed, postgresql, {_RATE:g} requests a second", used, paced, direct)
    rate = 1000 / spent["postgresql"]
    return [*rows, loaded], [
        at_least("requests a second and core at 100k tokens, PostgreSQL", rate, 30),
        at_most("added milliseconds at p99, PostgreSQL", _added_p99(waits["postgresql"], direct), 80),
        at_most(f"the same at {_RATE:g} requests a second", _added_p99(paced, direct), 80),
    ]


async def _ask_in_turn(
    client: aiohttp.ClientSession, bases: Mapping[str, str], processes: Mapping[str, int], turns: int
) -> tuple[Waits, dict[str, float]]:
    """One session that grows, sent to each of them; milliseconds of CPU of a request, too."""
    messages, waits = history(_SIZE), {name: list[float]() for name in bases}
    for base in bases.values():
        for _ in range(_WARM):
            await asked(client, base, messages, KEY)
    before = {name: cpu(pid) for name, pid in processes.items()}
    for _ in range(turns):
        messages += exchange(len(messages))
        for name, base in bases.items():
            waits[name].append(await asked(client, base, messages, KEY))
    return waits, {name: 1000 * (cpu(pid) - before[name]) / turns for name, pid in processes.items()}


async def _ask_at_a_rate(
    client: aiohttp.ClientSession, gateway: GatewayProcess, seconds: float
) -> tuple[list[float], float]:
    """Many sessions, each turn of which arrives at a moment of its own: waits, and CPU of a request."""
    choose = random.Random(1)
    shared = history(_SIZE)
    sessions = [_Session(shared, number) for number in range(_SESSIONS)]
    for session in sessions:
        for _ in range(_WARM):
            await session.ask(client, gateway.base)
    before, going = gateway.cpu(), list[asyncio.Task[float]]()
    for number in range(round(_RATE * seconds)):
        going.append(asyncio.create_task(sessions[number % _SESSIONS].ask(client, gateway.base)))
        await asyncio.sleep(choose.expovariate(_RATE))
    waits = await asyncio.gather(*going)
    return list(waits), 1000 * (gateway.cpu() - before) / len(waits)


class _Session:
    """A conversation that grows by one exchange with each request."""

    def __init__(self, shared: list[dict[str, Any]], number: int) -> None:
        self._messages = [dict(message) for message in shared]
        self._messages[0]["content"] += f" Session {number}."

    async def ask(self, client: aiohttp.ClientSession, base: str) -> float:
        self._messages += exchange(len(self._messages))
        return await asked(client, base, self._messages, KEY)


def _row(part: str, spent: float, waits: list[float], direct: float) -> Row:
    return {
        "part": part,
        "cpu_ms": round(spent, 1),
        "requests_a_second_and_core": round(1000 / spent, 1),
        "added_p50_ms": round(statistics.median(waits) - direct, 1),
        "added_p99_ms": round(_added_p99(waits, direct), 1),
    }


def _added_p99(waits: list[float], direct: float) -> float:
    return statistics.quantiles(waits, n=100)[98] - direct
