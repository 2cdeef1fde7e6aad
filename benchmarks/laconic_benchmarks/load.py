"""Many streams at once through the gateway, with faults of the provider, clients that leave, and a gateway that is
killed and started again: nothing may be lost, and every session goes on with the prefix that it had.

Each answer is a numbered stream of its own; what a client received must be exactly the beginning of what was sent.
Words: seconds to run (120) and streams at once (64).
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
import msgspec

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic_benchmarks.gateway_processes import GatewayProcess
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_EVENTS: Final = 40
_FAULTS: Final = ("reset", "truncated", "stall")
_TURNS: Final = 12  # of a session, before its client begins another
_ERROR: Final = b'{"type":"error"}'


def run(options: Options) -> Report:
    """Measure."""
    seconds = float(options.args[0]) if options.args else 120.0
    streams = int(options.args[1]) if len(options.args) > 1 else 64
    return asyncio.run(_run(seconds, streams))


async def _run(seconds: float, streams: int) -> Report:
    provider = Provider()
    connector = aiohttp.TCPConnector(limit=0)
    async with ScriptedUpstream(provider) as upstream, GatewayProcess(upstream.url) as gateway:
        async with aiohttp.ClientSession(connector=connector) as client:
            crowd = Crowd(client, gateway.base)
            going = [asyncio.ensure_future(crowd.stay(number)) for number in range(streams)]
            await asyncio.sleep(seconds / 3)
            provider.before = dict(provider.last)
            crowd.killed = time.monotonic()
            await gateway.kill()
            await gateway.start()
            crowd.back = time.monotonic()
            await asyncio.sleep(min(15.0, seconds / 6))
            await crowd.rest()
            warm = gateway.memory()
            crowd.go_on.set()
            await asyncio.sleep(seconds / 2)
            crowd.over = True
            await asyncio.gather(*going)
        await asyncio.sleep(1)
        after = gateway.memory()
    found = crowd.found
    row = {**found, "killed_for_s": round(crowd.back - crowd.killed, 1), **provider.counts}
    return Report(
        "load",
        f"{streams} streams at once for {seconds:g} s, a tenth with faults, a tenth left by the client, one kill -9",
        "none",
        ({**row, "mb_warm": round(warm, 1), "mb_after": round(after, 1)},),
        (
            at_most("streams that were altered", found["altered"], 0),
            at_most("streams that ended early without a fault", found["lost"], 0),
            at_least("streams that arrived whole", found["whole"], 1),
            at_least("sessions that went on after the restart", provider.counts["went on"], 1),
            at_most("of them with another prefix", provider.counts["with another prefix"], 0),
            at_least("requests that arrived smaller than they were sent", provider.counts["smaller"], 1),
            at_most("memory after against warm", after / warm, 1.10),
        ),
        versions=versions("aiohttp", "starlette", "uvicorn"),
    )


class Case(msgspec.Struct, frozen=True):
    """What a request wants of the provider and of its own client; sent along in a header."""

    session: str
    turn: int
    size: int  # bytes of the body
    fault: str = ""
    status: int = 200
    leaves: int = 0  # events after which the client goes; 0: it stays

    @property
    def events(self) -> list[bytes]:
        """The stream that belongs to it."""
        name = f"{self.session}/{self.turn}"
        return [f'event: x\ndata: {{"of": "{name}", "n": {n}, "text": "é"}}\n\n'.encode() for n in range(_EVENTS)]


class Provider:
    """Answers as it is asked to, and compares each request with the one before it of the same session."""

    def __init__(self) -> None:
        self.last: dict[str, list[Any]] = {}  # the messages of each session's last request
        self.before: dict[str, list[Any]] = {}  # the same, when the gateway was killed
        self.counts: Counter[str] = Counter({"went on": 0, "with another prefix": 0, "smaller": 0})

    def __call__(self, asked: ReceivedRequest) -> ScriptedAnswer:
        case = msgspec.json.decode(asked.header("x-case"), type=Case)
        messages = json.loads(asked.body)["messages"]
        self.counts["smaller"] += len(asked.body) < case.size
        if (known := self.before.pop(case.session, None)) is not None:
            self.counts["went on"] += 1
            self.counts["with another prefix"] += messages[: len(known)] != known
        self.last[case.session] = messages
        if case.turn == _TURNS:
            self.last.pop(case.session)
        if case.status != 200:
            return ScriptedAnswer((_ERROR,), case.status, (("retry-after", "1"),))
        sent = case.events
        return streamed(sent[: len(sent) // 2] if case.fault else sent, fault=case.fault, pause=0.002)


@dataclass
class Crowd:
    """The clients, and what they saw."""

    client: aiohttp.ClientSession
    base: str
    found: Counter[str] = field(default_factory=Counter)
    killed: float = 0.0  # when the gateway was killed, and when it was back; 0: not yet
    back: float = 0.0
    over: bool = False
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    busy: int = 0

    def __post_init__(self) -> None:
        self.go_on.set()

    async def rest(self) -> None:
        """Wait until no request is under way, and for a second more."""
        self.go_on.clear()
        while self.busy:
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)

    async def stay(self, number: int) -> None:
        """Session after session, until it is over."""
        chance, session = random.Random(number), 0
        while not self.over:
            session += 1
            name = f"{number}.{session}"
            messages: list[Any] = [{"role": "user", "content": f"task {name}"}]
            for turn in range(1, _TURNS + 1):
                await self.go_on.wait()
                if self.over:
                    return
                while await self._turn(name, turn, messages, chance) == "killed":
                    await asyncio.sleep(0.2)  # clients try again
                messages += _exchange(name, turn)

    async def _turn(self, name: str, turn: int, messages: list[Any], chance: random.Random) -> str:
        fault = chance.choice(_FAULTS) if chance.random() < 0.1 else ""
        status = chance.choice((429, 500, 529)) if chance.random() < 0.05 else 200
        leaves = chance.randrange(1, _EVENTS) if fault == "stall" or chance.random() < 0.1 else 0
        body = json.dumps({"model": "claude-sonnet-4-5", "stream": True, "messages": messages}).encode()
        self.busy += 1
        began = time.monotonic()
        saw = await self._ask(Case(name, turn, len(body), fault, status, leaves), body)
        self.busy -= 1
        if saw == "lost" and self.killed and began <= (self.back or began):
            saw = "killed"
        self.found[saw] += 1
        return saw

    async def _ask(self, case: Case, body: bytes) -> str:
        """What came of one request."""
        got, ended = b"", False
        wanted = b"".join(case.events) if case.status == 200 else _ERROR
        headers = {"x-case": msgspec.json.encode(case).decode()}
        try:
            async with self.client.post(self.base + "/v1/messages", data=body, headers=headers) as answer:
                if answer.status != case.status:
                    return "altered"
                async with asyncio.timeout(1 if case.fault == "stall" else 60):
                    async for chunk in answer.content.iter_any():
                        got += chunk
                        if case.leaves and got.count(b"\n\n") >= case.leaves:
                            return "left" if wanted.startswith(got) else "altered"
                    ended = True
        except (aiohttp.ClientError, TimeoutError):
            pass
        if not wanted.startswith(got):
            return "altered"
        if ended and got == wanted:
            return "whole" if case.status == 200 else "refused"
        return "broken off" if case.fault and not ended else "lost"


def _exchange(name: str, turn: int) -> list[Any]:
    """A command with a log that is worth shortening."""
    log = "\n".join(f"12:00:{n % 60:02} INFO step {n} of build {turn} finished without a word" for n in range(60))
    id = f"toolu_{name}_{turn}"
    call = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": f"make {turn}"}}
    result = {"type": "tool_result", "tool_use_id": id, "content": log}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
