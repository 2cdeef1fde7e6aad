"""What a gateway adds to a request that it only passes on: ours and a peer's, against the provider itself."""

from __future__ import annotations

import asyncio
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import aiohttp

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.render.table import Cell
from laconic_benchmarks.gateway_processes import GatewayProcess, memory, provider
from laconic_benchmarks.peers.environments import Peer, environment, installed, peer
from laconic_benchmarks.report import Options

LITELLM: Final = "litellm"
_SECONDS: Final = 180.0  # until a gateway must be ready
_WARM: Final = 10  # requests before those that count
_ASKED: Final = 100
_BODY: Final = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
KEY: Final = f"sk-{'laconic-bench' * 4}"  # a proxy that asks for none refuses to start
_SETTINGS: Final = """model_list:
  - model_name: m
    litellm_params:
      model: openai/m
      api_base: {url}/v1
      api_key: none
  - model_name: claude-sonnet-4-5
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      api_base: {url}
      api_key: none
"""


def passed_on(options: Options, peers: Sequence[Peer], notes: list[str]) -> list[dict[str, Cell]]:
    """First byte of a streamed answer, memory when idle and time to start, for those that are installed."""
    cache = Path(options.cache)
    number = installed(cache, peer(LITELLM)) if peer(LITELLM) in peers else ""
    options.progress("peers: requests passed on")
    return asyncio.run(_measured(cache, number, notes))


async def _measured(cache: Path, number: str, notes: list[str]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = [{"by": "direct"}]
    with provider(answered) as direct:
        ways = [direct]
        async with AsyncExitStack() as stack:
            began = time.perf_counter()
            ours = await stack.enter_async_context(GatewayProcess(direct, ("--openai-url", direct)))
            rows.append({"by": "laconic", "ready s": time.perf_counter() - began, "memory MB": ours.memory()})
            ways.append(ours.base)
            if number:
                began = time.perf_counter()
                try:
                    base, pid = await stack.enter_async_context(litellm_proxy(cache, direct))
                    await _first_byte(base)
                except (CommandFailed, aiohttp.ClientError) as error:
                    notes.append(f"{LITELLM} {number}: {error}")
                else:
                    ready = time.perf_counter() - began
                    rows.append({"by": f"{LITELLM} {number}", "ready s": ready, "memory MB": memory(pid)})
                    ways.append(base)
            waits = await _in_turn(ways)
    for row, found in zip(rows, waits, strict=True):
        steps = statistics.quantiles(found, n=20)
        row |= {"measure": "a request passed on", "first byte ms": steps[9], "first byte p95 ms": steps[18]}
    return rows


async def _in_turn(ways: Sequence[str]) -> list[list[float]]:
    waits: list[list[float]] = [[] for _ in ways]
    for _ in range(_WARM + _ASKED):
        for base, found in zip(ways, waits, strict=True):
            found.append(await _first_byte(base))
    return [found[_WARM:] for found in waits]


async def _first_byte(base: str) -> float:
    """Milliseconds until the first event of an answer."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession() as client:
        began = time.perf_counter()
        async with client.post(f"{base}/v1/chat/completions", data=_BODY, headers=headers) as answer:
            answer.raise_for_status()
            await answer.content.readany()
            wait = 1000 * (time.perf_counter() - began)
            await answer.read()
    return wait


@asynccontextmanager
async def litellm_proxy(cache: Path, url: str) -> AsyncIterator[tuple[str, int]]:
    """Its proxy on loopback, with a model of OpenAI's interface and one of Anthropic's: where it is, and its process."""
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "config.yaml"
        settings.write_text(_SETTINGS.format(url=url), "utf-8")
        program = environment(cache, peer(LITELLM)) / "bin" / "litellm"
        words = ["--config", str(settings), "--host", "127.0.0.1", "--port", str(port)]
        said = Path(folder) / "said.txt"
        with said.open("wb") as told:
            process = await asyncio.create_subprocess_exec(
                str(program),
                *words,
                env=child_environment({"HOME": folder, "LITELLM_MASTER_KEY": KEY}),
                stdout=told,
                stderr=told,
            )
        try:
            if not await _is_ready(f"http://127.0.0.1:{port}/health/liveliness", process):
                lines = said.read_text("utf-8", "replace").strip().splitlines()
                raise CommandFailed(f"its proxy did not start: {(lines or ['it says nothing'])[-1][:200]}")
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _is_ready(url: str, process: asyncio.subprocess.Process) -> bool:
    until = time.monotonic() + _SECONDS
    async with aiohttp.ClientSession() as client:
        while time.monotonic() < until and process.returncode is None:
            try:
                async with client.get(url) as answer:
                    if answer.ok:
                        return True
            except aiohttp.ClientError:
                pass  # it does not listen yet
            await asyncio.sleep(0.1)
    return False


def answered(asked: ReceivedRequest) -> ScriptedAnswer:
    """A short streamed answer as OpenAI's interface has it."""
    head = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    words = [head + b'{"role":"assistant","content":"word"},"finish_reason":null}]}\n\n'] * 5
    return streamed([*words, head + b'{},"finish_reason":"stop"}]}\n\n', b"data: [DONE]\n\n"])


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
