"""The application: each page once as HTML and once as JSON, from the same figures."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib.resources import files
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from laconic.config import Settings
from laconic.dashboard.access import OneToken, RequestGuard
from laconic.dashboard.json_document import JsonNode, document
from laconic.dashboard.layout import PERIODS
from laconic.dashboard.pages.causes import causes_page
from laconic.dashboard.pages.overview import overview_page
from laconic.dashboard.pages.session import session_page
from laconic.dashboard.pages.sessions import ORDERS, sessions_page
from laconic.dashboard.pages.spending import spending_page
from laconic.dashboard.pages.tools_and_models import archive_page, failure_page, models_page, tools_page
from laconic.dashboard.queries import DashboardQueries
from laconic.errors import LaconicError, RecallFailed, UnknownName, UsageError
from laconic.serving.hosts import AllowedHosts, HostCheck
from laconic.sessions.spending import Order, SessionFilter

Query = Mapping[str, str]
Read = Callable[[DashboardQueries, Query], msgspec.Struct]
Write = Callable[[JsonNode], str]

STATIC: Final = {"dashboard.css": "text/css", "dashboard.js": "text/javascript", "icon.svg": "image/svg+xml"}
_LONGEST: Final = 200  # characters of a search
_MOMENT: Final = 5.0  # seconds for which figures that depend on the clock count as unchanged


def make_standalone_application(settings: Settings, token: str, hosts: AllowedHosts) -> Starlette:
    """The dashboard as a server of its own."""
    check = Middleware(HostCheck, hosts)
    return Starlette(routes=[Mount("/", make_application(settings, token))], middleware=[check])


def make_application(settings: Settings, token: str) -> ASGIApp:
    """The dashboard of one cache folder, for those who have the token, below any path of another application."""
    queries = DashboardQueries(settings)
    routes = []
    for each in STATIC:
        routes.append(Route(f"/static/{each}", serve_static))
    routes.append(Route("/archive.txt", _endpoint(queries, _original)))
    for name, (read, write) in PAGES.items():
        routes.append(Route(f"/{name}", _endpoint(queries, _page(name, read, write))))
        routes.append(Route(f"/api/{name or 'overview'}.json", _endpoint(queries, _json(read))))
    return RequestGuard(Starlette(routes=routes, exception_handlers={404: _missing}), OneToken(token))


def read_days(query: Query) -> int:
    """The period that a page is asked for."""
    days = _whole(query, "days", 30)
    if days not in {period for period, _ in PERIODS}:
        raise UsageError("There is no such period.", f"days is one of {', '.join(str(n) for n, _ in PERIODS)}.")
    return days


def _sessions(queries: DashboardQueries, query: Query) -> msgspec.Struct:
    orders: dict[str, Order] = {}
    for each, _ in ORDERS:
        orders[str(each)] = each
    order = query.get("order", "last")
    if order not in orders:
        raise UnknownName("order", order, tuple(orders))
    wanted = SessionFilter(project=query.get("project", ""), words=query.get("words", "")[:_LONGEST])
    return queries.sessions(orders[order], _whole(query, "page", 1), wanted, query.get("client", ""))


PAGES: Final[dict[str, tuple[Read, Write]]] = {
    "": (lambda queries, query: queries.overview(read_days(query)), overview_page),
    "sessions": (_sessions, sessions_page),
    "session": (
        lambda queries, query: queries.session(query.get("name", ""), _whole(query, "until", 0)),
        session_page,
    ),
    "spent": (lambda queries, query: queries.spending(read_days(query)), spending_page),
    "causes": (lambda queries, query: queries.causes(read_days(query)), causes_page),
    "tools": (lambda queries, _: queries.tools(), tools_page),
    "models": (lambda queries, _: queries.models(), models_page),
    "archive": (lambda queries, query: queries.archive_entry(query.get("ref", "")), archive_page),
}


def _page(name: str, read: Read, write: Write) -> Callable[[DashboardQueries, Request], Response]:
    """HTML; a client that has it already gets nothing but that word."""

    def answer(queries: DashboardQueries, request: Request) -> Response:
        seen = f"{request.url.query}\n{queries.moment(_MOMENT)}\n{queries.version()}"
        mark = f'"{blake2b(seen.encode(), digest_size=12).hexdigest()}"'
        if request.headers.get("if-none-match") == mark:
            return Response(status_code=304, headers={"etag": mark})
        address = f"api/{name or 'overview'}.json{'?' if request.url.query else ''}{request.url.query}"
        return HTMLResponse(write(document(read(queries, request.query_params), address)), headers={"etag": mark})

    return answer


def _json(read: Read) -> Callable[[DashboardQueries, Request], Response]:
    def answer(queries: DashboardQueries, request: Request) -> Response:
        body = msgspec.json.encode(read(queries, request.query_params))
        return Response(body, media_type="application/json")

    return answer


def _original(queries: DashboardQueries, request: Request) -> Response:
    return PlainTextResponse(queries.archive_bytes(request.query_params.get("ref", "")))


def _endpoint(
    queries: DashboardQueries, answer: Callable[[DashboardQueries, Request], Response]
) -> Callable[[Request], Response]:
    """Not a coroutine: it runs in a thread, so that a gateway in the same process goes on."""

    def endpoint(request: Request) -> Response:
        try:
            with queries.lock:
                return answer(queries, request)
        except (UsageError, RecallFailed) as error:
            return _refusal(request, 404, "Not found", error)
        except (LaconicError, sqlite3.Error) as error:
            return _refusal(request, 500, "The record cannot be read", error)

    return endpoint


def _refusal(request: Request, status: int, title: str, error: Exception) -> Response:
    if request.url.path.endswith(".json"):
        return Response(msgspec.json.encode({"error": str(error)}), status, media_type="application/json")
    return HTMLResponse(failure_page(title, str(error)), status)


def serve_static(request: Request) -> Response:
    """Style, script and icon."""
    name = request.url.path.rsplit("/", 1)[-1]
    body = files("laconic.dashboard").joinpath("static", name).read_bytes()
    return Response(body, media_type=STATIC[name])


def _missing(request: Request, _: Exception) -> Response:
    return HTMLResponse(failure_page("Not found", "There is no such page."), 404)


def _whole(query: Query, name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise UsageError(f"{name} is {text!r}.", "Write a whole number.")
    return int(text)
