"""Over HTTP: who may connect, and that sessions stay apart."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from tests.samples import shop

from laconic.config import Settings, child_environment
from laconic.mcp_server.http import SessionLimits, application
from laconic.serving.access_tokens import own_token
from laconic.serving.hosts import allowed_hosts
from laconic.serving.listen import bind, listen
from laconic.serving.server import server_for
from laconic_benchmarks.clients import crowd, workspace

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPTED = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def _serving(
    root: Path, settings: Settings, token: str = "", limits: SessionLimits | None = None
) -> AsyncIterator[str]:
    where = listen("127.0.0.1:0", token, "", "", insecure=False)
    opened = bind(where)
    server = server_for(application(root, settings, allowed_hosts(where), token=token, limits=limits), where)
    running = asyncio.ensure_future(server.serve(sockets=[opened]))
    while not server.started:
        await asyncio.sleep(0.01)
    yield f"{where.url(opened)}/mcp"
    server.should_exit = True
    await running


async def _status(url: str, **headers: str) -> int:
    sent = {**ACCEPTED, **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with aiohttp.ClientSession() as client, client.post(url, json=INITIALIZE, headers=sent) as answer:
        return answer.status


def test_a_token_is_asked_for_and_compared_whole(tmp_path: Path, settings: Settings) -> None:
    async def talk() -> None:
        async with _serving(shop(tmp_path), settings, token="secret") as url:
            assert await _status(url) == 401
            assert await _status(url, authorization="Bearer secre") == 401
            assert await _status(url, authorization="Bearer secret2") == 401
            assert await _status(url, authorization="Bearer secret") == 200
            assert await _status(url, x_laconic_token="secret") == 200

    asyncio.run(talk())


def test_a_page_of_another_site_is_refused(tmp_path: Path, settings: Settings) -> None:
    """Its Host or its Origin gives it away; our own address is let in."""

    async def talk() -> None:
        async with _serving(shop(tmp_path), settings) as url:
            assert await _status(url) == 200
            assert await _status(url, host="evil.example.com") == 403
            assert await _status(url, origin="http://evil.example.com") == 403
            assert await _status(url, origin=url.removesuffix("/mcp")) == 200

    asyncio.run(talk())


def test_sessions_of_clients_at_once_stay_apart(tmp_path: Path, settings: Settings) -> None:
    """Each gets its own answers, whole on first sight, however many others have had the same."""

    async def talk() -> None:
        async with _serving(workspace(tmp_path / "code", 3), settings) as url:
            tally = await crowd(url, 3, 0.0)
            assert (tally.errors, tally.mixed) == ([], [])
            assert tally.calls == 15

    asyncio.run(talk())


async def _open(client: aiohttp.ClientSession, url: str) -> str:
    async with client.post(url, json=INITIALIZE, headers=ACCEPTED) as answer:
        assert answer.status == 200
        return answer.headers["mcp-session-id"]


async def _ping(client: aiohttp.ClientSession, url: str, session: str) -> int:
    said = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    async with client.post(url, json=said, headers={**ACCEPTED, "mcp-session-id": session}) as answer:
        return answer.status


def test_sessions_that_were_left_make_room(tmp_path: Path, settings: Settings) -> None:
    """A client that comes later is let in; those that are in use stay, those that were silent longest end."""

    async def talk() -> None:
        async with (
            _serving(shop(tmp_path), settings, limits=SessionLimits(sessions=4)) as url,
            aiohttp.ClientSession() as client,
        ):
            used = await _open(client, url)
            stream = await client.get(url, headers={**ACCEPTED, "mcp-session-id": await _open(client, url)})
            left = []
            for _ in range(80):  # more than the SDK would allow to be open
                left.append(await _open(client, url))
                assert await _ping(client, url, used) == 200
            statuses = [await _ping(client, url, session) for session in left]
            assert statuses == [404] * 78 + [200] * 2
            assert not stream.content.at_eof()
            stream.close()

    asyncio.run(talk())


def test_a_silent_session_ends(tmp_path: Path, settings: Settings) -> None:
    async def talk() -> None:
        async with (
            _serving(shop(tmp_path), settings, limits=SessionLimits(idle_seconds=0.2)) as url,
            aiohttp.ClientSession() as client,
        ):
            session = await _open(client, url)
            assert await _ping(client, url, session) == 200
            await asyncio.sleep(1)
            assert await _ping(client, url, session) == 404

    asyncio.run(talk())


def test_the_command_wants_the_token_of_this_user(tmp_path: Path) -> None:
    """Other users of the machine reach the port; what they would read there is the code, and what was left out."""
    own = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_STATE_DIR": str(tmp_path / "state")}
    settings = tmp_path / "config.toml"
    settings.write_text("")
    root = shop(tmp_path)
    words = ["mcp", "--config", str(settings), "--root", str(root), "--http", "127.0.0.1:0"]
    with subprocess.Popen(
        [sys.executable, "-m", "laconic", *words], stdout=subprocess.PIPE, text=True, env=child_environment(own)
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            assert asyncio.run(_status(url)) == 401
            token = own_token(tmp_path / "state", make=False)
            assert asyncio.run(_status(url, authorization=f"Bearer {token}")) == 200
        finally:
            process.terminate()
