"""Calls of tools: which server answers, whether the arguments fit, how the result is shortened, and our own tools."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from laconic.config import Settings
from laconic.errors import LaconicError, ServerUnavailable, UnknownName, UsageError
from laconic.mcp_proxy import own_tools
from laconic.mcp_proxy.messages import INVALID_PARAMS, ErrorAnswer, Message, text_result
from laconic.mcp_proxy.pipeline import Pipeline
from laconic.mcp_proxy.recall import recall
from laconic.mcp_proxy.results import LARGE, ResultReducer
from laconic.mcp_proxy.server_group import ServerGroup
from laconic.mcp_proxy.tool_directory import ForeignTool
from laconic.mcp_proxy.tool_lines import WIDTHS, misfits, only_reads, visible, write_schema

_FOUND: Final = 8  # schemas that a search shows
_OFTEN: Final = 5  # calls in a project from which a tool is listed in full
_IN_FULL: Final = 5
_LINES: Final = 300  # tokens that lines of tools may always have
_SHOWN: Final = ("name", "description", "inputSchema")  # parts of a tool that clients put into prompts
_COUNTED: Final = 20_000  # characters of one tool that count for that; longer ones never come in full
_LINES_SHARE: Final = 0.075  # of the whole schemas, that they may have beyond it
_LEARNING: Final = 30.0  # seconds to wait for servers that were never started, when a tool is not known
_SEARCHING: Final = 5.0  # the same, when tools are searched

Ask = Callable[[str, str, Message], Awaitable[Message]]
"""Asks a server for the client's request: its name, the method, the parameters."""


