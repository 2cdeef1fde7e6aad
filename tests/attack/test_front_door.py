"""Strangers at the listeners: endless, slow and half-open requests, pages of other sites, other users of the machine."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.gateway.stage import Stage, play

from laconic.cli.commands.gateway import application, known_upstreams
from laconic.config import Settings, child_environment
from laconic.dashboard.app import PAGES
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream
from laconic.serving.access_tokens import own_token
from laconic.serving.connection_limits import ConnectionBounds
from laconic.serving.listen import bind, listen
from laconic.serving.server import server_for
from laconic.sessions.archive import Archive
from laconic.sessions.turn_record import AnswerCost, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

CHAT = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
POST = b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\n"
DESCRIPTORS = 600
FLOOD = 100 * 10**6
SECRET = "what-a-tool-said-in-private"
TITLE = "the-title-of-a-session"
HASTY = ConnectionBounds(head_seconds=0.3, body_seconds=0.3)


def _fine(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b'{"usage":{"input_tokens":1}}',))


# A gateway in a process of its own, with few descriptors.


@dataclass(frozen=True)
class Gateway:
    port: int
    pid: int

    def peak(self) -> int:
        """The most memory that it ever had, in bytes."""
        text = Path(f"/proc/{self.pid}/status").read_text("utf-8")
        found = re.search(r"VmHWM:\s+(\d+) kB", text)
        assert found is not None
        return int(found[1]) * 1024

    def descriptors(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())


@asynccontextmanager
async def _gateway(folder: Path) -> AsyncIterator[Gateway]:
    async with ScriptedUpstream(_fine) as upstream:
        own = {"LACONIC_CACHE_DIR": str(folder / "cache"), "LACONIC_STATE_DIR": str(folder / "state")}
        config = folder / "config.toml"
        config.write_text("")
        words = [sys.executable, "-m", "laconic", "gateway", "--config", str(config), "--listen", "127.0.0.1:0"]
        process = await asyncio.create_subprocess_exec(
            *words,
            "--anthropic-url",
            upstream.url,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment(own),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, DESCRIPTORS)),
        )
        try:
            assert process.stdout is not None
            port = int((await process.stdout.readline()).decode().rsplit(":", 1)[1])
            await _served(port)
            yield Gateway(port, process.pid)
        finally:
            process.terminate()
            await process.wait()


async def _say(port: int, request: bytes) -> bytes:
    """Everything that is answered on one connection until it ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = b""
    try:
        writer.write(request)
        with suppress(ConnectionError):
            while chunk := await asyncio.wait_for(reader.read(2**16), 20):
                said += chunk
    finally:
        writer.close()
    return said


async def _served(port: int) -> None:
    """The server answers: its own page, and a request that it passes on."""
    head = b"host: 127.0.0.1\r\nconnection: close\r\n"
    assert b" 200 " in (await _say(port, b"GET /healthz HTTP/1.1\r\n" + head + b"\r\n")).split(b"\r\n")[0]
    length = b"content-length: %d\r\n\r\n" % len(CHAT)
    said = await _say(port, b"POST /v1/messages HTTP/1.1\r\n" + head + length + CHAT)
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b'"input_tokens":1' in said


def _value() -> Iterator[bytes]:
    yield POST + b"x-long: "
    while True:
        yield b"a" * 2**16


def _names() -> Iterator[bytes]:
    yield POST
    number = 0
    while True:
        yield b"".join(b"x-%d: 1\r\n" % n for n in range(number, number + 1000))
        number += 1000


def _address() -> Iterator[bytes]:
    yield b"GET /"
    while True:
        yield b"a" * 2**16


def _blank_lines() -> Iterator[bytes]:
    while True:
        yield b"\r\n" * 2**15


def _trailers() -> Iterator[bytes]:
    yield POST + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    number = 0
    while True:
        yield b"".join(b"t-%d: 1\r\n" % n for n in range(number, number + 1000))
        number += 1000


def _trailer() -> Iterator[bytes]:
    yield POST + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nt: "
    while True:
        yield b"a" * 2**16


def _extension() -> Iterator[bytes]:
    yield POST + b"transfer-encoding: chunked\r\n\r\n2;x="
    while True:
        yield b"a" * 2**16


FLOODS = [_value, _names, _address, _blank_lines, _trailers, _trailer, _extension]


