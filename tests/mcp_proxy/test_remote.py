"""Servers over streamable HTTP and SSE behind a relay."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.mcp_proxy.stage import relaying

from laconic.mcp_proxy.definitions import ServerDefinition, Transport

SERVER = Path(__file__).with_name("remote_server.py")


@contextmanager
def far(kind: str) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen([sys.executable, str(SERVER), str(port), kind], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("transport", "kind", "path"), [("http", "streamable-http", "mcp"), ("sse", "sse", "sse")])
def test_headers_progress_and_results_of_a_server_elsewhere(
    tmp_path: Path, transport: Transport, kind: str, path: str
) -> None:
    async def work(port: int) -> None:
        url = f"http://127.0.0.1:{port}/{path}"
        definition = ServerDefinition(
            name="far", transport=transport, url=url, headers={"Authorization": "Bearer t0ken"}
        )
        async with relaying(tmp_path, definition) as client:
            params = {"name": "headers", "arguments": {}, "_meta": {"progressToken": 7}}
            result = await client.ask("tools/call", params)
            assert result["content"][0]["text"] == "Bearer t0ken"
            assert (await client.hear("notifications/progress"))["params"]["progressToken"] == 7
            short = await client.text("long", lines=2_000)
            assert "whole: recall" in short
            assert len(short) < 10_000

    with far(kind) as port:
        asyncio.run(work(port))


def test_a_server_elsewhere_that_is_not_there_is_an_answer(tmp_path: Path) -> None:
    """Its address, which may hold a token, is not told."""

    async def work() -> None:
        definition = ServerDefinition(name="far", transport="http", url="http://127.0.0.1:1/mcp?key=s3cret")
        async with relaying(tmp_path, definition, settings={"around.start_seconds": 5.0}) as client:
            result = await client.call("call", tool="far/any")
            assert result["isError"]
            assert "s3cret" not in result["content"][0]["text"]

    asyncio.run(work())