class ToolCalls:
    """Answers `tools/list` and `tools/call` for one session."""

    def __init__(
        self,
        servers: ServerGroup,
        settings: Settings,
        reducers: tuple[ResultReducer, ResultReducer],
        cost: Callable[[str], int],
    ) -> None:
        self._cost = cost
        self._servers = servers
        self._settings = settings
        self._small, self._large = reducers
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="laconic-around")
        self._large_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="laconic-around-large")
        self._explained: set[str] = set()  # tools whose whole schema the caller has
        self.used: Counter[str] = Counter()

    def list_in_full(self) -> list[Message]:
        """Every foreign tool as its server describes it, for clients that search tools by themselves."""
        listed = [self._in_full(entry) for entry in self._servers.directory.all()]
        return [*listed, own_tools.pipeline_tool(), own_tools.recall_tool()]

    def list_in_lines(self, usage: dict[str, int]) -> list[Message]:
        """Our tools, one of which lists the others in a line each; those that are used often come in full."""
        entries = self._servers.directory.all()
        often = []
        for entry in entries:
            if usage.get(entry.key, 0) >= _OFTEN and len(msgspec.json.encode(entry.tool)) <= _COUNTED:
                often.append(entry)
        often = sorted(often, key=lambda entry: -usage[entry.key])[:_IN_FULL]
        full = {entry.key for entry in often}
        self._explained |= full
        rest = [entry for entry in entries if entry.key not in full]
        listed = [self._in_full(entry) for entry in sorted(often, key=lambda entry: entry.name)]
        return [
            own_tools.call_tool(self._write_lines(rest)),
            own_tools.look_tool(),
            own_tools.tools_tool(),
            own_tools.pipeline_tool(),
            own_tools.recall_tool(),
            *listed,
        ]

    def _in_full(self, entry: ForeignTool) -> Message:
        """A tool as its server describes it, with `about` if the user does not mind."""
        if self._settings.flag("around.about"):
            return own_tools.add_about(_as_listed(entry))
        return _as_listed(entry)

    def _write_lines(self, entries: list[ForeignTool]) -> str:
        """A line for each tool, as wide as a tenth of the whole schemas allows."""
        whole = ""
        for entry in entries:
            whole += msgspec.json.encode([entry.tool.get(part) for part in _SHOWN]).decode()[:_COUNTED]
        allowed = max(_LINES, int(_LINES_SHARE * self._cost(whole)))
        listed = ""
        for width in WIDTHS:
            listed = own_tools.list_tools(entries, list(self._servers.connections), self._servers.unknown, width)
            if self._cost(listed) <= allowed:
                break
        return listed

    async def call(self, params: Message, ask: Ask) -> Message:
        """Answer one call; what goes wrong is an answer that a model can read."""
        name = str(params.get("name", ""))
        arguments = params.get("arguments")
        given: Message = arguments if isinstance(arguments, dict) else {}
        try:
            if name in own_tools.NAMES:
                return await self._call_own(name, given, params, ask)
            entry = await self._find(name)
            inner, about = own_tools.part_about(entry.tool, given)
            if about:
                params = {**params, "arguments": inner}
            return await self._pass(entry, params, ask, about)
        except (UsageError, ServerUnavailable, LaconicError) as error:
            return text_result(f"error: {error}", failed=True)

    def close(self) -> None:
        self._worker.submit(self._small.close)
        self._large_worker.submit(self._large.close)
        self._worker.shutdown(wait=True)
        self._large_worker.shutdown(wait=True, cancel_futures=True)

    async def _call_own(self, name: str, given: Message, params: Message, ask: Ask) -> Message:
        if name in {own_tools.CALL, own_tools.LOOK}:
            return await self._call_named(given, params, ask, reading=name == own_tools.LOOK)
        if name == own_tools.TOOLS:
            return text_result(await self._explain(given))
        if name == own_tools.RECALL:
            return await self._run(self._small, lambda: text_result(recall(self._small, given)))
        value = await Pipeline(self._reader(ask)).run(given.get("steps"))
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        return await self._shorten(own_tools.PIPELINE, text_result(text))

    async def _call_named(self, given: Message, params: Message, ask: Ask, *, reading: bool) -> Message:
        """A foreign tool by `call`, whose caller may know no more than its line."""
        entry = await self._find(str(given.get("tool", "")))
        if reading and not only_reads(entry.tool):
            raise UsageError(f"{entry.name} may change things.", f"Use `{own_tools.CALL}` for it.")
        arguments = given.get("arguments")
        if isinstance(arguments, str):
            arguments = _decode_object(arguments)
        inner: Message = arguments if isinstance(arguments, dict) else {}
        inner, within = own_tools.part_about(entry.tool, inner)
        about = str(given.get(own_tools.ABOUT) or within)
        problems = misfits(entry.tool, inner)
        if problems and entry.key not in self._explained:
            self._explained.add(entry.key)
            schema = write_schema(_as_listed(entry))
            raise UsageError(f"Nothing was called: {'; '.join(problems)}.", f"The tool: {schema}")
        request = {"name": entry.name, "arguments": inner}
        if "_meta" in params:
            request["_meta"] = params["_meta"]
        try:
            return await self._pass(entry, request, ask, about)
        except ErrorAnswer as error:
            if error.error["code"] != INVALID_PARAMS:
                raise
            schema = write_schema(_as_listed(entry))
            raise UsageError(f"{entry.name}: {error}.", f"The tool: {schema}") from None

    async def _pass(self, entry: ForeignTool, params: Message, ask: Ask, about: str = "") -> Message:
        """Call the tool under its own name, and shorten what it answers around what the caller wants to know."""
        self.used[entry.key] += 1
        result = await ask(entry.server, "tools/call", {**params, "name": entry.tool["name"]})
        return await self._shorten(entry.name, result, about)

    async def _shorten(self, tool: str, result: Message, about: str = "") -> Message:
        size = _text_size(result)
        if size <= self._settings.number("around.whole"):  # not even a character for a token
            return result
        reducer = self._large if size > LARGE else self._small
        return await self._run(reducer, lambda: reducer.shorten(tool, result, about))

    async def _run(self, reducer: ResultReducer, work: Callable[[], Message]) -> Message:
        worker = self._large_worker if reducer is self._large else self._worker
        return await asyncio.get_running_loop().run_in_executor(worker, work)

    async def _find(self, name: str) -> ForeignTool:
        found = self._servers.directory.find(name)
        if found is None and self._servers.unknown:
            await self._servers.learn(_LEARNING, lambda: self._servers.directory.find(name) is not None)
            found = self._servers.directory.find(name)
        if found is None:
            await self._say_why(name)
            near = tuple(visible(one, 80) for one in self._servers.directory.near(name))
            raise UnknownName("tool", visible(name, 80), near, f"`{own_tools.TOOLS}` finds others.")
        return found

    async def _say_why(self, name: str) -> None:
        """A tool of a server that does not start is unknown because of that: raises what is wrong with the server."""
        unknown = self._servers.unknown
        named = name.partition("/")[0]
        if named in unknown:
            await self._servers.ready(named)
        elif unknown and not self._servers.directory.near(name):
            silent = ", ".join(visible(one, 60) for one in unknown)
            raise ServerUnavailable(f"No tool named {visible(name, 80)!r}, and {silent} did not start.", "Ask again.")

    async def _explain(self, given: Message) -> str:
        """Whole schemas of named tools, or of those that fit a query, as many as an answer holds."""
        if self._servers.unknown:
            await self._servers.learn(_SEARCHING)
        names = given.get("names")
        if isinstance(names, str):
            names = [names]
        if isinstance(names, list) and names:
            entries = [await self._find(str(name)) for name in names[:20]]
        else:
            entries = self._servers.directory.search(str(given.get("query") or ""))[:_FOUND]
        rows: list[str] = []
        for entry in entries:
            self._explained.add(entry.key)
            rows.append(f"# {visible(entry.server, 60)}\n{write_schema(_as_listed(entry))}")
        if not rows:
            return f"No tool fits. Servers: {', '.join(visible(name, 60) for name in self._servers.connections)}."
        return "\n".join(rows)

    def _reader(self, ask: Ask) -> Callable[[str, Message], Awaitable[Message]]:
        allowed = self._settings.patterns("around.pipeline_allow")

        async def read(name: str, arguments: Message) -> Message:
            entry = await self._find(name)
            if not only_reads(entry.tool) and not any(fnmatchcase(entry.name, pattern) for pattern in allowed):
                raise UsageError(
                    f"{entry.name} is not marked as read-only.",
                    "Call it by itself, or let the user add it to the setting `around.pipeline_allow`.",
                )
            self.used[entry.key] += 1
            try:
                return await ask(entry.server, "tools/call", {"name": entry.tool["name"], "arguments": arguments})
            except ErrorAnswer as error:
                raise UsageError(f"{entry.name}: {error}") from None

        return read


def _as_listed(entry: ForeignTool) -> Message:
    """A tool under its name here. Without the schema of its results: those that are shortened have no such form."""
    kept = {key: value for key, value in entry.tool.items() if key != "outputSchema"}
    return {**kept, "name": entry.name}


def _decode_object(text: str) -> object:
    """Arguments that a model wrote as a text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise UsageError("`arguments` is not a map.", "Write a JSON object.") from None


def _text_size(result: Message) -> int:
    """Characters of all texts, without looking closely."""
    size = 0
    content: Any = result.get("content")
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict):
            resource = block.get("resource")
            size += len(str(block.get("text") or ""))
            if isinstance(resource, dict):
                size += len(str(resource.get("text") or ""))
    if result.get("structuredContent") is not None and size < LARGE:
        size = max(size, len(msgspec.json.encode(result["structuredContent"])))
    return size
