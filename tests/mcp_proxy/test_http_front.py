"""The HTTP front of the proxy: sessions that were left make room, and messages have an end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import aiohttp

from laconic.mcp_proxy.http_front import around_application
from laconic.mcp_proxy.messages import Message, is_request, result_message
from laconic.mcp_proxy.relay import Relay, Send
from laconic.serving.hosts import allowed_hosts
from laconic.serving.listen import bind, listen
from laconic.serving.server import server_for

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPTED = {"accept": "application/json, text/event-stream"}


class _Relay:
    """Answers every request with nothing; says how many of its kind there are."""

    def __init__(self, send: Send, opened: list[int]) -> None:
        self._send = send
        self._opened = opened
        opened[0] += 1

    def receive(self, message: Message) -> None:
        if is_request(message):
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "x", "version": "1"},
            }
            self._send(result_message(message["id"], result), message["id"])

    async def close(self) -> None:
        self._opened[0] -= 1


@asynccontextmanager
async def _serving(opened: list[int]) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    where = listen("127.0.0.1:0", "", "", "", insecure=False)
    bound = bind(where)
    made = around_application(lambda send: cast(Relay, _Relay(send, opened)), allowed_hosts(where))
    server = server_for(made, where)
    running = asyncio.ensure_future(server.serve(sockets=[bound]))
    while not server.started:
        await asyncio.sleep(0.01)
    async with aiohttp.ClientSession() as client:
        yield client, f"{where.url(bound)}/mcp"
    server.should_exit = True
    await running


async def _open(client: aiohttp.ClientSession, url: str) -> tuple[int, str]:
    async with client.post(url, json=INITIALIZE, headers=ACCEPTED) as answer:
        await answer.read()
        return answer.status, answer.headers.get("mcp-session-id", "")


async def _ping(client: aiohttp.ClientSession, url: str, session: str) -> int:
    said = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    async with client.post(url, json=said, headers={**ACCEPTED, "mcp-session-id": session}) as answer:
        await answer.read()
        return answer.status


def test_sessions_that_were_left_make_room() -> None:
    """Clients that crashed shut nobody out; who is at work stays."""

    async def talk() -> None:
        opened = [0]
        async with _serving(opened) as (client, url):
            _, used = await _open(client, url)
            for _ in range(120):
                status, session = await _open(client, url)
                assert status == 200
                assert await _ping(client, url, used) == 200
            assert await _ping(client, url, session) == 200
            assert opened[0] <= 65

    asyncio.run(talk())


def test_what_opens_no_session_leaves_none_behind() -> None:
    async def talk() -> None:
        opened = [0]
        async with _serving(opened) as (client, url):
            for method, body in (("GET", None), ("DELETE", None), ("POST", "nonsense"), ("POST", '{"a": 1}')):
                async with client.request(method, url, data=body, headers=ACCEPTED) as answer:
                    assert 400 <= answer.status < 500
            await asyncio.sleep(0.1)
            assert opened[0] == 0

    asyncio.run(talk())


def test_a_message_without_end_is_refused() -> None:
    """Before it fills the memory of the process."""

    async def talk() -> None:
        async def pour() -> AsyncIterator[bytes]:
            for _ in range(64):
                yield b" " * 2**20

        async with _serving([0]) as (client, url):
            headers = {**ACCEPTED, "content-type": "application/json"}
            try:
                async with client.post(url, data=pour(), headers=headers) as answer:
                    assert answer.status == 413
            except aiohttp.ClientConnectionError:  # it hung up before it was all sent
                pass
            assert (await _open(client, url))[0] == 200

    asyncio.run(talk())
