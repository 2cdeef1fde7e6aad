"""Messages between one client and the servers behind us: six are looked into, the rest is routed and passed on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from laconic import __version__
from laconic.errors import LaconicError
from laconic.mcp_proxy.connection import ServerConnection
from laconic.mcp_proxy.definitions import ServerDefinition
from laconic.mcp_proxy.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ErrorAnswer,
    Identifier,
    Message,
    error_message,
    is_answer,
    is_notification,
    is_request,
    notification,
    read_capabilities,
    read_params,
    result_message,
)
from laconic.mcp_proxy.routes import Routes
from laconic.mcp_proxy.server_group import ServerGroup
from laconic.mcp_proxy.server_listings import Catalogue
from laconic.mcp_proxy.tool_calls import ToolCalls
from laconic.mcp_proxy.tool_lines import visible

_LOG: Final = logging.getLogger(__name__)
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_GREETING: Final = 3.0  # seconds that the first answer waits for servers that were never started
_LISTING: Final = 6.0  # the same for the first list of tools
_INSTRUCTIONS: Final = 300  # characters of what one server wants models to know
_QUESTIONS: Final = 50  # of one server, that wait for the client's answer
_NEEDED: Final = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}

Send = Callable[[Message, Identifier | None], None]
"""Sends a message to the client; the second is the client's request that it belongs to."""


@dataclass(frozen=True, slots=True)
class RelayParts:
    """What a relay is made of, apart from its servers."""

    catalogue: Catalogue
    environment: Mapping[str, str]
    make_calls: Callable[[ServerGroup], ToolCalls]
    lists_in_full: Callable[[str], bool]  # by the name of the client
    start_seconds: float
    limit: int


