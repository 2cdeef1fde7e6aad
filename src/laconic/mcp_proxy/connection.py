"""One server behind us: started when it is first needed, started again with pauses, and never in the way of others."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from laconic.errors import ServerUnavailable
from laconic.mcp_proxy.definitions import ServerDefinition
from laconic.mcp_proxy.messages import (
    ErrorAnswer,
    Identifier,
    Message,
    is_answer,
    notification,
    read_error,
    request,
)
from laconic.mcp_proxy.process_transport import ProcessTransport

_LOG: Final = logging.getLogger(__name__)
_FIRST_PAUSE: Final = 0.5  # seconds before a server that failed is started again; doubled each time
_LONGEST_PAUSE: Final = 60.0
_COMPLAINTS: Final = 5  # about what cannot be read, that are logged


class _Transport(Protocol):
    async def send(self, message: Message) -> None: ...


class ServerConnection:
    """One server for one client.

    `introduce` gives the parameters of `initialize`, `deliver` gets what the server says unasked, and `started` is
    told when the server is ready.
    """

    def __init__(
        self,
        definition: ServerDefinition,
        environment: Mapping[str, str],
        introduce: Callable[[], Message],
        deliver: Callable[[ServerConnection, Message], None],
        *,
        seconds: float = 30.0,
        limit: int = 32_000_000,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.definition = definition
        self.greeting: Message | None = None  # the server's answer to `initialize`, while it runs
        self._environment = environment
        self._introduce = introduce
        self._deliver = deliver
        self._seconds = seconds
        self._limit = limit
        self._now = now
        self._starting = asyncio.Lock()
        self._transport: _Transport | None = None
        self._reader: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._pending: dict[Identifier, asyncio.Future[Message]] = {}
        self._number = 0
        self._failures = 0  # since it last answered
        self._endings = 0
        self._not_before = 0.0
        self._fault = ""
        self._unread = 0

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def is_running(self) -> bool:
        return self.greeting is not None

    async def start(self) -> Message:
        """The server's greeting; starts it if it does not run."""
        async with self._starting:
            if self.greeting is not None:
                return self.greeting
            wait = self._not_before - self._now()
            if wait > 0:
                raise ServerUnavailable(
                    f"The server {self.name!r} {self._fault}.",
                    f"It is started again in {wait:.0f} s: ask again then.",
                )
            endings = self._endings
            try:
                async with asyncio.timeout(self._seconds):
                    self.greeting = await self._greet()
            except (TimeoutError, ServerUnavailable, ErrorAnswer) as error:
                fault = self._describe(error)
                await self.close()
                if self._endings == endings:  # the end of its stream was not noted yet
                    self._note_failure(fault)
                raise ServerUnavailable(
                    f"The server {self.name!r} {self._fault}.", "Check its entry; other servers are not affected."
                ) from None
            return self.greeting

    async def request(self, method: str, params: object) -> Message:
        """Ask and wait; a caller that is cancelled cancels the request at the server too."""
        if method != "initialize":
            await self.start()
        self._number += 1
        number = self._number
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        try:
            await self._send(request(number, method, params))
            answer = await future
        except asyncio.CancelledError:
            if method != "initialize":
                await self._cancel(number)
            raise
        finally:
            self._pending.pop(number, None)
            if future.done() and not future.cancelled():
                future.exception()  # somebody has heard of it
        if method != "initialize" and not method.endswith("/list"):  # many a server starts well and dies of its work
            self._failures = 0
        if "error" in answer:
            raise read_error(answer)
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    async def say(self, message: Message) -> None:
        """Send a notification or an answer, if the server runs; nobody waits for it."""
        if self.is_running:
            with suppress(ServerUnavailable):
                await self._send(message)

    async def close(self) -> None:
        self.greeting = None
        transport, reader = self._transport, self._reader
        self._transport, self._reader = None, None
        if isinstance(transport, ProcessTransport):
            self._closing = asyncio.create_task(transport.close())
        if self._closing is not None:  # whoever is cancelled while he waits leaves no process behind
            await asyncio.shield(self._closing)
        if reader is not None:
            reader.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reader
        self._drop_pending("was closed")

    async def _greet(self) -> Message:
        await self._open()
        greeting = await self.request("initialize", self._introduce())
        agree = getattr(self._transport, "agree", None)
        if agree is not None:
            agree(str(greeting.get("protocolVersion", "")))
        await self._send(notification("notifications/initialized"))
        return greeting

    async def _open(self) -> None:
        """Open the transport; a task of its own reads, since streams must be closed by the task that opened them."""
        definition = self.definition
        if definition.transport == "stdio":
            process = ProcessTransport(self._receive, self._lose, limit=self._limit)
            await process.open(definition.command, definition.folder, {**self._environment, **definition.variables})
            self._transport = process
            work = process.run()
        else:
            from laconic.mcp_proxy.remote_transport import RemoteTransport  # loads the SDK, which few servers need

            remote = RemoteTransport(self._receive, self._lose, limit=self._limit)
            self._transport = remote
            work = remote.run(definition.url, definition.headers, is_sse=definition.transport == "sse")
        self._reader = asyncio.create_task(self._watch(work, self._transport))

    async def _watch(self, work: Any, transport: _Transport) -> None:
        """Wait for the end of the stream, then let everybody know who waits for an answer."""
        try:
            ending = await work
        except Exception as error:  # noqa: BLE001 - the edge towards a foreign server: it must not end ours
            _LOG.warning("%s: %s", self.name, type(error).__name__)
            ending = f"failed: {type(error).__name__}"
        if self._transport is not transport:
            return  # closed, or started again meanwhile
        self._note_failure(ending)
        self.greeting, self._transport = None, None
        self._drop_pending(ending)

    def _describe(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"did not answer within {self._seconds:g} s"
        refusal = getattr(self._transport, "refusal", "")
        return f"did not start: {refusal or str(error).rstrip('.')}"

    def _note_failure(self, ending: str) -> None:
        self._fault = ending
        self._endings += 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**self._failures)
        if self._failures:  # the first time it may have been bad luck: start again at once
            self._not_before = self._now() + pause
        self._failures = min(self._failures + 1, 10)

    def _drop_pending(self, ending: str) -> None:
        for future in self._pending.values():
            if not future.done():
                problem = f"The server {self.name!r} {ending}."
                future.set_exception(ServerUnavailable(problem, "Ask again to start it again."))

    async def _send(self, message: Message) -> None:
        if self._transport is None:
            raise ServerUnavailable(f"The server {self.name!r} {self._fault or 'does not run'}.", "Ask again.")
        await self._transport.send(message)

    async def _cancel(self, number: Identifier) -> None:
        with suppress(ServerUnavailable):
            await self._send(notification("notifications/cancelled", {"requestId": number}))

    def _receive(self, message: Message) -> None:
        if not is_answer(message):
            self._deliver(self, message)
            return
        number = message.get("id")
        if not isinstance(number, str | int):
            return
        future = self._pending.get(number)
        if future is not None and not future.done():
            future.set_result(message)

    def _lose(self, number: object, problem: str) -> None:
        """An answer that could not be read: whoever waits for it is told."""
        self._unread += 1
        if self._unread <= _COMPLAINTS:
            _LOG.warning("%s %s", self.name, problem)
        future = self._pending.get(number) if isinstance(number, str | int) else None
        if future is not None and not future.done():
            future.set_exception(ServerUnavailable(f"The server {self.name!r} {problem}.", "Ask for less."))
