"""What stops the gateway: its files locked by another process, and one very large body beside many streams.

The gateway, the provider and the one who locks are processes of their own, on loopback. While the files are locked,
streams run, `/healthz` is asked, and conversations go on whose decisions cannot be written down. A plain timer in the
measuring process shows what pauses this machine makes by itself: they are part of every other figure.
Words: seconds to hold the locks (10), streams (64), and megabytes of the large body (40).
"""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from os import getloadavg
from pathlib import Path
from typing import Any, Final

import aiohttp

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.render.table import Cell
from laconic.serving.access_tokens import HEADER, own_token
from laconic_benchmarks.gateway_processes import GatewayProcess, provider
from laconic_benchmarks.report import Bar, Options, Report, at_least, at_most, versions

_PAUSE: Final = 0.04  # seconds between two events of a stream, as models write
_EVENTS: Final = 50
_ALONE: Final = 5.0  # seconds for which streams run without a large body
_WATCHED: Final = 8  # streams while files are locked
_EVERY: Final = 0.02  # seconds between two looks at `/healthz`
_FILES: Final = ("ledger.sqlite", "archive.sqlite", "turns.sqlite")
_USAGE: Final = b'{"usage":{"input_tokens":9,"output_tokens":2}}'


def run(options: Options) -> Report:
    """Measure."""
    seconds = float(options.args[0]) if options.args else 10.0
    streams = int(options.args[1]) if len(options.args) > 1 else 64
    size = float(options.args[2]) if len(options.args) > 2 else 40.0
    return asyncio.run(_run(seconds, streams, size))


async def _run(seconds: float, streams: int, size: float) -> Report:
    rows: list[dict[str, Cell]] = []
    bars: list[Bar] = []
    with provider(answer) as url:
        free = await _locked(url, "nothing", seconds)
        rows.append(free.row("no lock"))
        bars += [
            at_most("no lock: pause of a stream, p99, ms", at(free.gaps, 0.99), 50.0),
            at_most("no lock: /healthz, p99, ms", at(free.health, 0.99), 50.0),
        ]
        for how in ("write", "exclusive"):
            seen = await _locked(url, how, seconds)
            rows.append(seen.row(f"{how} lock"))
            bars += _compared(how, seen, free)
        more, found = await _large(url, streams, size)
        rows += more
        bars += found
    return Report(
        "stalls",
        f"generated conversations; files locked for {seconds:g} s; {streams} streams beside a body of {size:g} MB",
        "none",
        tuple(rows),
        tuple(bars),
        versions=versions("aiohttp", "starlette", "uvicorn"),
    )


def answer(asked: ReceivedRequest) -> ScriptedAnswer:
    """A stream of events at a steady pace, or a short answer."""
    if b'"stream":true' not in asked.body[:200]:
        return ScriptedAnswer((_USAGE,))
    event = b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"word"}}\n\n'
    return streamed([*[event] * _EVENTS, b"event: message_delta\ndata: " + _USAGE + b"\n\n"], pause=_PAUSE)


@dataclass
class Seen:
    """Milliseconds, as clients saw them."""

    machine: list[float] = field(default_factory=list)  # by which a plain timer was late
    gaps: list[float] = field(default_factory=list)  # between two events of a stream
    first: list[float] = field(default_factory=list)  # until the first event of a stream
    health: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)  # of conversations with much to decide
    large: list[float] = field(default_factory=list)
    failed: int = 0
    faults: float = 0.0
    faults_after: float = 0.0  # more of them when the lock was gone

    def row(self, what: str) -> dict[str, Cell]:
        named = {
            "timer": self.machine,
            "event": self.gaps,
            "first": self.first,
            "healthz": self.health,
            "turn": self.turns,
            "large": self.large,
        }
        row: dict[str, Cell] = {"what": what, "failed": self.failed, "load": round(getloadavg()[0], 1)}
        for name, values in named.items():
            if values:
                row |= {f"{name}_p99": round(at(values, 0.99), 1), f"{name}_max": round(max(values), 1)}
        return row