def _flood(port: int, pieces: Iterator[bytes]) -> int:
    """Send until the server takes no more, at most the whole flood; how many bytes it took."""
    sent = 0
    with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**16)
        with suppress(ConnectionError):
            for piece in pieces:
                peer.sendall(piece)
                sent += len(piece)
                if sent > FLOOD:
                    break
    return sent


@pytest.mark.parametrize("pieces", FLOODS, ids=lambda made: made.__name__.strip("_"))
def test_an_endless_request_is_not_read(tmp_path: Path, pieces: Callable[[], Iterator[bytes]]) -> None:
    """Of a hundred megabytes before the body the server takes what sockets hold, and its memory stays as it was."""

    async def attack() -> None:
        async with _gateway(tmp_path) as gateway:
            before = gateway.peak()
            assert await asyncio.to_thread(_flood, gateway.port, pieces()) < FLOOD / 10
            assert gateway.peak() - before < 8 * 2**20
            await _served(gateway.port)

    asyncio.run(attack())


@pytest.mark.parametrize(
    "head",
    [
        b"x-long: " + b"a" * 80_000 + b"\r\n",
        b"".join(b"x-%d: 1\r\n" % n for n in range(200)),
        b"".join(b"x-%d: %s\r\n" % (n, b"a" * 1000) for n in range(100)),
    ],
    ids=["long", "many", "both"],
)
def test_who_sends_too_many_headers_is_told(head: bytes) -> None:
    async def scene(where: Stage) -> None:
        said = await _say(_port(where), POST + head + b"content-length: 2\r\n\r\n{}")
        assert said.startswith(b"HTTP/1.1 431 ")
        assert b"at most" in said
        assert where.upstream.asked == []

    play(scene, _fine)


def test_headers_of_real_clients_fit() -> None:
    """A long bearer token and many headers pass."""

    async def scene(where: Stage) -> None:
        many = {f"x_{number}": "v" * 100 for number in range(60)}
        status, _, _ = await where.post("/v1/messages", CHAT, authorization="Bearer " + "t" * 16_000, **many)
        assert status == 200

    play(scene, _fine)


def test_trailers_do_not_become_headers() -> None:
    """What was checked at the front stays what is passed on."""

    async def scene(where: Stage) -> None:
        body = b"%x\r\n%s\r\n0\r\nx-late: 1\r\nhost: evil.example\r\n\r\n" % (len(CHAT), CHAT)
        head = b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        assert (await _say(_port(where), POST + head + body)).startswith(b"HTTP/1.1 200 ")
        (asked,) = where.upstream.asked
        assert asked.body == CHAT
        assert asked.header("x-late") == ""

    play(scene, _fine)


def _port(where: Stage) -> int:
    return int(where.base.rsplit(":", 1)[1])


