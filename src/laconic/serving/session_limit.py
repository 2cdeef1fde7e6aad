"""A limit to the sessions of a server that speaks MCP over HTTP: clients that crash never end theirs."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION: Final = "mcp-session-id"


class SessionLimit:
    """Ends the session that was silent longest when there are too many."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._under_way: dict[str, int] = {}  # requests by session, that which was silent longest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session = Headers(scope=scope).get(SESSION, "")
        if session in self._under_way:
            self._under_way[session] = self._under_way.pop(session) + 1

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope["method"], session, message["status"], Headers(raw=message["headers"]))
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            if session in self._under_way:
                self._under_way[session] -= 1
        if len(self._under_way) > self._most:
            await self._end_silent(scope)

    def _note(self, method: str, session: str, status: int, headers: Headers) -> None:
        ended = status == 404 or (method == "DELETE" and status < 300)
        if session and ended:
            self._under_way.pop(session, None)
        elif opened := headers.get(SESSION, ""):
            self._under_way.setdefault(opened, 0)

    async def _end_silent(self, scope: Scope) -> None:
        """Say for the client that it is done. Sessions with a request or a stream under way are left alone."""
        silent = next((session for session, requests in self._under_way.items() if requests <= 0), None)
        if silent is None:
            return
        del self._under_way[silent]
        headers = [(SESSION.encode(), silent.encode()), (b"accept", b"application/json, text/event-stream")]
        await self._app({**scope, "method": "DELETE", "headers": headers}, _no_body, _ignore)


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(message: Message) -> None:
    """Nobody waits for this answer."""
