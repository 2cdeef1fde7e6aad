"""The application: a few pages of Laconic's, and the proxy for everything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from laconic.errors import LaconicError
from laconic.exchange.engine_adapter import RequestEngine
from laconic.exchange.recall import Recall
from laconic.gateway.headers import readable
from laconic.gateway.metrics import HELP, Labels, Metrics
from laconic.gateway.planner import GatewayPolicy, Planner
from laconic.gateway.provider_keys import ProviderKeys
from laconic.gateway.proxy import Proxy
from laconic.gateway.routes import Upstreams, target
from laconic.gateway.session_registry import SessionRegistry
from laconic.gateway.team_access import TeamAccess, TeamRefusal
from laconic.gateway.team_gate import TeamGate
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.serving.access_tokens import HEADER, TokenCheck, ask_for_token, has_token, is_token
from laconic.serving.hosts import AllowedHosts, HostCheck
from laconic.serving.readiness import Readiness
from laconic.serving.telemetry import Telemetry
from laconic.wire.prompted_tool_calls.capability import CapabilityMemory
from laconic.wire.refusals import refusal

Endpoint = Callable[[Request], Awaitable[Response]]


class TeamParts(NamedTuple):
    """What a gateway needs to take keys of a team."""

    access: TeamAccess | None = None
    provider_keys: ProviderKeys | None = None
    required: bool = False  # whether it takes no other keys


class GatewayApplication(Starlette):
    """Our own pages, and `proxy` for every other path, without the layers that only pages need: each of them would be
    asked for every piece of a stream."""

    def __init__(
        self,
        proxy: ASGIApp,
        routes: list[Route | Mount],
        lifespan: Lifespan[Starlette],
        check: Callable[..., HostCheck],
    ) -> None:
        super().__init__(routes=routes, lifespan=lifespan)
        self._proxy = proxy
        self._paths = frozenset(route.path for route in routes)
        self._folders = tuple(f"{route.path}/" for route in routes if isinstance(route, Mount))
        self._checked = check(self._choose)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._checked(scope, receive, send)

    async def _choose(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or path in self._paths or path.startswith(self._folders):
            await super().__call__(scope, receive, send)
        else:
            await self._proxy(scope, receive, send)


class WatchedStore(Protocol):
    """A store that counts what was wrong with it."""

    @property
    def faults(self) -> Mapping[str, int]: ...

    @property
    def is_away(self) -> bool: ...


def build(
    upstreams: Upstreams,
    engine: RequestEngine,
    policy: GatewayPolicy,
    token: str = "",
    *,
    hosts: AllowedHosts | None = None,
    viewer_token: str = "",
    history: TurnRecorder | None = None,
    memory: CapabilityMemory | None = None,
    recall: Recall | None = None,
    pages: Mapping[str, ASGIApp] | None = None,
    apart: Callable[[], Planner] | None = None,
    files: Mapping[str, WatchedStore] | None = None,
    readiness: Readiness | None = None,
    team: TeamParts | None = None,
    telemetry: Telemetry | None = None,
) -> Starlette:
    """Put the application together.

    `token` is for the proxy, empty where anybody on this machine may use it with a key of their own; `viewer_token` is
    for the numbers. `pages` are other applications of ours, by path, that ask for a token themselves; `apart` makes a
    second planner, in another process; `files` are watched for faults, by name; `readiness` says when the server drains;
    `team` knows the keys of a team; `telemetry` is told of every request.
    """
    metrics, registry, history = Metrics(), SessionRegistry(time.time), history or TurnRecorder()
    planner = Planner(engine, policy, time.time, memory, recall)
    team = team or TeamParts()
    proxy = Proxy(upstreams, planner, metrics, registry, history, apart=apart, team=team.access, telemetry=telemetry)
    files = dict(files or {})
    if team.access is not None:
        files["team"] = team.access
    _watch(metrics, files, telemetry)
    refuse = partial(_refuse, upstreams)

    async def numbers(request: Request) -> Response:
        if not has_token(request.headers, viewer_token):
            return ask_for_token(request.scope)
        if request.url.path == "/metrics":
            return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")
        await asyncio.wrap_future(history.settled())
        return JSONResponse({"sessions": registry.rows()})

    guarded = _team_gate(team, proxy, _token_check(proxy, token, upstreams), upstreams, metrics)
    readyz = partial(_readyz, files, readiness or Readiness())
    routes = _routes(readyz, numbers, pages or {})
    check = partial(
        HostCheck, hosts=hosts or AllowedHosts(), refuse=lambda scope, problem: refuse(scope, 403, problem)
    )
    app = GatewayApplication(guarded, routes, partial(_lifespan, proxy, telemetry), check)
    app.state.registry = registry
    app.state.metrics = metrics
    return app


def _token_check(proxy: ASGIApp, token: str, upstreams: Upstreams) -> ASGIApp:
    """In front of the proxy, where there is a token."""
    if not token:
        return proxy
    said = f"The gateway wants its token in {HEADER}."
    return TokenCheck(proxy, token, lambda scope: _refuse(upstreams, scope, 401, said), _in_header)


def _team_gate(team: TeamParts, proxy: ASGIApp, others: ASGIApp, upstreams: Upstreams, metrics: Metrics) -> ASGIApp:
    """In front of the proxy: requests with a team's key are checked, `others` takes those without."""

    def turn_away(scope: Scope, why: TeamRefusal) -> Response:
        metrics.add("laconic_team_refusals_total", status=str(why.status))
        answer = _refuse(upstreams, scope, why.status, str(why))
        if why.retry_after:
            answer.headers["retry-after"] = str(why.retry_after)
        return answer

    return TeamGate(
        proxy,
        others,
        upstreams,
        turn_away,
        access=team.access,
        provider_keys=team.provider_keys,
        required=team.required,
    )


