"""What the gateway costs: CPU per request in a growing session, the wait for the first byte, memory, time to start.

The gateway runs as its own process between a client and a scripted provider, all on loopback. Waiting for the first
byte is compared with the same requests sent directly and through a bare relay of bytes, in turn, in the same run: the
relay shows what one more process costs on this machine while other work runs on it.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from os import getloadavg
from typing import Any, Final

import aiohttp

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.parties import GatewayProcess, provider, relay
from laconic_benchmarks.report import Bar, Options, Report, at_most, versions

_SIZES: Final = {10_000: 10.0, 100_000: 25.0, 500_000: 80.0}  # tokens -> milliseconds of CPU
_TURNS: Final = 12
_EVENTS: Final = 500
_WARM: Final = 20  # requests before those that count
_ASKED: Final = 300


def run(options: Options) -> Report:
    """Measure."""
    return asyncio.run(_run(options))


async def _run(options: Options) -> Report:
    rows: list[dict[str, Cell]] = []
    bars: list[Bar] = []
    async with ScriptedUpstream(answered) as upstream, aiohttp.ClientSession() as client:
        began = time.perf_counter()
        async with GatewayProcess(upstream.url, options.args) as gateway:
            ready = time.perf_counter() - began
            idle = gateway.memory()
            for size, most in _SIZES.items():
                cpu, wait = await _growing(client, gateway, size)
                rows.append({"tokens": size, "cpu_ms": round(cpu, 1), "answer_ms": round(wait, 1)})
                bars.append(at_most(f"CPU per request at {size} tokens, ms", cpu, most))
            stream = await _stream_cpu(client, gateway)
            rows.append({"tokens": 0, "cpu_ms": round(stream, 1), "what": f"one answer of {_EVENTS} events"})
            later, waits = await _first_bytes(options.args)
            rows += waits
            bars += [
                at_most("first byte later than direct, p95, ms", later, 5.0),
                at_most("ready after, s", ready, 1.0),
                at_most("memory when idle, MB", idle, 100.0),
            ]
            rows.append({"what": "memory at the end", "mb": round(gateway.memory(), 1)})
    return Report(
        "gateway",
        "generated conversations of reads and edits, Anthropic format",
        counter().name,
        tuple(rows),
        tuple(bars),
        versions=versions("aiohttp", "starlette", "uvicorn"),
    )


def answered(request: ReceivedRequest) -> ScriptedAnswer:
    usage = b'{"usage":{"input_tokens":9,"output_tokens":2}}'
    if b'"stream":true' not in request.body:
        return ScriptedAnswer((usage,))
    events = [b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"word"}}\n\n'] * _EVENTS
    return streamed([*events, b"event: message_delta\ndata: " + usage + b"\n\n"])


async def _growing(client: aiohttp.ClientSession, gateway: GatewayProcess, size: int) -> tuple[float, float]:
    """Milliseconds of CPU, and of waiting, per request, when each request adds one exchange to a long history."""
    messages = history(size)
    await asked(client, gateway.base, messages, f"k{size}")
    spent, waits = gateway.cpu(), []
    for _ in range(_TURNS):
        messages += exchange(len(messages))
        waits.append(await asked(client, gateway.base, messages, f"k{size}"))
    return 1000 * (gateway.cpu() - spent) / _TURNS, statistics.median(waits)


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


async def _first_bytes(flags: tuple[str, ...]) -> tuple[float, list[dict[str, Cell]]]:
    """How many milliseconds later the first event comes at p95 through the gateway, and the figures of each way."""
    with provider(paced) as direct, relay(direct) as bare:
        async with GatewayProcess(direct, flags) as gateway, aiohttp.ClientSession() as client:
            waits: dict[str, list[float]] = {direct: [], bare: [], gateway.base: []}
            for _ in range(_WARM + _ASKED):
                for url, found in waits.items():
                    found.append(await _first_byte(client, url))
    named = {"direct": direct, "through a bare relay": bare, "through the gateway": gateway.base}
    steps = {what: statistics.quantiles(waits[url][_WARM:], n=20) for what, url in named.items()}
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


async def _stream_cpu(client: aiohttp.ClientSession, gateway: GatewayProcess) -> float:
    spent = gateway.cpu()
    for _ in range(20):
        await _first_byte(client, gateway.base)
    return 1000 * (gateway.cpu() - spent) / 20