class Relay:
    """One client's session."""

    def __init__(self, definitions: list[ServerDefinition], parts: RelayParts, send: Send) -> None:
        self._parts = parts
        self._send = send
        self._hello: Message = {}
        self._tasks: dict[Identifier, asyncio.Task[None]] = {}
        self._under_way: dict[str, list[Identifier]] = {one.name: [] for one in definitions}
        self._tokens: dict[object, tuple[str, Identifier]] = {}  # progress tokens: server and request
        self._asked: dict[Identifier, tuple[ServerConnection, Identifier]] = {}  # requests of servers
        self._number = 0
        self._is_ready = False
        self._group = ServerGroup(definitions, parts.catalogue, self._connect, self._tools_changed)
        self._calls = parts.make_calls(self._group)
        self._routes = Routes(self._group)
        self._usage = parts.catalogue.read_usage()

    def receive(self, message: Message) -> None:
        """Take a message of the client; requests are answered whenever their server has answered."""
        if is_request(message):
            number = message["id"]
            task = asyncio.ensure_future(self._answer(message))
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))
        elif is_notification(message):
            self._hear(message)
        elif is_answer(message):
            asked = self._asked.pop(message.get("id", ""), None)
            if asked is not None:
                connection, number = asked
                self._group.spawn(connection.say({**message, "id": number}))
        else:
            problem = {"code": -32_600, "message": "That is not a message of the protocol."}
            self._send(error_message(None, problem), None)

    async def close(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()
        self._parts.catalogue.add_usage(self._calls.used)
        await self._group.close()
        await asyncio.to_thread(self._calls.close)

    def _connect(self, definition: ServerDefinition) -> ServerConnection:
        return ServerConnection(
            definition,
            self._parts.environment,
            self._introduce,
            self._deliver,
            seconds=self._parts.start_seconds,
            limit=self._parts.limit,
        )

    def _introduce(self) -> Message:
        """Servers meet the client itself, with all that it can do."""
        about = {"name": "laconic", "version": __version__}
        return {
            "protocolVersion": self._version(),
            "capabilities": read_capabilities(self._hello),
            "clientInfo": self._hello.get("clientInfo") or about,
        }

    def _version(self) -> str:
        wished = self._hello.get("protocolVersion")
        if wished in VERSIONS:
            return str(wished)
        return VERSIONS[-1]

    # What the client asks

    async def _answer(self, message: Message) -> None:
        number, method = message["id"], message["method"]
        try:
            self._send(result_message(number, await self._handle(number, method, read_params(message))), number)
        except asyncio.CancelledError:
            raise  # the client no longer waits for an answer
        except ErrorAnswer as error:
            self._send(error_message(number, error.error), number)
        except LaconicError as error:
            self._send(error_message(number, {"code": INTERNAL_ERROR, "message": str(error)}), number)
        except Exception as error:  # noqa: BLE001 - the edge of the process: no request stays without an answer
            _LOG.exception("%s failed", method[:60])
            problem = f"A fault of the server: {type(error).__name__}."
            self._send(error_message(number, {"code": INTERNAL_ERROR, "message": problem}), number)

    async def _handle(self, number: Identifier, method: str, params: Message) -> Message:
        match method:
            case "initialize":
                return await self._greet(params)
            case "ping":
                return {}
            case "tools/list":
                await self._group.learn(_LISTING)
                return {"tools": self._list_tools()}
            case "tools/call":
                return await self._calls.call(params, lambda *asked: self._ask(number, *asked))
            case "prompts/list" | "resources/list" | "resources/templates/list":
                return await self._routes.collect(method)
            case "logging/setLevel":
                return await self._set_level(params)
        server, asked = await self._routes.find(method, params)
        if not server:
            raise ErrorAnswer(METHOD_NOT_FOUND, f"Method not found: {visible(method, 60)}")
        return await self._ask(number, server, method, asked)

    async def _greet(self, params: Message) -> Message:
        if self._hello:
            raise ErrorAnswer(INVALID_PARAMS, "The session is initialized already.")
        self._hello = params
        await self._group.learn(_GREETING)
        capabilities = self._group.capabilities()
        capabilities["tools"] = {"listChanged": True}
        greeting: Message = {
            "protocolVersion": self._version(),
            "capabilities": capabilities,
            "serverInfo": {"name": "laconic-around", "version": __version__},
        }
        said = []
        for name, text in self._group.instructions():
            said.append(f"{visible(name, 60)}: {visible(text, _INSTRUCTIONS)}")
        if said:
            greeting["instructions"] = "\n".join(said)
        self._is_ready = True
        return greeting

    def _list_tools(self) -> list[Message]:
        info = self._hello.get("clientInfo")
        name = str(info.get("name", "")) if isinstance(info, Mapping) else ""
        if self._parts.lists_in_full(name.lower()):
            return self._calls.list_in_full()
        return self._calls.list_in_lines(self._usage)

    async def _set_level(self, params: Message) -> Message:
        """For all servers that log, and for those that start later."""
        self._group.level = params
        asked = []
        for name, connection in self._group.connections.items():
            if connection.is_running and self._group.has(name, "logging"):
                asked.append(connection.request("logging/setLevel", params))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, ErrorAnswer) and len(self._group.connections) == 1:
                raise answer
        return {}

    async def _ask(self, number: Identifier, server: str, method: str, params: Message) -> Message:
        """Pass the client's request to a server, and keep in mind which it was while the server works on it."""
        connection = await self._group.ready(server)
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, Mapping) else None
        under_way = self._under_way[server]
        under_way.append(number)
        if token is not None:
            self._tokens[token] = (server, number)
        try:
            result = await connection.request(method, params)
        finally:
            under_way.remove(number)
            if token is not None:
                self._tokens.pop(token, None)
        self._routes.note(server, result)
        return result

    def _hear(self, message: Message) -> None:
        """A notification of the client."""
        params = read_params(message)
        match message["method"]:
            case "notifications/initialized":
                return
            case "notifications/cancelled":
                task = self._tasks.get(params.get("requestId", ""))
                if task is not None:
                    task.cancel()
                return
        for connection in self._group.connections.values():
            if connection.is_running:
                self._group.spawn(connection.say(message))

    # What a server says

    def _deliver(self, connection: ServerConnection, message: Message) -> None:
        if is_request(message):
            self._pass_request(connection, message)
        elif is_notification(message):
            self._pass_notification(connection, message)

    def _pass_request(self, connection: ServerConnection, message: Message) -> None:
        """A request of a server gets a number of ours: two servers may use the same."""
        if message["method"] == "ping":
            self._group.spawn(connection.say(result_message(message["id"], {})))
            return
        needed = _NEEDED.get(message["method"])
        if needed and needed not in read_capabilities(self._hello):
            self._refuse(connection, message, METHOD_NOT_FOUND, f"The client has no {needed}.")
            return
        if sum(1 for asker, _ in self._asked.values() if asker is connection) >= _QUESTIONS:
            self._refuse(connection, message, INTERNAL_ERROR, f"{_QUESTIONS} questions wait already.")
            return
        self._number += 1
        number = f"laconic-{self._number}"
        self._asked[number] = (connection, message["id"])
        self._send({**message, "id": number}, self._newest(connection.name))

    def _refuse(self, connection: ServerConnection, message: Message, code: int, reason: str) -> None:
        answer = error_message(message["id"], {"code": code, "message": reason})
        self._group.spawn(connection.say(answer))

    def _pass_notification(self, connection: ServerConnection, message: Message) -> None:
        params = read_params(message)
        related = self._newest(connection.name)
        match message["method"]:
            case "notifications/tools/list_changed":
                self._group.spawn(self._group.refresh(connection.name))
                return
            case "notifications/progress":
                server, number = self._tokens.get(_hashable(params.get("progressToken")), ("", 0))
                if server != connection.name:
                    return  # nobody asked this server with that token
                related = number
            case "notifications/cancelled":
                for number, asked in list(self._asked.items()):
                    if asked == (connection, params.get("requestId")):
                        del self._asked[number]
                        cancelled = {**params, "requestId": number}
                        self._send(notification("notifications/cancelled", cancelled), related)
                return
            case "notifications/prompts/list_changed" | "notifications/resources/list_changed":
                self._routes.forget()
        self._send(message, related)

    def _newest(self, server: str) -> Identifier | None:
        """The client's request that this server works on; the newest of several."""
        under_way = self._under_way[server]
        if under_way:
            return under_way[-1]
        return None

    def _tools_changed(self) -> None:
        if self._is_ready:
            self._send(notification("notifications/tools/list_changed"), None)


def _hashable(value: Any) -> object:
    if isinstance(value, str | int | float):
        return value
    return None


MakeRelay = Callable[[Send], Relay]
