"""The application: our own few pages, and the proxy for everything else."""

from __future__ import annotations

import hmac
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from laconic.gateway.engine import Engine
from laconic.gateway.headers import readable
from laconic.gateway.history import History
from laconic.gateway.metrics import Metrics
from laconic.gateway.passing import Send
from laconic.gateway.plan import Planner, Policy
from laconic.gateway.proxy import Proxy, Receive, Scope
from laconic.gateway.roster import Roster
from laconic.gateway.routes import Upstreams
from laconic.wire.prompted.capability import Memory

_LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


class Guard:
    """Lets a request in when it carries the token, or when no token is asked for."""

    def __init__(self, app: Proxy, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not admitted(readable(scope["headers"]), self._token):
            answer = JSONResponse({"error": {"message": "The gateway wants its token in x-laconic-token."}}, 401)
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def admitted(headers: dict[str, str], token: str) -> bool:
    """Whether the token is right; compared in constant time."""
    return not token or hmac.compare_digest(headers.get("x-laconic-token", "").encode(), token.encode())


def build(
    upstreams: Upstreams,
    engine: Engine,
    policy: Policy,
    token: str = "",
    *,
    history: History | None = None,
    memory: Memory | None = None,
    pages: Mapping[str, ASGIApp] | None = None,
) -> Starlette:
    """Put the application together; `pages` are other applications of ours, by path, that guard themselves."""
    metrics, roster = Metrics(), Roster(time.time)
    proxy = Proxy(upstreams, Planner(engine, policy, time.time, memory), metrics, roster, history)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await proxy.start()
        yield
        await proxy.stop()

    def private(request: Request) -> bool:
        """Numbers are for this machine, or for who has the token. The host is checked: a web page has another."""
        if token:
            return admitted(dict(request.headers), token)
        host = request.headers.get("host", "").rsplit(":", 1)[0].lower()
        peer = request.client.host if request.client else ""
        return host in _LOCAL_NAMES and _loopback(peer)

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def numbers(request: Request) -> Response:
        if not private(request):
            return PlainTextResponse("from this machine, or with the token\n", 403)
        if request.url.path == "/metrics":
            return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")
        return JSONResponse({"sessions": roster.rows()})

    routes = [
        Route("/healthz", healthz),
        Route("/readyz", healthz),
        Route("/metrics", numbers),
        Route("/laconic/sessions", numbers),
        *(Route(path, _with_slash) for path in pages or {}),
        *(Mount(path, page) for path, page in (pages or {}).items()),
        Mount("/", Guard(proxy, token)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.roster = roster
    app.state.metrics = metrics
    return app


async def _with_slash(request: Request) -> Response:
    return RedirectResponse(f"{request.url.path}/", 308)


def _loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
