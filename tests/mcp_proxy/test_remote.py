"""Servers over streamable HTTP and SSE behind a relay."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


def test_a_server_that_refuses_us_is_named_with_its_reason(tmp_path: Path) -> None:
    """Also where nobody knows its tools yet; its headers are not sent to where it points."""
    heard: list[dict[str, str]] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(dict(self.headers))
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(307 if self.path == "/moved" else 401)
            self.send_header("location", f"http://localhost:{self.server.server_port}/mcp")  # type: ignore[attr-defined]
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    async def work(port: int) -> None:
        headers = {"Authorization": "Bearer t0ken", "X-Api-Key": "k3y"}
        for path in ("mcp", "moved"):
            url = f"http://127.0.0.1:{port}/{path}"
            definition = ServerDefinition(name="far", transport="http", url=url, headers=headers)
            async with relaying(tmp_path, definition) as client:
                before = len(heard)
                answer = await client.call("call", tool="far/any")
                assert answer["isError"]
                said = answer["content"][0]["text"]
                assert "The server 'far'" in said
                assert "t0ken" not in said
                assert ("HTTP 401; check the headers" in said) == (path == "mcp")
                assert all(one["Host"].startswith("127.0.0.1") for one in heard[before:])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        asyncio.run(work(server.server_port))
    finally:
        server.shutdown()
        server.server_close()
