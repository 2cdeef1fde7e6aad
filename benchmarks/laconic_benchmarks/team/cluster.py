"""Replicas of the gateway behind HAProxy on loopback, with a PostgreSQL of their own."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import aiohttp

from laconic.config import child_environment
from laconic_benchmarks.gateway_processes import GatewayProcess
from laconic_benchmarks.postgres_server import NoPostgres, PostgresServer, free_port

# The configuration that operators get. Only the servers and the port differ here.
BALANCER: Final = Path(__file__).resolve().parents[3] / "deploy" / "haproxy.cfg"
_READY: Final = 30.0  # seconds


class Cluster:
    """Use as `async with`: `base` is the balancer's address, `replicas` are the gateways."""

    def __init__(
        self, upstream: str, count: int = 3, *, environment: Mapping[str, str] | None = None, safe: bool = False
    ) -> None:
        self._upstream = upstream
        self._count = count
        self._environment = dict(environment or {})
        self._stack = AsyncExitStack()
        self.database = PostgresServer(safe=safe)
        self.replicas: list[GatewayProcess] = []
        self.store = ""
        self.base = ""

    async def __aenter__(self) -> Cluster:
        program = shutil.which("haproxy") or "/usr/sbin/haproxy"
        if not Path(program).exists():
            raise NoPostgres("HAProxy is not installed: `apt-get install haproxy`.")
        self._stack.enter_context(self.database)
        try:
            self.store = self.database.new_database()
            for _ in range(self._count):
                gateway = GatewayProcess(self._upstream, ("--store", self.store), self._environment)
                self.replicas.append(await self._stack.enter_async_context(gateway))
            await self._balance(program)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _balance(self, program: str) -> None:
        if not BALANCER.is_file():
            raise NoPostgres(f"There is no {BALANCER}: this benchmark needs a checkout of Laconic.")
        replicas = Path(self._stack.enter_context(TemporaryDirectory())) / "replicas.cfg"
        port = free_port()
        lines = ["backend replicas\n"]
        for number, replica in enumerate(self.replicas):
            lines.append(f"  server r{number} {replica.base.removeprefix('http://')}\n")
        replicas.write_text("".join(lines), "utf-8")
        process = await asyncio.create_subprocess_exec(
            program,
            *("-db", "-f", str(BALANCER), "-f", str(replicas)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment({"LACONIC_BIND": f"127.0.0.1:{port}"}),
        )
        self._stack.push_async_callback(_end, process)
        self.base = f"http://127.0.0.1:{port}"
        await _until_ready(self.base)


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    await process.wait()


async def _until_ready(base: str) -> None:
    async with asyncio.timeout(_READY), aiohttp.ClientSession() as client:
        while True:
            try:
                async with client.get(base + "/readyz") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
