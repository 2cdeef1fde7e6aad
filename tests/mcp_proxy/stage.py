"""A relay with real server processes behind it, and a client that remembers what it was sent."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from laconic.config import load
from laconic.mcp_proxy.definitions import ServerDefinition
from laconic.mcp_proxy.messages import Message, is_answer
from laconic.mcp_proxy.relay import Relay
from laconic.mcp_proxy.relay_maker import relay_maker

SERVER = Path(__file__).with_name("server.py")
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"sampling": {}, "roots": {"listChanged": True}},
    "clientInfo": {"name": "tester", "version": "1"},
}


def definition(name: str, *modes: str, variables: Mapping[str, str] | None = None) -> ServerDefinition:
    command = (sys.executable, str(SERVER), name, *modes)
    return ServerDefinition(name=name, transport="stdio", command=command, variables=variables or {})


class FakeClient:
    """Sends requests to a relay and waits for answers."""

    def __init__(self) -> None:
        self.relay: Relay
        self.hello: Message = {}
        self.heard: list[Message] = []
        self.related: list[object] = []
        self.answer_requests: Callable[[Message], Any] | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[object, asyncio.Future[Message]] = {}
        self._news = asyncio.Event()

    def take(self, message: Message, related: object) -> None:
        if is_answer(message) and message.get("id") in self._waiting:
            self._waiting.pop(message["id"]).set_result(message)
            return
        self.heard.append(message)
        self.related.append(related)
        self._news.set()
        if "id" in message and self.answer_requests is not None:
            self.relay.receive({"jsonrpc": "2.0", "id": message["id"], "result": self.answer_requests(message)})

    def start(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Message]]:
        number = next(self._numbers)
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        message: Message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        self.relay.receive(message)
        return number, future

    async def ask(self, method: str, params: Any = None) -> Message:
        answer = await asyncio.wait_for(self.start(method, params)[1], 60)
        if "error" in answer:
            return {"error": answer["error"]}
        return dict(answer["result"])

    async def call(self, name: str, **arguments: Any) -> Message:
        return await self.ask("tools/call", {"name": name, "arguments": arguments})

    async def text(self, name: str, **arguments: Any) -> str:
        result = await self.call(name, **arguments)
        return str(result["content"][0]["text"])

    def notify(self, method: str, params: Any = None) -> None:
        self.relay.receive({"jsonrpc": "2.0", "method": method, "params": params or {}})

    async def hear(self, method: str) -> Message:
        """Wait for a message of this method."""

        async def wait() -> Message:
            while True:
                for message in self.heard:
                    if message.get("method") == method:
                        return message
                self._news.clear()
                await self._news.wait()

        return await asyncio.wait_for(wait(), 30)


@asynccontextmanager
async def relaying(
    folder: Path, *definitions: ServerDefinition, settings: Mapping[str, object] | None = None, hello: Message = HELLO
) -> AsyncIterator[FakeClient]:
    """A client that has said hello to a relay in front of these servers."""
    values = {"cache_dir": str(folder / "cache"), "around.schemas": "lines", **(settings or {})}
    client = FakeClient()
    client.relay = relay_maker(list(definitions), load(values, environ={}), folder)(client.take)
    try:
        client.hello = await client.ask("initialize", hello)
        client.notify("notifications/initialized")
        await client.ask("tools/list")
        yield client
    finally:
        await client.relay.close()


def names(listed: Sequence[Message]) -> list[str]:
    return [tool["name"] for tool in listed]
