"""What the gateway costs: CPU per request in a growing session, the wait for the first byte, memory, time to start.

The gateway runs as its own process between a client and a scripted provider, all on loopback. Waiting for the first
byte is compared with the same requests sent directly and through a bare relay of bytes, in turn, in the same run: the
relay shows what one more process costs on this machine while other work runs on it. `--against` names the Python of
another installation, whose gateway is asked in turn with this one.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from os import getloadavg
from typing import Any, Final

import aiohttp

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.gateway_processes import GatewayProcess, provider, relay
from laconic_benchmarks.report import Bar, Options, Report, at_most, versions

_SIZES: Final = {10_000: (10.0, 4), 100_000: (25.0, 3), 500_000: (80.0, 1)}  # tokens -> ms of CPU, sessions
_TURNS: Final = 12
_EVENTS: Final = 500
_STREAMS: Final = 60
_SETTLED: Final = 0.05  # seconds after an answer in which its turn is written down
_WARM: Final = 20  # requests before those that count
_ASKED: Final = 300
_NOW: Final = ""  # the installation that runs this; others have a name

Gateways = Mapping[str, GatewayProcess]
Figures = dict[str, list[float]]  # by installation


def run(options: Options) -> Report:
    """Measure."""
    return asyncio.run(_run(options))


async def _run(options: Options) -> Report:
    rows: list[dict[str, Cell]] = []
    bars: list[Bar] = []
    pythons = {_NOW: sys.executable}
    if options.against:
        pythons["before"] = options.against
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(ScriptedUpstream(answered))
        client = await stack.enter_async_context(aiohttp.ClientSession())
        gateways: dict[str, GatewayProcess] = {}
        ready = 0.0
        for name, python in reversed(pythons.items()):
            began = time.perf_counter()
            party = GatewayProcess(upstream.url, options.args, python=python)
            gateways[name] = await stack.enter_async_context(party)
            ready = time.perf_counter() - began
        idle = gateways[_NOW].memory()
        for size, (most, sessions) in _SIZES.items():
            cpu, waits = await _growing(client, gateways, size, sessions)
            rows.append(_row({"tokens": size}, cpu) | {"answer_ms": round(statistics.median(waits[_NOW]), 1)})
            bars.append(at_most(f"CPU per request at {size} tokens, ms", statistics.mean(cpu[_NOW]), most))
        rows.append(_row({"what": f"one answer of {_EVENTS} events"}, await _stream_cpu(client, gateways)))
        later, more = await _first_bytes(options.args, pythons)
        rows += more
        bars += [
            at_most("first byte later than direct, p95, ms", later, 5.0),
            at_most("ready after, s", ready, 1.0),
            at_most("memory when idle, MB", idle, 100.0),
        ]
        rows.append({"what": "memory at the end", "mb": round(gateways[_NOW].memory(), 1)})
    return Report(
        "gateway",
        "generated conversations of reads and edits, Anthropic format",
        counter().name,
        tuple(rows),
        tuple(bars),
        versions=versions("aiohttp", "starlette", "uvicorn"),
    )


def _row(what: dict[str, Cell], cpu: Figures) -> dict[str, Cell]:
    """The mean is what is paid; the median leaves out requests that made something shorter."""
    row = dict(what)
    for name, values in sorted(cpu.items()):
        said = f"{name}_" if name else ""
        row |= {
            f"{said}cpu_ms": round(statistics.mean(values), 1),
            f"{said}median": round(statistics.median(values), 1),
        }
    return row


def answered(request: ReceivedRequest) -> ScriptedAnswer:
    usage = b'{"usage":{"input_tokens":9,"output_tokens":2}}'
    if b'"stream":true' not in request.body:
        return ScriptedAnswer((usage,))
    events = [b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"word"}}\n\n'] * _EVENTS
    return streamed([*events, b"event: message_delta\ndata: " + usage + b"\n\n"])


async def _growing(
    client: aiohttp.ClientSession, gateways: Gateways, size: int, sessions: int
) -> tuple[Figures, Figures]:
    """Milliseconds of CPU, and of waiting, of each request, when each adds one exchange to a long history."""
    cpu: Figures = {name: [] for name in gateways}
    waits: Figures = {name: [] for name in gateways}
    for number in range(sessions):
        messages = history(size)
        messages[0]["content"] += f" Session {number}."
        for gateway in gateways.values():
            await asked(client, gateway.base, messages, f"k{size}")
        for _ in range(_TURNS):
            messages += exchange(len(messages))
            for name, gateway in gateways.items():
                spent = gateway.cpu()
                waits[name].append(await asked(client, gateway.base, messages, f"k{size}"))
                cpu[name].append(await _spent_since(gateway, spent))
    return cpu, waits


async def _spent_since(gateway: GatewayProcess, before: float) -> float:
    """Milliseconds of CPU, with what is done when the answer is there."""
    await asyncio.sleep(_SETTLED)
    return 1000 * (gateway.cpu() - before)


def history(size: int) -> list[dict[str, Any]]:
    """About that many tokens."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Mend the parser of size {size}."}]
    count, tokens = counter(), 0
    while tokens < size:
        more = exchange(len(messages))
        tokens += count(json.dumps(more))
        messages += more
    return messages


