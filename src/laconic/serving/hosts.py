"""Refuse requests that a web page of another site sends: by the name it asks for, and by where it comes from.

A page may point a name of its own to this machine (DNS rebinding), or send requests here whose answers it cannot read.
The first shows in Host, the second in Origin and Sec-Fetch-Site. Programs that are no browsers send neither of the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

import msgspec
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from laconic.local_addresses import LOOPBACK_NAMES
from laconic.serving.listen import ListenAddress

RawHeaders = Iterable[tuple[bytes, bytes]]
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?")
_FIX: Final = "Use 127.0.0.1 or localhost, or add the name to gateway.hosts."


class AllowedHosts(msgspec.Struct, frozen=True):
    """Names under which a listener may be asked, in lower case."""

    names: frozenset[str] = LOOPBACK_NAMES  # empty: any; the token protects then
    origins: frozenset[str] = frozenset()  # names of other sites whose pages may ask

    def find_problem(self, headers: RawHeaders) -> str:
        """What is wrong with the headers of a request, and how to go on; empty when nothing is."""
        found: dict[bytes, list[str]] = {}
        for key, value in headers:
            found.setdefault(key.lower(), []).append(value.decode("latin-1"))
        hosts = found.get(b"host", [])
        if len(hosts) > 1:
            return "The request has more than one Host header."
        host = hosts[0].lower() if hosts else ""
        name = host_name(host)
        if (host and not name) or (self.names and name not in self.names):
            return f"This server is not called {_quote(host)}. {_FIX}"
        return self._find_stranger(found, host)

    def _find_stranger(self, headers: dict[bytes, list[str]], host: str) -> str:
        for origin in headers.get(b"origin", []):
            if not self._is_own(origin.lower(), host):
                fix = "If that page may use this server, add its host to gateway.hosts."
                return f"The request comes from a page of another site, {_quote(origin)}. {fix}"
        site = headers.get(b"sec-fetch-site", [""])[0]
        if b"origin" in headers or site not in {"cross-site", "same-site"}:
            return ""
        kinds = (headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest"))
        followed = kinds == (["navigate"], ["document"])  # a link, whose page the user sees
        if followed:
            return ""
        return "The request comes from a page of another site."

    def _is_own(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in {"http", "https"} or not host:
            return False
        return parts.netloc == host or host_name(parts.netloc) in self.origins


def allowed_hosts(where: ListenAddress, further: Iterable[str] = ()) -> AllowedHosts:
    """The names of a listener. On loopback they are known; elsewhere any name may be ours unless the user lists them."""
    named = frozenset(name.lower().strip("[]") for name in further)
    if not where.local and not named:
        return AllowedHosts(names=frozenset())
    return AllowedHosts(names=LOOPBACK_NAMES | named | {where.host.lower()}, origins=named)


def host_name(host: str) -> str:
    """The name or address in a Host header in lower case, without its port; empty when it is malformed."""
    match = _HOST.fullmatch(host)
    if match:
        return match[1] or match[2]
    return ""


def answer_plainly(scope: Scope, problem: str) -> Response:
    """A refusal for people."""
    return PlainTextResponse(f"{problem}\n", 403, {"x-content-type-options": "nosniff"})


class HostCheck:
    """An ASGI application in front of another: it answers what must not get through."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: AllowedHosts,
        refuse: Callable[[Scope, str], Response] = answer_plainly,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = ""
        if scope["type"] == "http":
            problem = self._hosts.find_problem(scope["headers"])
        app = self._app
        if problem:
            app = self._refuse(scope, problem)
        await app(scope, receive, send)


def _quote(value: str) -> str:
    """A value of a stranger, fit for a message."""
    plain = "".join(sign if " " < sign <= "~" else "?" for sign in value[:100])
    return repr(plain)
