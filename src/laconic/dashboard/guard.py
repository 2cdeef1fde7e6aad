"""Who may see the pages: this machine, or whoever has the token; never another web page."""

from __future__ import annotations

import hmac
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laconic.dashboard.layout import page
from laconic.dashboard.markup import tag

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_COOKIE: Final = "laconic_dashboard"
_LONGEST: Final = 4_096  # bytes of the form that holds a token
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """Asks for the token where there is one, else for a request of this machine; and closes what browsers leave open.

    Host is checked because a name of somebody else's may point to this machine, Origin because any page may ask.
    """

    def __init__(self, app: ASGIApp, token: str = "") -> None:
        self._app = app
        self._token = token
        self._pass = hmac.new(token.encode(), b"laconic dashboard", sha256).hexdigest() if token else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        refused = await self._refusal(Request(scope, receive))
        await (self._app if refused is None else refused)(scope, receive, closed)

    async def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host"):
            return PlainTextResponse("The request comes from another page.\n", 403)
        if not self._token:
            peer = request.client.host if request.client else ""
            if _name(headers) in _LOCAL and _loopback(peer):
                return None if request.method in {"GET", "HEAD"} else PlainTextResponse("Only reading.\n", 405)
            return PlainTextResponse("The dashboard is for this machine. Elsewhere it needs a token.\n", 403)
        if self._admitted(headers):
            return None
        if request.method == "POST":
            return await self._enter(request)
        if request.url.path.endswith(".json"):
            return JSONResponse({"error": "The token is missing: send it in x-laconic-token."}, 401)
        return _form("Say the token that the gateway was started with (setting gateway.token).")

    def _admitted(self, headers: Headers) -> bool:
        sent = headers.get("x-laconic-token", "")
        if sent and hmac.compare_digest(sent.encode(), self._token.encode()):
            return True
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), self._pass.encode())

    async def _enter(self, request: Request) -> Response:
        """The form was sent. The cookie is no token: with it one sees these pages and nothing else."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LONGEST:
                return PlainTextResponse("Too long.\n", 413)
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return _form("That is not the token.")
        answer = RedirectResponse(str(request.url.path), 303)
        secure = request.url.scheme == "https"
        answer.set_cookie(
            _COOKIE,
            self._pass,
            httponly=True,
            samesite="strict",
            secure=secure,
            path=f"{request.scope['root_path']}/",
        )
        return answer


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


def _name(headers: Headers) -> str:
    host = headers.get("host", "").lower()
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
