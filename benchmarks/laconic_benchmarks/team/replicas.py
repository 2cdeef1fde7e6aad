"""The same bytes whichever replica serves a turn, also while replicas are killed; no stream lost while they restart."""

from __future__ import annotations

import asyncio
import random
import re
from contextlib import closing, suppress
from typing import Final

import aiohttp

from laconic.gateway.scripted_upstream import ScriptedUpstream
from laconic.sessions.archive import Archive
from laconic.sessions.store import SharedStore
from laconic_benchmarks.gateway_processes import GatewayProcess
from laconic_benchmarks.report import Bar, Options, at_least, at_most
from laconic_benchmarks.team.cluster import Cluster
from laconic_benchmarks.team.traffic import RecordingProvider, TeamClients, TeamSession, read_sessions

Row = dict[str, str | int | float | None]
_REFERENCE: Final = re.compile(rb"laconic recall ([0-9a-z]{8,16})")
_BETWEEN: Final = 4.0  # seconds between two kills
_EVENTS: Final = 60  # of a stream that lasts for a while


async def measure_replicas(options: Options) -> tuple[list[Row], list[Bar]]:
    """Recorded sessions through one process, then through three of which one is killed again and again."""
    sessions = read_sessions(options.data, 4 if options.quick else 24)
    alone = RecordingProvider()
    async with ScriptedUpstream(alone) as upstream, GatewayProcess(upstream.url) as gateway:
        await TeamClients(gateway.base).run(sessions)
    shared = RecordingProvider()
    async with ScriptedUpstream(shared) as upstream, Cluster(upstream.url) as cluster:
        clients, over = TeamClients(cluster.base), asyncio.Event()
        killing = asyncio.create_task(_kill(cluster, over))
        await clients.run(sessions)
        over.set()
        kills = await killing
        lost = _count_lost(shared, cluster.store)
    turns = sum(len(session.turns) for session in sessions)
    other = sum(shared.received.get(name) != bodies for name, bodies in alone.received.items())
    smaller = sum(_is_smaller(session, shared) for session in sessions)
    found = clients.found
    row: Row = {"part": "replicas", "sessions": len(sessions), "turns": turns, "kills": kills, **found}
    return [row], [
        at_most("turns whose bytes upstream are not those of one process", other, 0),
        at_most("references upstream that the archive does not hold", lost, 0),
        at_most("turns that no retry brought back", found["given up"], 0),
        at_most("answers altered", found["altered"], 0),
        at_most("sessions with text of another one", _count_mixed(shared, sessions), 0),
        at_least("sessions that arrived smaller than they were sent", smaller, 1),
    ]


async def measure_restart(options: Options) -> tuple[list[Row], list[Bar]]:
    """Every replica is told to end under load, and started again."""
    provider = RecordingProvider(events=_EVENTS, pause=0.03)
    slow = {"LACONIC_GATEWAY_NOTICE": "1.5", "LACONIC_GATEWAY_DRAIN": "60"}
    async with ScriptedUpstream(provider) as upstream, Cluster(upstream.url, environment=slow) as cluster:
        clients, over = TeamClients(cluster.base, _EVENTS), asyncio.Event()
        crowd = [asyncio.create_task(_ask_until(clients, number, over)) for number in range(8)]
        await asyncio.sleep(3)
        for replica in cluster.replicas:
            await replica.end()
            await replica.start()
            await asyncio.sleep(1)
        over.set()
        await asyncio.gather(*crowd)
    found = clients.found
    broken = sum(found.values()) - found["whole"]
    row: Row = {"part": "restart", "restarts": len(cluster.replicas), **found}
    return [row], [
        at_most("streams and requests lost while all replicas restart", broken, 0),
        at_least("streams that passed meanwhile", found["whole"], 10),
    ]


async def _ask_until(clients: TeamClients, number: int, over: asyncio.Event) -> None:
    body = b'{"model":"claude-sonnet-4-5","stream":true,"messages":[{"role":"user","content":"hi"}]}'
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as client:
        turn = 0
        while not over.is_set():
            turn += 1
            await clients.turn(client, f"{number}/{turn}", body)


async def _kill(cluster: Cluster, over: asyncio.Event) -> int:
    """Every few seconds until it is over; how often."""
    chance, kills = random.Random(1), 0
    while not over.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), _BETWEEN)
            break
        replica = chance.choice(cluster.replicas)
        await replica.kill()
        kills += 1
        await replica.start()
    return kills


def _count_lost(provider: RecordingProvider, store: str) -> int:
    """References in what was sent under which the archive holds nothing."""
    refs: set[str] = set()
    for bodies in provider.received.values():
        for body in bodies:
            refs.update(ref.decode() for ref in _REFERENCE.findall(body))
    with closing(Archive(SharedStore(store, "archive"), 10**12)) as archive:
        return len(archive.missing(refs))


def _count_mixed(provider: RecordingProvider, sessions: list[TeamSession]) -> int:
    """Requests that do not begin with their session's mark."""
    mixed = 0
    for session in sessions:
        mark = f"Session {session.name} of a team.".encode()
        for number in range(len(session.turns)):
            bodies = provider.received.get(f"{session.name}/{number}", set())
            mixed += any(mark not in body for body in bodies)
    return mixed


def _is_smaller(session: TeamSession, provider: RecordingProvider) -> bool:
    last = len(session.turns) - 1
    bodies = provider.received.get(f"{session.name}/{last}", set())
    return any(len(body) < len(session.turns[last]) for body in bodies)
