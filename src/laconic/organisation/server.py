"""The server of an organisation's index: MCP for agents, contents for local builds, webhooks for pushes.

Every request carries a key of the team, webhooks a signature. Requests to MCP are complete in themselves: there are no
sessions that somebody else could continue.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from laconic import __version__
from laconic.errors import ArchiveUnavailable, LaconicError, NotAllowed
from laconic.gateway.team_access import TeamAccess, TeamRefusal
from laconic.index.store.content_store import ContentStore
from laconic.mcp_server.tools_and_resources import list_tools
from laconic.organisation.push_queue import PushQueue
from laconic.organisation.repository_access import OFFERED, ReadableSessions
from laconic.organisation.webhooks import read_push
from laconic.serving.bounded_body import read_bounded
from laconic.serving.hosts import AllowedHosts, HostCheck
from laconic.serving.readiness import Readiness
from laconic.sessions.team.keys import TeamKey
from laconic.sessions.team.remote_contents import KEY_BYTES, MOST_KEYS
from laconic.sessions.team.repositories import Repositories
from laconic.tool_runtime.session import Session

_REPORT: Final = 25_000_000  # bytes of a webhook's report: what GitHub sends at most
_ANSWER: Final = 96_000_000  # bytes of contents in one answer
_FAULT: Final = "error: a fault of the server: {}. Ask in another way.\n"
_INSTRUCTIONS: Final = (
    "Answers about all repositories that your key may read, in few tokens. search, inspect, trace and context ask all of"
    " them unless workspace names some (owner/name, with commas); map and read need one. Paths are @owner+name/path."
)
log = logging.getLogger("laconic.organisation")


class OrganisationParts(msgspec.Struct):
    """What the server is made of; it closes all of it."""

    access: TeamAccess
    repositories: Repositories
    sessions: Callable[[], ReadableSessions]
    contents: Callable[[], ContentStore]
    queue: PushQueue
    hook_secret: str
    readiness: Readiness


def make_application(parts: OrganisationParts, hosts: AllowedHosts, login: ASGIApp | None = None) -> ASGIApp:
    """The ASGI application."""
    server = OrganisationServer(parts)
    routes: list[Route | Mount] = [
        Route("/healthz", server.say_alive),
        Route("/readyz", server.say_ready),
        Route("/hooks/{forge}", server.take_push, methods=["POST"]),
        Route("/laconic/contents", KeyCheck(server.send_contents, parts.access), methods=["POST"]),
    ]
    if login is not None:
        routes.append(Mount("/laconic/login", login))
    routes.append(Mount("/", KeyCheck(server.mcp, parts.access)))
    return HostCheck(Starlette(routes=routes, lifespan=server.lifespan), hosts)


class KeyCheck:
    """An ASGI application behind a team's key."""

    def __init__(self, app: ASGIApp, access: TeamAccess) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, _, shown = Request(scope).headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            shown = ""
        try:
            key = await self._access.verify(shown.strip())
            await self._access.count(key)
        except TeamRefusal as error:
            headers = {"www-authenticate": "Bearer"} if error.status == 401 else {}
            await JSONResponse({"error": str(error)}, error.status, headers)(scope, receive, send)
            return
        scope.setdefault("state", {})["team_key"] = key
        await self._app(scope, receive, send)


class OrganisationServer:
    """Everything about code happens in one thread, which owns the open indexes."""

    def __init__(self, parts: OrganisationParts) -> None:
        self._parts = parts
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="laconic-tools")
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="laconic-contents")
        self._sessions: ReadableSessions | None = None
        self._contents: ContentStore | None = None
        server: Server[None] = Server(
            "laconic",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self._mcp = server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostCheck does it
        )

    async def mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] == "http" and scope["method"] != "POST"
        ):  # a stream without a session would never say anything
            await PlainTextResponse("Send POST.\n", 405, {"allow": "POST"})(scope, receive, send)
            return
        await self._mcp(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self._parts.queue, self._mcp.router.lifespan_context(self._mcp):
            self._parts.access.start()
            try:
                yield
            finally:
                await asyncio.to_thread(self._close)

    async def say_alive(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def say_ready(self, request: Request) -> Response:
        if self._parts.readiness.draining:
            return PlainTextResponse("draining\n", 503)
        if self._parts.access.is_away:
            return PlainTextResponse("the team's database cannot be reached\n", 503)  # nobody's rights can be checked
        return PlainTextResponse("ok\n")

    async def take_push(self, request: Request) -> Response:
        """Put the repository that a webhook reports into the queue."""
        body = await read_bounded(request, _REPORT)
        if body is None:
            return JSONResponse({"error": "The report is too long."}, 413)
        try:
            origins = read_push(request.path_params["forge"], request.headers, body, self._parts.hook_secret)
        except NotAllowed as error:
            return JSONResponse({"error": str(error)}, 401)
        except LaconicError as error:
            return JSONResponse({"error": str(error)}, 400)
        names: dict[str, None] = {}
        for origin in origins:
            for repository in await asyncio.to_thread(self._parts.repositories.find_origin, origin):
                names[repository.name] = None
        await self._parts.queue.put(names)
        return JSONResponse({"queued": len(names)}, 202)

    async def send_contents(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Parsed contents to whoever shows their keys: nobody can without the bytes themselves."""
        body = await read_bounded(Request(scope, receive), KEY_BYTES * MOST_KEYS)
        if body is None or len(body) % KEY_BYTES:
            problem = f"Send at most {MOST_KEYS} keys of {KEY_BYTES} bytes, one after the other."
            await JSONResponse({"error": problem}, 400)(scope, receive, send)
            return
        keys = [body[at : at + KEY_BYTES] for at in range(0, len(body), KEY_BYTES)]
        data = await asyncio.get_running_loop().run_in_executor(self._reader, self._find_contents, keys)
        await Response(data, media_type="application/octet-stream")(scope, receive, send)

    def _find_contents(self, keys: list[bytes]) -> bytes:
        if self._contents is None:
            self._contents = self._parts.contents()
        sent: list[tuple[bytes, bytes]] = []
        volume = 0
        for key, packed in self._contents.find(keys).items():
            volume += len(packed)
            if volume > _ANSWER:
                break
            sent.append((key, packed))
        return msgspec.msgpack.encode(sent)

    async def _list_tools(self, ctx: Any, params: object) -> types.ListToolsResult:
        found = []
        for tool in list_tools(editing=False):
            if tool["name"] in OFFERED:
                found.append(types.Tool.model_validate(tool))
        return types.ListToolsResult(tools=found)

    async def _call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        key: TeamKey = ctx.request.state.team_key
        call = self._worker.submit(self._answer, key, params.name, params.arguments or {})
        text, failed = await asyncio.wrap_future(call)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    def _answer(self, key: TeamKey, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        try:
            if self._sessions is None:
                self._sessions = self._parts.sessions()
            reply = self._sessions.open(key).call(name, arguments, Session(remembers=False))
        except ArchiveUnavailable:
            return (
                "error: The team's database cannot be reached to check your rights. Try again in a minute.\n",
                True,
            )
        except Exception as error:  # the edge of the process: a client gets an answer, the log gets the rest
            log.exception("%s failed", name[:60])
            return _FAULT.format(type(error).__name__), True
        return reply.text, reply.failed

    def _close(self) -> None:
        if self._sessions is not None:
            self._worker.submit(self._sessions.close)
        self._worker.shutdown(wait=True)
        if self._contents is not None:
            self._reader.submit(self._contents.close)
        self._reader.shutdown(wait=True)
        self._parts.access.stop()
