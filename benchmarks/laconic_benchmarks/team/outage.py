"""The database stopped under load: every request is still answered, and afterwards all is as before."""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp

from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic_benchmarks.report import Bar, Options, at_least, at_most
from laconic_benchmarks.team.cluster import Cluster
from laconic_benchmarks.team.traffic import RecordingProvider, TeamClients, TeamSession, read_sessions

Row = dict[str, str | int | float | None]
_AT_ONCE: Final = 4


async def measure_away(options: Options) -> tuple[list[Row], list[Bar]]:
    seconds = 5.0 if options.quick else 60.0
    sessions = [session for session in read_sessions(options.data, 12) if len(session.turns) > 3]
    provider = RecordingProvider()
    async with ScriptedUpstream(provider) as upstream, Cluster(upstream.url) as cluster:
        clients, over = TeamClients(cluster.base), asyncio.Event()
        crowd = [asyncio.create_task(_ask_until(clients, sessions[n::_AT_ONCE], over)) for n in range(_AT_ONCE)]
        await asyncio.sleep(4)
        before = clients.found["whole"]
        await asyncio.to_thread(cluster.database.stop)
        await asyncio.sleep(seconds)
        said = [await _say(replica.base) for replica in cluster.replicas]
        during = clients.found["whole"] - before
        await asyncio.to_thread(cluster.database.start)
        back = await _wait_until_back([replica.base for replica in cluster.replicas])
        after = clients.found["whole"]
        await asyncio.sleep(4)
        over.set()
        await asyncio.gather(*crowd)
    found = clients.found
    failed = sum(found.values()) - found["whole"]
    row: Row = {"part": "away", "seconds": seconds, "answered_meanwhile": during, "back_after_s": back, **found}
    return [row], [
        at_most(f"requests that failed, with the database away for {seconds:g} s", failed, 0),
        at_least("requests answered meanwhile", during, 1),
        at_least("replicas whose /readyz said so", sum("cannot be reached" in text for text in said), len(said)),
        at_least("requests answered afterwards", found["whole"] - after, 1),
    ]


async def _ask_until(clients: TeamClients, sessions: list[TeamSession], over: asyncio.Event) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as client:
        while True:
            for session in sessions:
                for number, body in enumerate(session.turns):
                    if over.is_set():
                        return
                    await clients.turn(client, f"{session.name}/{number}", body)


async def _say(base: str) -> str:
    async with aiohttp.ClientSession() as client, client.get(base + "/readyz") as answer:
        return await answer.text()


async def _wait_until_back(bases: list[str]) -> float:
    """Seconds until no replica says that the store is away."""
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(60):
        for base in bases:
            while "cannot be reached" in await _say(base):
                await asyncio.sleep(0.1)
    return round(asyncio.get_running_loop().time() - began, 1)
