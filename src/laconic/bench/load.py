"""Many streams at once through the gateway, with faults of the provider and clients that leave: nothing may be lost.

Each answer is a numbered stream of its own; what a client received must be exactly the beginning of what was sent.
Words: seconds to run (120) and streams at once (64).
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from typing import Final

import aiohttp

from laconic.bench.gateway import gateway_process, memory
from laconic.bench.report import Options, Report, at_least, at_most, versions
from laconic.gateway.scripted import Answer, Asked, ScriptedUpstream, streamed

_EVENTS: Final = 40
_FAULTS: Final = ("reset", "truncated", "stall")


def run(options: Options) -> Report:
    """Measure."""
    seconds = float(options.args[0]) if options.args else 120.0
    streams = int(options.args[1]) if len(options.args) > 1 else 64
    return asyncio.run(_run(seconds, streams))


async def _run(seconds: float, streams: int) -> Report:
    found: Counter[str] = Counter()
    connector = aiohttp.TCPConnector(limit=0)
    async with ScriptedUpstream(_answer) as upstream, gateway_process(upstream.url, ()) as (base, pid):
        async with aiohttp.ClientSession(connector=connector) as client:
            await asyncio.gather(*(_client(client, base, n, time.monotonic() + 2, found) for n in range(streams)))
            warm, found = memory(pid), Counter()
            until = time.monotonic() + seconds
            await asyncio.gather(*(_client(client, base, n, until, found) for n in range(streams)))
        await asyncio.sleep(1)
        after = memory(pid)
    return Report(
        "load",
        f"{streams} streams at once for {seconds:g} s, a tenth with faults, a tenth left by the client",
        "none",
        ({**found, "mb_warm": round(warm, 1), "mb_after": round(after, 1)},),
        (
            at_most("streams that were altered", found["altered"], 0),
            at_most("streams that ended early without a fault", found["lost"], 0),
            at_least("streams that arrived whole", found["whole"], 1),
            at_most("memory after against warm", after / warm, 1.10),
        ),
        versions=versions("aiohttp", "starlette", "uvicorn"),
    )


def events(name: str) -> list[bytes]:
    """The stream that belongs to a request."""
    return [f'event: x\ndata: {{"of": "{name}", "n": {n}, "text": "é"}}\n\n'.encode() for n in range(_EVENTS)]


def _answer(asked: Asked) -> Answer:
    """What the request asks for in its last message: its name, a fault or none."""
    name, fault, status = json.loads(asked.body)["messages"][-1]["content"].split("|")
    if status != "200":
        return Answer((b'{"type":"error"}',), int(status), (("retry-after", "1"),))
    sent = events(name)
    return streamed(sent[: len(sent) // 2] if fault else sent, fault=fault, pause=0.002)


async def _client(client: aiohttp.ClientSession, base: str, number: int, until: float, found: Counter[str]) -> None:
    chance = random.Random(number)
    turn = 0
    while time.monotonic() < until:
        turn += 1
        name = f"{number}.{turn}"
        fault = chance.choice(_FAULTS) if chance.random() < 0.1 else ""
        status = chance.choice((429, 500, 529)) if chance.random() < 0.05 else 200
        leaves = chance.randrange(_EVENTS) if fault == "stall" or chance.random() < 0.1 else 0
        found[await _one(client, base, (name, fault, status, leaves))] += 1


async def _one(client: aiohttp.ClientSession, base: str, case: tuple[str, str, int, int]) -> str:
    name, fault, status, leaves = case
    head = [{"role": "user", "content": f"task {name}"}, {"role": "assistant", "content": "ok"}]
    messages = [*head, {"role": "user", "content": f"{name}|{fault}|{status}"}]
    body = json.dumps({"model": "claude-sonnet-4-5", "stream": True, "messages": messages}).encode()
    got, ended = b"", False
    wanted = b"".join(events(name)) if status == 200 else b'{"type":"error"}'
    try:
        async with client.post(base + "/v1/messages", data=body) as answer:
            if answer.status != status:
                return "altered"
            async with asyncio.timeout(1 if fault == "stall" else 60):
                async for chunk in answer.content.iter_any():
                    got += chunk
                    if leaves and got.count(b"\n\n") >= leaves:
                        return "left" if wanted.startswith(got) else "altered"
                ended = True
    except (aiohttp.ClientError, TimeoutError):
        pass
    if not wanted.startswith(got):
        return "altered"
    if ended and got == wanted:
        return "whole" if status == 200 else "refused"
    return "broken off" if fault and not ended else "lost"
