"""The other parties of a measurement, each in a process of its own: a provider that streams, and a bare relay.

A relay copies bytes between two sockets and knows no HTTP: what it adds is the price of one more process on this
machine at this time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from laconic.gateway.scripted import Script, ScriptedUpstream


@contextmanager
def provider(script: Script) -> Iterator[str]:
    """Where a scripted provider listens; `script` is a function of a module."""
    with _process(_provide, script) as url:
        yield url


@contextmanager
def relay(url: str) -> Iterator[str]:
    """Where bytes go in that come out at an address on loopback."""
    with _process(_relay, int(url.rsplit(":", 1)[1])) as own:
        yield own


@contextmanager
def _process(work: Callable[[Connection, Any], None], about: object) -> Iterator[str]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, about), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _provide(say: Connection, script: Script) -> None:
    async def serve() -> None:
        async with ScriptedUpstream(script) as upstream:
            say.send(upstream.url)
            await asyncio.Event().wait()

    asyncio.run(serve())


def _relay(say: Connection, port: int) -> None:
    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copy(reader, up_writer), _copy(up_reader, writer))

    async def serve() -> None:
        server = await asyncio.start_server(joined, "127.0.0.1", 0)
        say.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await server.serve_forever()

    asyncio.run(serve())


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(2**16):
            writer.write(chunk)
            await writer.drain()
    writer.close()
