"""The servers behind one client: what they list, which of them answers what, and news about them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from laconic.errors import ServerUnavailable
from laconic.mcp_proxy.connection import ServerConnection
from laconic.mcp_proxy.definitions import ServerDefinition
from laconic.mcp_proxy.messages import ErrorAnswer, Message
from laconic.mcp_proxy.own_tools import NAMES
from laconic.mcp_proxy.server_listings import Catalogue, Listing
from laconic.mcp_proxy.tool_directory import ToolDirectory

_LOG: Final = logging.getLogger(__name__)
_PAGES: Final = 200  # of one list
_BETWEEN: Final = 0.2  # seconds between two lists of a server that changes its tools all the time
_LISTING: Final = 10.0  # seconds that a list may take
_FAILURES: Final = (ErrorAnswer, ServerUnavailable, TimeoutError)


class ServerGroup:
    """All servers of one session. `changed` is told when the tools of a server are others than it listed before."""

    def __init__(
        self,
        definitions: Sequence[ServerDefinition],
        catalogue: Catalogue,
        connect: Callable[[ServerDefinition], ServerConnection],
        changed: Callable[[], None],
    ) -> None:
        self._catalogue = catalogue
        self._changed = changed
        self.connections = {one.name: connect(one) for one in definitions}
        self.listings: dict[str, Listing] = {}
        self._greeted: dict[str, Message] = {}  # by the greeting that was followed up
        self._tasks: set[asyncio.Task[Any]] = set()
        self._refreshing: set[str] = set()
        self._stale: set[str] = set()  # servers whose tools changed while they were listed
        self._learning: dict[str, asyncio.Task[Any]] = {}
        self.level: Message | None = None  # the log level that the client wants
        for definition in definitions:
            kept = catalogue.read_listing(definition)
            if kept is not None:
                self.listings[definition.name] = kept
        self.directory = self._make_directory()

    @property
    def unknown(self) -> list[str]:
        """Servers that never said what they have."""
        return [name for name in self.connections if name not in self.listings]

    async def learn(self, seconds: float, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Start the servers that are not known yet; those that take longer than is waited go on alone."""
        waiting: set[asyncio.Task[Any]] = set()
        for name in self.unknown:
            if name not in self._learning:
                self._learning[name] = self.spawn(self.ready(name))
            waiting.add(self._learning[name])
        until = asyncio.get_running_loop().time() + seconds
        while waiting and not is_enough():
            left = until - asyncio.get_running_loop().time()
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                return
            for name, task in list(self._learning.items()):
                if task.done():
                    del self._learning[name]

    async def ready(self, name: str) -> ServerConnection:
        """The connection to a running server; one that has just started is asked for its tools."""
        connection = self.connections[name]
        greeting = await connection.start()
        if self._greeted.get(name) is not greeting:
            self._greeted[name] = greeting
            if self.level is not None and "logging" in greeting.get("capabilities", {}):
                self.spawn(connection.request("logging/setLevel", self.level))
            refreshing = self.spawn(self.refresh(name))
            if name not in self.listings:
                await asyncio.wait([refreshing])
        return connection

    async def refresh(self, name: str) -> None:
        """Ask a running server for its tools again; whoever asks meanwhile is served by one more time at most."""
        if name in self._refreshing:
            self._stale.add(name)
            return
        self._refreshing.add(name)
        try:
            await self._refresh(name)
            while name in self._stale:
                self._stale.discard(name)
                await asyncio.sleep(_BETWEEN)
                await self._refresh(name)
        finally:
            self._refreshing.discard(name)

    async def _refresh(self, name: str) -> None:
        connection = self.connections[name]
        greeting = connection.greeting
        if greeting is None:
            return
        tools: list[Message] = []
        if "tools" in greeting.get("capabilities", {}):
            try:
                tools = await self._collect(connection, "tools/list", "tools")
            except _FAILURES as error:
                _LOG.warning("%s: its tools could not be listed: %s", name, error)
                return
        valid = [tool for tool in tools if isinstance(tool.get("name"), str) and tool["name"]]
        listing = Listing(greeting, valid)
        before = self.listings.get(name)
        self.listings[name] = listing
        if before == listing:
            return
        self.spawn(asyncio.to_thread(self._catalogue.write_listing, connection.definition, listing))
        self.directory = self._make_directory()
        if before is None or before.tools != listing.tools:
            self._changed()

    async def collect_all(self, method: str, key: str, capability: str) -> list[tuple[str, Message]]:
        """A list of all servers that have it, each item with its server; servers that fail are left out."""
        asked = [name for name in self.connections if self.has(name, capability)]
        lists = await asyncio.gather(*(self._collect_from(name, method, key) for name in asked))
        found: list[tuple[str, Message]] = []
        for name, items in zip(asked, lists, strict=True):
            for item in items:
                found.append((name, item))
        return found

    def has(self, name: str, capability: str) -> bool:
        listing = self.listings.get(name)
        return listing is not None and capability in (listing.greeting.get("capabilities") or {})

    def capabilities(self) -> Message:
        """What any of the servers can do."""
        found: Message = {}
        for listing in self.listings.values():
            _merge(found, listing.greeting.get("capabilities") or {})
        return found

    def instructions(self) -> list[tuple[str, str]]:
        """What servers want models to know."""
        found = []
        for name, listing in self.listings.items():
            text = listing.greeting.get("instructions")
            if isinstance(text, str) and text.strip():
                found.append((name, text.strip()))
        return found

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        """Let something go on by itself; what it fails with is logged."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(one.close() for one in self.connections.values()), return_exceptions=True)

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _LOG.warning("%s", task.exception())

    async def _collect_from(self, name: str, method: str, key: str) -> list[Message]:
        with suppress(*_FAILURES):
            async with asyncio.timeout(_LISTING):
                return await self._collect(await self.ready(name), method, key)
        return []

    async def _collect(self, connection: ServerConnection, method: str, key: str) -> list[Message]:
        """All pages of a list."""
        found: list[Message] = []
        cursor: object = None
        for _ in range(_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = await connection.request(method, params)
            items = page.get(key)
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict):
                    found.append(item)
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return found

    def _make_directory(self) -> ToolDirectory:
        tools: dict[str, Sequence[Message]] = {}
        for name in self.connections:
            if name in self.listings:
                tools[name] = self.listings[name].tools
        return ToolDirectory(tools, NAMES)


def _merge(into: Message, more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        held = into.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            _merge(held, value)
        elif isinstance(value, dict):
            into[key] = {}
            _merge(into[key], value)
        else:
            into[key] = held or value