def _watch(metrics: Metrics, files: Mapping[str, WatchedStore], telemetry: Telemetry | None) -> None:
    for name, file in files.items():
        metrics.watch("laconic_store_faults_total", partial(_faults, name, file))
        metrics.watch("laconic_store_away", partial(_away, name, file))
    if telemetry is not None:
        for name, about in HELP.items():
            telemetry.watch(name, about, partial(metrics.samples, name))


@asynccontextmanager
async def _lifespan(proxy: Proxy, telemetry: Telemetry | None, app: Starlette) -> AsyncIterator[None]:
    await proxy.start()
    yield
    await proxy.stop()
    if telemetry is not None:
        await asyncio.to_thread(telemetry.close)


def _refuse(upstreams: Upstreams, scope: Scope, status: int, message: str) -> Response:
    """A refusal in the format that the client of this path reads."""
    raw = scope["raw_path"].decode("latin-1")
    try:
        format = target(upstreams, scope["method"], raw, readable(scope["headers"])).format
    except LaconicError:
        format = ""
    return Response(refusal(format, status, message), status, media_type="application/json")


def _routes(readyz: Endpoint, numbers: Endpoint, pages: Mapping[str, ASGIApp]) -> list[Route | Mount]:
    """Our own few pages."""
    found: list[Route | Mount] = [
        Route("/healthz", _healthz),
        Route("/readyz", readyz),
        Route("/metrics", numbers),
        Route("/laconic/sessions", numbers),
    ]
    for path in pages:
        found.append(Route(path, _with_slash))
    for path, page in pages.items():
        found.append(Mount(path, page))
    return found


async def _healthz(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _readyz(files: Mapping[str, WatchedStore], readiness: Readiness, request: Request) -> Response:
    """Whether to send requests here. A store that is away is no reason not to: they pass unchanged."""
    if readiness.draining:
        return PlainTextResponse("draining\n", 503)
    away = ", ".join(name for name, file in files.items() if file.is_away)
    if away:
        return PlainTextResponse(f"ok: the shared store cannot be reached ({away}), so requests pass unchanged\n")
    return PlainTextResponse("ok\n")


async def _with_slash(request: Request) -> Response:
    query = ""
    if request.url.query:
        query = f"?{request.url.query}"
    return RedirectResponse(f"{request.scope['path']}/{query}", 308)


def _in_header(headers: Mapping[str, str], token: str) -> bool:
    """Whether a request to the proxy carries the token; what else authorizes it is for the provider."""
    return is_token(headers.get(HEADER, ""), token)


def _away(name: str, file: WatchedStore) -> dict[Labels, float]:
    return {(("file", name),): float(file.is_away)}


def _faults(name: str, file: WatchedStore) -> dict[Labels, float]:
    found: dict[Labels, float] = {}
    for fault, count in list(file.faults.items()):
        found[(("fault", fault), ("file", name))] = count
    return found
