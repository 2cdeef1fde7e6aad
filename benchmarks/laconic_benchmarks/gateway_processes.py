"""The parties of a measurement, each in a process of its own: a gateway, a provider that streams, and a bare relay.

A relay copies bytes between two sockets and knows no HTTP: what it adds is the price of one more process on this
machine at this time.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import aiohttp

from laconic.config import child_environment
from laconic.gateway.scripted_upstream import Script, ScriptedUpstream

_CLOCK: Final = 2  # of a process, beside its number: all its threads, also those that ended


class GatewayProcess:
    """A gateway with a cache folder of its own; use as `async with`. It can be killed and started again in place."""

    def __init__(
        self,
        url: str,
        flags: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        python: str = sys.executable,
    ) -> None:
        self._python = python  # another one has another version
        self._url = url
        self._flags = flags
        self._environment = environment or {}
        self._folder = TemporaryDirectory()
        self._process: asyncio.subprocess.Process | None = None
        self.cache = Path(self._folder.name) / "cache"
        self.state = Path(self._folder.name) / "state"
        self.base = "http://127.0.0.1:0"

    async def __aenter__(self) -> GatewayProcess:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()
        self._folder.cleanup()

    async def start(self) -> None:
        """Start, on the port that it had, and wait until it answers."""
        folder = Path(self._folder.name)
        own = {"LACONIC_CACHE_DIR": str(self.cache), "LACONIC_STATE_DIR": str(self.state), **self._environment}
        settings = folder / "config.toml"
        settings.write_text("", "utf-8")  # not the user's; and the environment is stronger than a file
        where = ["--config", str(settings), "--listen", self.base.removeprefix("http://")]
        words = ["-m", "laconic", "gateway", *where, "--anthropic-url", self._url, *self._flags]
        self._process = await asyncio.create_subprocess_exec(
            self._python,
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment(own),
        )
        assert self._process.stdout is not None
        self.base = (await self._process.stdout.readline()).decode().split()[-1]
        async with aiohttp.ClientSession() as client, client.get(self.base + "/readyz") as answer:
            answer.raise_for_status()

    async def end(self) -> None:
        """As an operator does: it finishes what it has."""
        assert self._process is not None
        self._process.terminate()
        await self._process.wait()

    async def kill(self) -> None:
        """As a power cut would."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    @property
    def pid(self) -> int:
        """Its process, while it runs."""
        assert self._process is not None
        return self._process.pid

    def cpu(self) -> float:
        """Seconds of CPU that it has used, with the processes that it started and that still run."""
        return cpu(self.pid)

    def memory(self) -> float:
        """Resident megabytes."""
        return memory(self.pid)


def cpu(pid: int) -> float:
    """Seconds of CPU that a process and its children have used, to the nanosecond."""
    spent = time.clock_gettime((~pid << 3) | _CLOCK)
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text("utf-8").split():
            spent += cpu(int(child))
    return spent


def memory(pid: int) -> float:
    """Resident megabytes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1])
    return pages * resource.getpagesize() / 1e6


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
    theirs.close()  # a process that ends without a word is no reason to wait
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
