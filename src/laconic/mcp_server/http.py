"""Serve MCP over streamable HTTP: loopback by default, with a token anywhere else."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from laconic.config import Settings
from laconic.errors import UsageError
from laconic.mcp_server.server import CodePlane

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})


def serve(where: str, root: Path, settings: Settings, *, editing: bool = False, token: str = "") -> None:
    """Run until interrupted."""
    host, port = address(where)
    uvicorn.run(
        application(host, root, settings, editing=editing, token=token), host=host, port=port, log_level="warning"
    )


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
