"""A client over streamable HTTP: a transport of the SDK and a relay for each session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import uuid4

from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope
from starlette.types import Message as AsgiMessage
from starlette.types import Send as AsgiSend

from laconic.mcp_proxy.messages import Identifier, Message, is_notification
from laconic.mcp_proxy.relay import MakeRelay
from laconic.serving.access_tokens import TokenCheck
from laconic.serving.hosts import AllowedHosts, HostCheck
from laconic.serving.session_limit import SESSION, SessionLimit

_SESSIONS: Final = 64
_SPARE: Final = 16  # sessions above the limit that may be open while others are being ended
_LARGEST: Final = 32 * 1024 * 1024  # bytes of a message
_IDLE: Final = 1_800.0  # seconds after which a silent session ends
_QUEUED: Final = 500  # messages that wait for a client; while they do, notifications of a flood are dropped


class HttpFront:
    """An ASGI application: every session has a transport of the SDK and a relay."""

    def __init__(self, make: MakeRelay) -> None:
        self._make = make
        self._sessions: dict[str, Any] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def handle(self, scope: Scope, receive: Receive, send: AsgiSend) -> None:
        name = Request(scope).headers.get(SESSION)
        if name is None:
            await self._begin(scope, receive, send)
        elif name in self._sessions:
            await self._go_on(name, scope, receive, send)
        else:
            await PlainTextResponse("Session not found", 404)(scope, receive, send)

    async def _begin(self, scope: Scope, receive: Receive, send: AsgiSend) -> None:
        """A session opens with a message, and only if that is one that opens sessions."""
        if scope["method"] != "POST":
            await PlainTextResponse("Name a session", 400)(scope, receive, send)
            return
        if len(self._sessions) >= _SESSIONS + _SPARE:
            await PlainTextResponse("Too many sessions", 503)(scope, receive, send)
            return
        name = await self._open()
        is_open = False

        async def watch(message: AsgiMessage) -> None:
            nonlocal is_open
            if message["type"] == "http.response.start":
                is_open = message["status"] < 400
            await send(message)

        try:
            await self._go_on(name, scope, receive, watch)
        finally:
            if not is_open:
                self._end(name)

    async def _go_on(self, name: str, scope: Scope, receive: Receive, send: AsgiSend) -> None:
        transport = self._sessions[name]
        await transport.handle_request(scope, receive, send)
        if transport.is_terminated:
            self._end(name)

    async def close(self) -> None:
        for name in list(self._sessions):
            self._end(name)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _open(self) -> str:
        name = uuid4().hex
        self._sessions[name] = StreamableHTTPServerTransport(mcp_session_id=name, idle_timeout=_IDLE)
        ready = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._run(name, ready))
        await ready.wait()
        return name

    def _end(self, name: str) -> None:
        self._sessions.pop(name, None)
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()

    async def _run(self, name: str, ready: asyncio.Event) -> None:
        """One session, in a task of its own: its streams must be closed where they were opened."""
        transport = self._sessions[name]
        outgoing: asyncio.Queue[tuple[Message, Identifier | None]] = asyncio.Queue()

        def send(message: Message, related: Identifier | None) -> None:
            if outgoing.qsize() < _QUEUED or not is_notification(message):
                outgoing.put_nowait((message, related))

        relay = self._make(send)

        async def write(stream: Any) -> None:
            while True:
                message, related = await outgoing.get()
                metadata = None if related is None else ServerMessageMetadata(related_request_id=related)
                await stream.send(SessionMessage(jsonrpc_message_adapter.validate_python(message), metadata))

        try:
            async with transport.connect() as (incoming, stream):
                ready.set()
                writer = asyncio.create_task(write(stream))
                try:
                    async for item in incoming:
                        if isinstance(item, SessionMessage):
                            relay.receive(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))
                finally:
                    writer.cancel()
        finally:
            ready.set()
            self._sessions.pop(name, None)
            await relay.close()


def around_application(make: MakeRelay, hosts: AllowedHosts, token: str = "") -> ASGIApp:
    """The ASGI application; without a token everybody who reaches it is let in."""
    front = HttpFront(make)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await front.close()

    bounded = SessionLimit(RequestBodyLimitMiddleware(front.handle, _LARGEST), _SESSIONS)
    app: ASGIApp = Starlette(routes=[Route("/mcp", bounded)], lifespan=lifespan)
    if token:
        app = TokenCheck(app, token)
    return HostCheck(app, hosts)
