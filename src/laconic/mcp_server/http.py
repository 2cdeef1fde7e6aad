"""Serve MCP over streamable HTTP: loopback by default, with a token anywhere else."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from laconic.config import Settings
from laconic.errors import UsageError
from laconic.mcp_server.server import CodePlane

_FAREWELL: Final = 2  # seconds that clients with an open stream get when we end
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})


def serve(
    where: str,
    root: Path,
    settings: Settings,
    announce: Callable[[str], None],
    *,
    editing: bool = False,
    token: str = "",
) -> None:
    """Run until interrupted; the address is announced once clients can connect, which matters for port 0."""
    host, port = address(where)
    app = application(host, root, settings, editing=editing, token=token)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=_FAREWELL)
    try:
        opened = config.bind_socket()
    except SystemExit:  # how uvicorn says that the address is taken
        raise UsageError(f"{where} cannot be bound.", "Another program listens there: name another port.") from None
    shown = f"[{host}]" if ":" in host else host
    announce(f"http://{shown}:{opened.getsockname()[1]}/mcp")
    uvicorn.Server(config).run(sockets=[opened])


def application(host: str, root: Path, settings: Settings, *, editing: bool = False, token: str = "") -> ASGIApp:
    """The ASGI application; Host and Origin are checked by the SDK for loopback, and by the token elsewhere."""
    if host not in _LOOPBACK and not token:
        raise UsageError(
            f"{host} is not a loopback address.", "Give --token, which clients must send, or use 127.0.0.1."
        )
    app = CodePlane(root, settings, editing=editing).server().streamable_http_app(host=host)
    return _Guarded(app, token) if token else app


def address(where: str) -> tuple[str, int]:
    """Host and port of `host:port`, `:port` or `port`."""
    host, _, port = where.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise UsageError(f"{where!r} is not HOST:PORT.", "For example 127.0.0.1:8900.")
    return host.strip("[]") or "127.0.0.1", int(port)


class _Guarded:
    """Lets a request pass only with the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(sent, self._wanted):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"A bearer token is required.\n"})
                return
        await self._app(scope, receive, send)
