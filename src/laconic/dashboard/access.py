"""Who may see the pages: whoever has the token, or a key of the team."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Final, Protocol
from urllib.parse import parse_qs, quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laconic.dashboard.layout import page
from laconic.dashboard.markup import tag
from laconic.serving.access_tokens import HEADER, has_token, is_token
from laconic.serving.bounded_body import read_bounded

VIEWER: Final = "laconic.viewer"  # in the scope of a request: who was let in; a client cannot write there
_LONGEST: Final = 4_096  # bytes of the form that holds a token
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # without any, browsers send our own form as if from nowhere: `Origin: null`
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Doorkeeper(Protocol):
    """Knows who may come in."""

    question: str  # what somebody reads who brought nothing
    answer: str  # and somebody who brought something else

    async def admit(self, headers: Mapping[str, str], cookie: str) -> object:
        """Who that is; None: nobody."""

    async def make_pass(self, token: str) -> str:
        """What a browser with this token gets for a cookie; empty: it is no token."""


class OneToken:
    """The same token for everybody."""

    question = (
        "Paste your token: it is in the file named token in the state folder, and in the link that was printed."
    )
    answer = "That is not the token."

    def __init__(self, token: str) -> None:
        self._token = token
        self._pass = ""
        if token:
            self._pass = hmac.new(token.encode(), b"laconic dashboard", sha256).hexdigest()

    async def admit(self, headers: Mapping[str, str], cookie: str) -> object:
        if has_token(headers, self._token) or is_token(cookie, self._pass):
            return self
        return None

    async def make_pass(self, token: str) -> str:
        if is_token(token, self._token):
            return self._pass
        return ""


class RequestGuard:
    """Asks for the token, and closes what browsers leave open.

    A browser brings the token once, in the link that was printed or in a form, and gets a cookie for it.
    """

    def __init__(self, app: ASGIApp, door: Doorkeeper) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = []
                for name, value in _HEADERS.items():
                    added.append((name.encode(), value.encode()))
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        answered = await self._answer(Request(scope, receive))
        await (self._app if answered is None else answered)(scope, receive, closed)

    async def _answer(self, request: Request) -> Response | None:
        """What is said before any page is; None when the page may be shown."""
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and (cookie := await self._door.make_pass(given)):
            return _enter(request, cookie)
        viewer = await self._door.admit(request.headers, _read_cookie(request))
        if viewer is not None:
            request.scope[VIEWER] = viewer
            return None
        path = request.scope["path"]
        if path.endswith((".json", ".csv")):
            return JSONResponse({"error": f"The token is missing: send it in {HEADER}."}, 401)
        if request.method == "POST":
            return await self._read_form(request)
        return _form(self._door.question if given is None else self._door.answer)

    async def _read_form(self, request: Request) -> Response:
        body = await read_bounded(request, _LONGEST)
        if body is None:
            return PlainTextResponse("Too long.\n", 413)
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
        if cookie := await self._door.make_pass(given):
            return _enter(request, cookie)
        return _form(self._door.answer)


def _enter(request: Request, cookie: str) -> Response:
    """Go on at the address without the token. The cookie is no token: with it one sees these pages, nothing else."""
    query = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "token"])
    path = "/" + quote(request.scope["path"].lstrip("/\\"))  # two slashes would lead to another host
    answer = RedirectResponse(f"{path}?{query}" if query else path, 303)
    answer.set_cookie(
        _cookie_name(request),
        cookie,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path=f"{request.scope['root_path']}/",
    )
    return answer


def _read_cookie(request: Request) -> str:
    try:
        morsel = SimpleCookie(request.headers.get("cookie", "")).get(_cookie_name(request))
    except CookieError:
        return ""
    if morsel is None:
        return ""
    return morsel.value


def _cookie_name(request: Request) -> str:
    """Browsers keep cookies by host, whatever the port: two dashboards on one machine must not share a name."""
    port = request.headers.get("host", "").rpartition(":")[2]
    if port.isascii() and port.isdigit():
        return f"laconic_dashboard_{port}"
    return "laconic_dashboard"


def _form(text: str) -> Response:
    form = tag(
        "form",
        tag(
            "label", text, tag("input", type="password", name="token", autocomplete="current-password", required=True)
        ),
        tag("button", "Open"),
        method="post",
        class_="panel",
    )
    return HTMLResponse(page("Dashboard", "", form), 401)