def exchange(number: int) -> list[dict[str, Any]]:
    name, id = f"src/module_{number}.py", f"toolu_{number}"
    lines = [f"{n:6}\tdef function_{number}_{n}(argument):  # {n * number % 97}" for n in range(1, 90)]
    call = {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": name}}
    result = {"type": "tool_result", "tool_use_id": id, "content": "\n".join(lines)}
    return [
        {"role": "assistant", "content": [{"type": "text", "text": f"I read {name}."}, call]},
        {"role": "user", "content": [result]},
    ]


async def asked(client: aiohttp.ClientSession, base: str, messages: list[dict[str, Any]], key: str) -> float:
    """Milliseconds until the whole answer was there."""
    request = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "system": "Work.", "messages": messages}
    body = json.dumps(request, ensure_ascii=False).encode()
    began = time.perf_counter()
    async with client.post(base + "/v1/messages", data=_reader(body), headers={"x-api-key": key}) as answer:
        await answer.read()
    return 1000 * (time.perf_counter() - began)


async def _reader(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), 2**16):
        yield body[at : at + 2**16]


async def _first_bytes(flags: tuple[str, ...], pythons: Mapping[str, str]) -> tuple[float, list[dict[str, Cell]]]:
    """How many milliseconds later the first event comes at p95 through the gateway, and the figures of each way."""
    async with AsyncExitStack() as stack:
        direct = stack.enter_context(provider(paced))
        urls = {"direct": direct, "through a bare relay": stack.enter_context(relay(direct))}
        for name, python in pythons.items():
            gateway = await stack.enter_async_context(GatewayProcess(direct, flags, python=python))
            urls[f"through the gateway {name}".strip()] = gateway.base
        client = await stack.enter_async_context(aiohttp.ClientSession())
        waits: Figures = {what: [] for what in urls}
        for _ in range(_WARM + _ASKED):
            for what, url in urls.items():
                waits[what].append(await _first_byte(client, url))
    steps = {what: statistics.quantiles(found[_WARM:], n=20) for what, found in waits.items()}
    rows: list[dict[str, Cell]] = [
        {"what": f"first byte {what}", "p50_ms": round(at[9], 2), "p95_ms": round(at[18], 2)}
        for what, at in steps.items()
    ]
    rows[-1]["load"] = round(getloadavg()[0], 1)
    return steps["through the gateway"][18] - steps["direct"][18], rows


def paced(request: ReceivedRequest) -> ScriptedAnswer:
    """Some events with a pause between them, as a model writes them."""
    answer = answered(request)
    return streamed([*answer.chunks[:5], answer.chunks[-1]], pause=0.002)


async def _first_byte(client: aiohttp.ClientSession, url: str) -> float:
    body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
    began = time.perf_counter()
    async with client.post(url + "/v1/messages", data=body) as answer:
        await answer.content.readany()
        wait = 1000 * (time.perf_counter() - began)
        await answer.read()
    return wait


async def _stream_cpu(client: aiohttp.ClientSession, gateways: Gateways) -> Figures:
    cpu: Figures = {name: [] for name in gateways}
    for _ in range(_STREAMS):
        for name, gateway in gateways.items():
            spent = gateway.cpu()
            await _first_byte(client, gateway.base)
            cpu[name].append(await _spent_since(gateway, spent))
    return cpu