async def _drip(port: int, start: bytes, rest: bytes) -> bytes:
    """Send a byte now and then until the server has had enough; what it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def send() -> None:
        with suppress(ConnectionError):
            writer.write(start)
            for number in range(len(rest)):
                await asyncio.sleep(0.05)
                writer.write(rest[number : number + 1])
                await writer.drain()

    sending = asyncio.ensure_future(send())
    said = b""
    try:
        with suppress(ConnectionError):
            said = await asyncio.wait_for(reader.read(), 15)
        assert not sending.done(), "the server waited for all of it"
    finally:
        sending.cancel()
        writer.close()
    return said


@pytest.mark.parametrize(
    ("start", "rest"),
    [
        (b"", b""),
        (b"G", b"ET /healthz" * 100),
        (POST, b"x-slow: " + b"a" * 1000),
        (POST + b"content-length: 100000\r\n\r\n", b"a" * 1000),
        (POST + b"transfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 200),
    ],
    ids=["silence", "request line", "headers", "body", "chunks"],
)
def test_who_is_too_slow_is_dropped(start: bytes, rest: bytes) -> None:
    """Whether nothing comes or a byte now and then; the provider hears of none of it."""

    async def scene(where: Stage) -> None:
        if rest:
            assert (await _drip(_port(where), start, rest)).startswith(b"HTTP/1.1 408 ")
        else:
            assert await _say(_port(where), start) == b""
        assert where.upstream.asked == []
        assert (await where.get("/healthz"))[0] == 200

    play(scene, _fine, bounds=HASTY)


def test_slow_answers_and_large_bodies_are_not_hurried() -> None:
    """Limits are for the peer: a provider may think for longer, and a body that keeps coming may take its time."""
    body = CHAT.replace(b"hi", b"h" * 20_000)

    async def scene(where: Stage) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(where))
        for _ in range(2):  # on one connection, with a rest that is longer than any limit in between
            writer.write(POST + b"content-length: %d\r\n\r\n" % len(body))
            for start in range(0, len(body), 2000):
                writer.write(body[start : start + 2000])
                await asyncio.sleep(0.1)
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
            await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 10)
            await asyncio.sleep(0.5)
        writer.close()
        assert [asked.body for asked in where.upstream.asked] == [body, body]

    play(scene, lambda _: ScriptedAnswer((b"{", b"}"), pause=0.5), bounds=HASTY)


HALVES = [b"", b"GET /healthz HTTP/1.1\r\n", POST + b"x-a: 1\r\n", POST + b"content-length: 100\r\n\r\n{"]


@pytest.mark.parametrize("half", HALVES, ids=["silent", "request line", "headers", "body"])
def test_half_open_requests_do_not_shut_others_out(tmp_path: Path, half: bytes) -> None:
    """Of 1,100 connections that never finish the oldest are closed; there are descriptors for everybody else."""

    async def attack() -> None:
        async with _gateway(tmp_path) as gateway:
            open_ones = []
            try:
                for _ in range(1_100):
                    _, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
                    writer.write(half)
                    open_ones.append(writer)
                await _served(gateway.port)
                assert gateway.descriptors() < DESCRIPTORS / 2
            finally:
                for writer in open_ones:
                    writer.close()
            await _served(gateway.port)

    asyncio.run(attack())


def test_a_burst_of_half_open_requests_refuses_nobody(tmp_path: Path) -> None:
    """Hundreds that arrive at one moment, more than the server has room for: the request behind them is served."""

    async def attack() -> None:
        async with _gateway(tmp_path) as gateway, AsyncExitStack() as opened:

            async def open_halves(count: int) -> None:
                for _ in range(count):
                    _, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
                    opened.callback(writer.close)
                    writer.write(HALVES[-1])

            for _ in range(5):
                await open_halves(140)
                os.kill(gateway.pid, signal.SIGSTOP)  # the kernel takes them meanwhile, so they arrive together
                asyncio.get_running_loop().call_later(0.3, os.kill, gateway.pid, signal.SIGCONT)
                await open_halves(140)
                await _served(gateway.port)

    asyncio.run(attack())


def test_idle_connections_do_not_shut_others_out(tmp_path: Path) -> None:
    """Nor do 1,100 that were answered once and stay."""

    async def attack() -> None:
        async with _gateway(tmp_path) as gateway:
            open_ones = []
            for _ in range(1_100):
                reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
                writer.write(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
                assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
                open_ones.append(writer)
            await _served(gateway.port)
            assert gateway.descriptors() < DESCRIPTORS / 2
            for writer in open_ones:
                writer.close()

    asyncio.run(attack())


def test_requests_in_advance_are_few() -> None:
    """A handful is answered in order; a flood ends its connection, and no other."""
    one = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"

    async def scene(where: Stage) -> None:
        assert (await _say(_port(where), one * 9 + last)).count(b"HTTP/1.1 200 ") == 10
        assert (await _say(_port(where), one * 5_000 + last)).count(b"HTTP/1.1 200 ") < 100
        assert (await where.get("/healthz"))[0] == 200

    play(scene, _fine)


# Pages of other sites.


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/messages", {"type": "error"}),
        ("/v1/chat/completions", {}),
        ("/v1/responses", {}),
        ("/v1beta/models/m:generateContent", {}),
    ],
)
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8787", "origin": "http://evil.example:8787"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "localhost.evil.example:80"},
        {"host": "evil@127.0.0.1"},
        {"host": "127.0.0.1/x"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://localhost:3000"},
        {"origin": "app://obsidian.md"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
    ],
    ids=lambda headers: " ".join(headers.values()) or "empty",
)
def test_a_page_of_another_site_reaches_no_provider(path: str, kind: dict[str, str], headers: dict[str, str]) -> None:
    """Neither by a name that points here nor by asking across sites; the refusal is one that the client can read."""

    async def scene(where: Stage) -> None:
        status, _, said = await where.post(path, CHAT, **headers)
        assert status == 403
        answer = json.loads(said)
        assert answer["error"]["message"]
        assert kind.items() <= answer.items()
        assert where.upstream.asked == []

    play(scene, _fine)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}", "127.0.0.1", "localhost:1"]
)
def test_programs_on_this_machine_pass(host: str) -> None:
    async def scene(where: Stage) -> None:
        status, _, _ = await where.post("/v1/messages", CHAT, host=host.format(_port(where)))
        assert status == 200

    play(scene, _fine)


def test_two_hosts_are_none() -> None:
    async def scene(where: Stage) -> None:
        said = await _say(
            _port(where), POST + b"host: evil.example\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        )
        assert said[:12] in {b"HTTP/1.1 403", b"HTTP/1.1 400"}
        assert where.upstream.asked == []

    play(scene, _fine)


# Other users of the machine: they reach the port, and have no token.

TRICKS = (
    "/laconic/dashboard{}",
    "//laconic/dashboard{}",
    "/laconic//dashboard{}",
    "/laconic/dashboard/{}",
    "/laconic/%64ashboard{}",
    "/laconic%2fdashboard{}",
    "/LACONIC/dashboard{}",
    "/laconic/Dashboard{}",
    "/./laconic/dashboard{}",
    "/v1/../laconic/dashboard{}",
    "/v1/%2e%2e/laconic/dashboard{}",
    "/laconic/dashboard/static/..{}",
    "/laconic/dashboard/static/%2e%2e{}",
    "/laconic/dashboard/..;{}",
    "http://127.0.0.1/laconic/dashboard{}",
    "http://evil.example/laconic/dashboard{}",
)


def test_other_users_see_nothing(settings: Settings) -> None:
    """No page, no figure, no archived text on any path to the dashboard, however it is written; the owner sees them."""
    ref = Archive.of(settings).put("s", "t", SECRET.encode())
    record = Turns(settings.cache_dir() / FILE)
    record.add(TurnRecord(TurnIdentity(TITLE), 1.0, 200, cost=AnswerCost(5, 0, 0, 1, 9.0)))
    record.close()
    pages = [f"/{name}" for name in PAGES] + [f"/api/{name or 'overview'}.json" for name in PAGES] + ["/archive.txt"]
    paths = [
        trick.format(f"{page}?days=0&name={TITLE}&ref={ref}{more}")
        for trick in TRICKS
        for page in pages
        for more in ("", "&token=", "&token=wrong")
    ]
    paths += ["/metrics", "//metrics", "/%6detrics", "/laconic/sessions", "/laconic/%73essions", "/laconic/sessions/"]

    async def scene() -> None:
        async with _served_in_process(settings) as (port, upstream):
            for path in paths:
                said = await _ask(port, path)
                assert SECRET.encode() not in said, path
                assert TITLE.encode() not in said.split(b"\r\n\r\n", 1)[1] or b"from the provider" in said, path
                assert b"laconic_requests_total" not in said, path
                assert not re.search(rb"set-cookie", said, re.I), path
            token = own_token(settings.state_dir())
            owner = f"x-laconic-token: {token}\r\n"
            assert SECRET.encode() in await _ask(port, f"/laconic/dashboard/archive.txt?ref={ref}", owner)
            assert TITLE.encode() in await _ask(port, "/laconic/dashboard/sessions", owner)
            assert b"laconic_requests_total" in await _ask(port, "/metrics", f"authorization: Bearer {token}\r\n")
            for asked in upstream.asked:
                assert asked.header("x-laconic-token") == ""

    asyncio.run(scene())


@asynccontextmanager
async def _served_in_process(settings: Settings) -> AsyncIterator[tuple[int, ScriptedUpstream]]:
    async with ScriptedUpstream(lambda _: ScriptedAnswer((b"from the provider",))) as upstream:
        where = listen("127.0.0.1:0", "", "", "", insecure=False)
        app = application(known_upstreams(settings, upstream.url, upstream.url), settings, off=False, where=where)
        opened = bind(where)
        server = server_for(app, where)
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield opened.getsockname()[1], upstream
        finally:
            server.should_exit = True
            await serving


async def _ask(port: int, path: str, more: str = "") -> bytes:
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n{more}\r\n"
    return await _say(port, head.encode())
