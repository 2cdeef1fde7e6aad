"""Keys of a team on three replicas: budgets under load, keys that are revoked, and hostile calls."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import aiohttp

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.sessions.store import SharedStore
from laconic.sessions.team.budgets import Budgets
from laconic.sessions.team.keys import TeamKey, TeamKeys
from laconic_benchmarks.report import Bar, Options, at_least, at_most
from laconic_benchmarks.team.cluster import Cluster
from laconic_benchmarks.team.hostile import HostileTeam, attack, make_calls

Row = dict[str, str | int | float | None]
_COST: Final = 0.10  # dollars of one request, by the price below
_BUDGET: Final = 0.50
_ASKED: Final = 12  # requests of each key
_AT_ONCE: Final = 48
_REPLICAS: Final = 3


def _answer(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b'{"content":[],"usage":{"input_tokens":90,', b'"output_tokens":10}}'), pause=0.02)


def _environment(folder: str) -> dict[str, str]:
    (Path(folder) / "secret").write_text("sk-ant-secret-of-the-server", "ascii")
    return {
        "LACONIC_TEAM_PROVIDER_KEYS": f"anthropic=file:{folder}/secret",
        "LACONIC_TEAM_REQUIRED": "true",
        "LACONIC_PRICES": "claude-*=1000/1000",
    }


async def measure_keys(options: Options) -> tuple[list[Row], list[Bar]]:
    """Budgets under load, and how long a revoked key goes on."""
    count = 20 if options.quick else 500
    with TemporaryDirectory() as folder:
        async with (
            ScriptedUpstream(_answer) as upstream,
            Cluster(upstream.url, _REPLICAS, environment=_environment(folder)) as cluster,
        ):
            keys = TeamKeys(SharedStore(cluster.store, "team"))
            made = []
            for number in range(count):
                wanted = TeamKey(id="", owner=f"person {number}", team="blue", budget=_BUDGET)
                made.append(keys.create(wanted, "benchmark"))
            began = time.monotonic()
            said = await _use_up(cluster.base, [shown for shown, _ in made])
            seconds = time.monotonic() - began
            await asyncio.sleep(1)
            spent = Budgets(keys.file).spent([key for _, key in made])
            revoked = await _revoke(cluster, keys)
            keys.close()
            leaked = sum("lac-" in f"{asked.headers}{asked.path}" for asked in upstream.asked)
            sent = len(upstream.asked)
    over = max(spent.values()) - _BUDGET
    charged = sum(spent.values())
    row: Row = {
        "part": "keys",
        "keys": count,
        "requests": sum(said.values()),
        "requests_a_second": round(sum(said.values()) / seconds, 1),
        "largest_overshoot_in_requests": round(over / _COST, 2),
        "least_spent": round(min(spent.values()), 2),
        "revoked_after_s": round(revoked, 2),
        **said,
    }
    other = sum(said.values()) - said["200"] - said["402"]
    return [row], [
        at_most("requests by which a budget was exceeded, of three replicas", over / _COST, _REPLICAS + 0.01),
        at_least("least that a key spent of its budget", min(spent.values()) / _BUDGET, 0.99),
        at_most("difference between requests answered and charged", abs(charged / _COST - said["200"]), 0.01),
        at_most("requests that were answered otherwise", other, 0),
        at_most("requests to the provider that carried a team's key", leaked, 0),
        at_least("requests to the provider", sent, said["200"]),
        at_most("seconds until a revoked key was refused by all replicas", revoked, 2),
    ]


async def _use_up(base: str, keys: list[str]) -> Counter[str]:
    """Every key asks more often than its budget allows, all of them mixed."""
    said: Counter[str] = Counter()
    work = [(key, number) for number in range(_ASKED) for key in keys]
    jobs = iter(work)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True)) as client:

        async def worker() -> None:
            for key, number in jobs:
                said[str(await _ask(client, base, key, f"question {number}"))] += 1

        await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))
        # At the end of their budgets: all at once, for some keys.
        burst = [_ask(client, base, key, f"at once {n}") for key in keys[:20] for n in range(_REPLICAS * 2)]
        for status in await asyncio.gather(*burst):
            said[str(status)] += 1
    return said


async def _ask(client: aiohttp.ClientSession, base: str, key: str, text: str) -> int:
    body = {"model": "claude-a", "max_tokens": 10, "messages": [{"role": "user", "content": text}]}
    data = json.dumps(body).encode()
    async with client.post(base + "/v1/messages", data=data, headers={"x-api-key": key}) as answer:
        await answer.read()
        return answer.status


async def _revoke(cluster: Cluster, keys: TeamKeys) -> float:
    """Seconds after which the last replica refuses a key that is in use."""
    shown, key = keys.create(TeamKey(id="", owner="leaver"), "benchmark")
    ended: list[float] = []
    async with aiohttp.ClientSession() as client:

        async def use(base: str, began: Callable[[], float]) -> None:
            while await _ask(client, base, shown, "again") == 200:
                await asyncio.sleep(0.02)
            ended.append(time.monotonic() - began())

        moment = float("inf")
        users = [asyncio.ensure_future(use(replica.base, lambda: moment)) for replica in cluster.replicas]
        await asyncio.sleep(1)
        await asyncio.to_thread(keys.revoke, key.id, "benchmark")
        moment = time.monotonic()
        await asyncio.gather(*users)
    return max(ended)


async def measure_hostile(options: Options) -> tuple[list[Row], list[Bar]]:
    """Calls outside a key's rights, at the balancer."""
    count = 1_000 if options.quick else 20_000
    with TemporaryDirectory() as folder:
        async with (
            ScriptedUpstream(_answer) as upstream,
            Cluster(upstream.url, _REPLICAS, environment=_environment(folder)) as cluster,
        ):
            team = HostileTeam(SharedStore(cluster.store, "team"))
            sent, breaches = await attack(cluster.base, make_calls(team, count))
            passed = len(upstream.asked)
    row: Row = {"part": "hostile", "calls": sum(sent.values()), "breaches": len(breaches), **sent}
    if breaches:
        row["first"] = breaches[0][:200]
    return [row], [
        at_least("hostile calls", sum(sent.values()), count),
        at_most("hostile calls answered outside their rights", len(breaches), 0),
        at_most("hostile calls that reached the provider", passed, 0),
    ]
