"""The code plane over the Model Context Protocol: tools, help and recall resources, sessions, progress.

Answers are text content only, since some hosts pass structured content to the model instead of the text. All work on
the index is done by one thread, which owns the database connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from laconic import __version__
from laconic.config import Settings
from laconic.errors import LaconicError, RecallFailed
from laconic.mcp_server.client_needs import has_resources
from laconic.mcp_server.server_instructions import INSTRUCTIONS
from laconic.mcp_server.timing import RequestTiming
from laconic.mcp_server.tool_help import help_text
from laconic.mcp_server.tools_and_resources import SCHEME, TEMPLATES, list_resources, list_tools
from laconic.serving.telemetry import Telemetry, open_telemetry
from laconic.tool_runtime.session import Session

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from laconic.tool_runtime.runtime import ToolRuntime

_T = TypeVar("_T")
_SESSIONS: Final = 256  # clients remembered at once; the one that was silent longest is forgotten
_NOT_FOUND: Final = -32_002  # what the protocol says of a resource that is not there
_BEAT: Final = 0.5  # seconds between progress notifications
_FAULT: Final = "error: a fault of the server: {}: {}. Ask in another way; `laconic doctor` says what is wrong.\n"
_LOG: Final = logging.getLogger(__name__)
_ANSWERS: Final = logging.getLogger("laconic.answers")


class CodePlane:
    """One workspace behind one MCP server."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        editing: bool = False,
        behind_gateway: bool = False,
        listed: Callable[[], None] = lambda: None,
    ) -> None:
        self._root = root
        self._remembers = not behind_gateway  # the gateway knows what each conversation of the client still has
        self._settings = settings
        self._editing = editing
        self._listed = listed  # called when a client is sent the tools
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="laconic-tools")
        self._plane: ToolRuntime | None = None
        self._sessions: dict[str, Session] = {}
        self._telemetry: Telemetry | None = None
        if settings.flag("mcp.log"):
            _ANSWERS.handlers[:] = [logging.StreamHandler()]  # to standard error, which clients keep
            _ANSWERS.setLevel(logging.INFO)

    def server(self) -> Server[None]:
        """The server object of the SDK with our handlers."""
        server: Server[None] = Server(
            "laconic",
            version=__version__,
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        server.middleware.append(self._adapt_capabilities)
        self._telemetry = open_telemetry(self._settings, "laconic-mcp", for_all=True)
        if self._telemetry is not None:
            server.middleware.append(RequestTiming(self._telemetry))
        return server

    async def _adapt_capabilities(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        """Take resources out of what is offered to clients that are better off without."""
        result = await call_next(ctx)
        if ctx.method not in {"initialize", "server/discover"} or not isinstance(result, dict):
            return result
        if not has_resources(ctx.params, self._settings.patterns("mcp.without_resources")):
            result["capabilities"].pop("resources", None)
        return result

    @asynccontextmanager
    async def _lifespan(self, server: Server[Any]) -> AsyncIterator[None]:
        self._worker.submit(self._warm)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._close)

    def _warm(self) -> None:
        """Open the index, start a build where one is needed, and follow changes from then on."""
        index = self._open_plane().index
        index.refresh()
        index.watch()

    def _open_plane(self) -> ToolRuntime:
        if self._plane is None:
            from laconic.tool_runtime.runtime import (
                ToolRuntime,  # loads the index: after the client has its first answer
            )
            from laconic.tools import tools

            self._plane = ToolRuntime(self._root, self._settings, tools(), editing=self._editing)
        return self._plane

    def _close(self) -> None:
        if self._plane is not None:
            self._worker.submit(self._plane.close)
        self._worker.shutdown(wait=True, cancel_futures=False)
        if self._telemetry is not None:
            self._telemetry.close()

    async def _list_tools(self, ctx: ServerRequestContext[Any], params: object) -> types.ListToolsResult:
        running = bool(self._settings.patterns("report.allow"))
        listed = list_tools(editing=self._editing, running=running)
        self._listed()
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in listed])

    async def _call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        session = self._session(ctx)
        host = _host_budget(ctx.meta)

        def work() -> tuple[str, bool]:
            started = perf_counter()
            try:
                reply = self._open_plane().call(params.name, params.arguments or {}, session, host)
            except Exception as error:  # noqa: BLE001 - the edge of the process: a client gets an answer, the log gets the rest
                _LOG.exception("%s failed", params.name[:60])
                return _FAULT.format(type(error).__name__, str(error)[:200]), True
            took = 1000 * (perf_counter() - started)
            size = len(reply.text.encode()) / 1000
            _ANSWERS.info("%s: %d tokens, %.1f kB, %.0f ms", params.name[:60], reply.tokens, size, took)
            return reply.text, reply.failed

        session.announce()
        future = self._worker.submit(work)
        try:
            text, failed = await self._beating(ctx, future)
        finally:
            if future.cancelled():
                session.withdraw()
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    async def _beating(self, ctx: ServerRequestContext[Any], future: Future[_T]) -> _T:
        """Wait for the worker; tell the client at every beat that work goes on; give up when it cancels."""
        done = anyio.Event()
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _wake(done, loop))
        beats = 0
        try:
            while not future.done():
                with anyio.move_on_after(_BEAT):
                    await done.wait()
                if not future.done():
                    beats += 1
                    await ctx.session.report_progress(beats * _BEAT, message="working on the index")
        except anyio.get_cancelled_exc_class():
            future.cancel()
            raise
        return future.result()

    def _session(self, ctx: ServerRequestContext[Any]) -> Session:
        """The session of the client that calls; one that cannot be told apart gets a fresh one each time."""
        request = ctx.request
        if request is None:
            key = "stdio"
        else:
            key = request.headers.get("mcp-session-id", "")
        if not key:
            return Session(remembers=self._remembers)
        session = self._sessions.pop(key, None) or Session(remembers=self._remembers)
        self._sessions[key] = session
        while len(self._sessions) > _SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return session

    async def _list_resources(self, ctx: ServerRequestContext[Any], params: object) -> types.ListResourcesResult:
        listed = list_resources(editing=self._editing)
        return types.ListResourcesResult(resources=[types.Resource.model_validate(entry) for entry in listed])

    async def _list_templates(
        self, ctx: ServerRequestContext[Any], params: object
    ) -> types.ListResourceTemplatesResult:
        templates = []
        for entry in TEMPLATES:
            templates.append(types.ResourceTemplate.model_validate(entry))
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(
        self, ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        kind, _, name = uri.removeprefix(SCHEME).partition("/")
        readers: dict[str, Callable[[str], str]] = {"help": help_text, "recall": self._recall}
        if not uri.startswith(SCHEME) or kind not in readers:
            raise MCPError(_NOT_FOUND, f"No resource {uri}. Use {SCHEME}help/TOOL or {SCHEME}recall/REF.")
        try:
            text = await self._beating(ctx, self._worker.submit(readers[kind], name))
        except LaconicError as error:
            raise MCPError(_NOT_FOUND, str(error)) from None
        content = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[content])

    def _recall(self, ref: str) -> str:
        reply = self._open_plane().call("recall", {"ref": ref})
        if reply.failed:
            raise RecallFailed(reply.text.strip())
        return reply.text


def _wake(done: anyio.Event, loop: asyncio.AbstractEventLoop) -> None:
    """Set the event from whichever thread this is: of work that ended at once, it is the loop's own."""
    with suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(done.set)


def _host_budget(meta: Any) -> int | None:
    """The host's own budget for this answer, where it sends one."""
    value = (meta or {}).get("tokenBudget")
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return int(value)
    return None