def at(values: Sequence[float], share: float) -> float:
    """The value that so large a share of all does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def _locked(url: str, how: str, seconds: float) -> Seen:
    """Files locked while conversations go on; afterwards they must be made smaller again."""
    seen = Seen()
    async with GatewayProcess(url) as gateway, aiohttp.ClientSession() as client:
        talks = [Talk(client, gateway.base, f"{how} {number}") for number in range(4)]
        for talk in talks:
            for _ in range(3):
                await talk.turn()
        if how == "exclusive":  # nobody gets such a lock while the gateway has the files open
            await gateway.kill()
        with holding([gateway.cache / name for name in _FILES], how):
            if how == "exclusive":
                await gateway.start()
            async with _watched(client, gateway.base, seen, _WATCHED):
                until = time.monotonic() + seconds
                fresh = 0
                while time.monotonic() < until:
                    fresh += 1
                    old, new = random.choice(talks), Talk(client, gateway.base, f"{how} new {fresh}")
                    for talk in (old, new):
                        await talk.turn(seen)
        seen.faults = await _faults(client, gateway)
        for talk in talks:
            await talk.turn()
        seen.faults_after = await _faults(client, gateway) - seen.faults
    return seen


def _compared(how: str, seen: Seen, free: Seen) -> list[Bar]:
    """What clients saw; and beyond what they see without a lock, since a busy machine makes pauses of its own."""
    pause, health = max(seen.gaps), max(seen.health)
    return [
        at_most(f"{how} lock: longest pause of a stream, ms", pause, 50.0),
        at_most(f"{how} lock: the same beyond that without a lock, ms", pause - max(free.gaps), 50.0),
        at_most(f"{how} lock: slowest /healthz, ms", health, 50.0),
        at_most(f"{how} lock: the same beyond that without a lock, ms", health - max(free.health), 50.0),
        at_most(f"{how} lock: slowest request, ms", max(seen.turns), 6_000.0),
        at_most(f"{how} lock: median request, ms", statistics.median(seen.turns), 250.0),
        at_most(f"{how} lock: requests that failed", seen.failed, 0),
        at_least(f"{how} lock: faults that /metrics tells", seen.faults, 1),
        at_most(f"{how} lock: more of them when it is free again", seen.faults_after, 0),
    ]


async def _faults(client: aiohttp.ClientSession, gateway: GatewayProcess) -> float:
    """How often a file could not be used."""
    token = {HEADER: own_token(gateway.state, make=False)}
    async with client.get(f"{gateway.base}/metrics", headers=token) as answer:
        answer.raise_for_status()
        lines = (await answer.text()).splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("laconic_store_faults_total{"))


async def _large(url: str, streams: int, size: float) -> tuple[list[dict[str, Cell]], list[Bar]]:
    """Streams, begun again and again: alone, and while a large body of somebody else is looked at, twice."""
    alone, seen = Seen(), Seen()
    planned: list[bool] = []  # else it went through unchanged, because there was no time
    body = large_body(size)
    connector = aiohttp.TCPConnector(limit=0)
    async with GatewayProcess(url) as gateway, aiohttp.ClientSession(connector=connector) as client:
        async with _watched(client, gateway.base, alone, streams):
            await asyncio.sleep(_ALONE)
        async with _watched(client, gateway.base, seen, streams):
            for _ in range(2):
                began = time.perf_counter()
                async with client.post(f"{gateway.base}/v1/messages", data=_pieces(body)) as answer:
                    await answer.read()
                    seen.failed += answer.status != 200
                    planned.append("x-laconic-action" in answer.headers)
                seen.large.append(1000 * (time.perf_counter() - began))
    row = seen.row(f"and {size:g} MB") | {"large_planned": sum(planned), "large_sent": len(planned)}
    return [alone.row(f"{streams} streams"), row], [
        at_most(f"first event beside {size:g} MB, p99, ms", at(seen.first, 0.99), 300.0),
        at_most(f"event beside {size:g} MB, p99, ms", at(seen.gaps, 0.99), 300.0),
        at_most(f"slowest request of {size:g} MB, ms", max(seen.large), 15_000.0),
        at_most(f"requests that failed beside {size:g} MB", seen.failed, 0),
    ]


def large_body(megabytes: float) -> bytes:
    """One conversation of a few results, each of them huge."""
    chance = random.Random(0)
    results = []
    for number in range(8):
        lines: list[str] = []
        length = 0
        while length < megabytes * 125_000:
            line = (
                f"{len(lines):6}\tvalue_{chance.randrange(9999)} = compute(argument_{number}, {chance.random():.6f})"
            )
            lines.append(line)
            length += len(line) + 2
        results.append("\n".join(lines))
    messages: list[Any] = [{"role": "user", "content": "Read what is large."}]
    for number, result in enumerate(results):
        messages += _exchange(f"large_{number}", result)
    return json.dumps({"model": "claude-sonnet-4-5", "messages": messages}).encode()


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 2**16):
        yield body[start : start + 2**16]


@dataclass
class Talk:
    """A conversation that grows by a log that is worth shortening."""

    client: aiohttp.ClientSession
    base: str
    name: str
    messages: list[Any] = field(default_factory=list)

    async def turn(self, seen: Seen | None = None) -> None:
        if not self.messages:
            self.messages.append({"role": "user", "content": f"task {self.name}"})
        number = len(self.messages)
        lines = [f"12:00:{n % 60:02} INFO step {n} of build {number} finished without a word" for n in range(200)]
        self.messages += _exchange(f"{self.name} {number}", "\n".join(lines))
        body = json.dumps({"model": "claude-sonnet-4-5", "messages": self.messages}).encode()
        began = time.perf_counter()
        async with self.client.post(f"{self.base}/v1/messages", data=body) as answer:
            await answer.read()
            status = answer.status
        if seen is not None:
            seen.turns.append(1000 * (time.perf_counter() - began))
            seen.failed += status != 200


def _exchange(name: str, result: str) -> list[Any]:
    id = "toolu_" + name.replace(" ", "_")
    call = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": f"make {name}"}}
    told = {"type": "tool_result", "tool_use_id": id, "content": result}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [told]}]


@asynccontextmanager
async def _watched(client: aiohttp.ClientSession, base: str, seen: Seen, streams: int) -> AsyncIterator[None]:
    """Streams, looks at `/healthz`, and a timer, for as long as the block takes."""
    over = asyncio.Event()
    work: list[Callable[[], Any]] = [lambda: _tick(seen, over), lambda: _health(client, base, seen, over)]
    going = [asyncio.ensure_future(one()) for one in work]
    going += [asyncio.ensure_future(_stream(client, base, seen, over, number / streams)) for number in range(streams)]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*going)


async def _tick(seen: Seen, over: asyncio.Event) -> None:
    while not over.is_set():
        began = time.perf_counter()
        await asyncio.sleep(_PAUSE)
        seen.machine.append(1000 * (time.perf_counter() - began - _PAUSE))


async def _health(client: aiohttp.ClientSession, base: str, seen: Seen, over: asyncio.Event) -> None:
    while not over.is_set():
        began = time.perf_counter()
        async with client.get(f"{base}/healthz") as answer:
            await answer.read()
        seen.health.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(_EVERY)


async def _stream(client: aiohttp.ClientSession, base: str, seen: Seen, over: asyncio.Event, share: float) -> None:
    body = b'{"stream":true,"model":"m","messages":[{"role":"user","content":"hi %.6f"}]}' % share
    await asyncio.sleep(share * _PAUSE * _EVENTS)  # not all at the same moment
    while not over.is_set():
        began = time.perf_counter()
        async with client.post(f"{base}/v1/messages", data=body) as answer:
            await answer.content.readany()
            last = time.perf_counter()
            seen.first.append(1000 * (last - began))
            async for _ in answer.content.iter_any():
                now = time.perf_counter()
                seen.gaps.append(max(0.0, 1000 * (now - last - _PAUSE)))
                last = now
            seen.failed += answer.status != 200


@contextmanager
def holding(paths: Sequence[Path], how: str) -> Any:
    """Files locked by another process: against writers, or against everybody; or not at all."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_hold, args=(theirs, [str(path) for path in paths], how), daemon=True)
    process.start()
    try:
        ours.recv()
        yield
    finally:
        process.terminate()
        process.join()


def _hold(say: Connection, paths: Sequence[str], how: str) -> None:
    held = []
    for path in paths if how != "nothing" else ():
        base = sqlite3.connect(path, isolation_level=None, timeout=30)
        if how == "exclusive":
            base.execute("PRAGMA locking_mode = EXCLUSIVE")
        base.execute("BEGIN EXCLUSIVE")
        base.execute("CREATE TABLE held (x)")  # an exclusive lock is taken when something is written
        held.append(base)
    say.send("held")
    time.sleep(3600)
