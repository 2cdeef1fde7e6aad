"""HTTP with limits on what a peer may send before it is identified: bytes, headers, time, requests in advance.

The parser keeps all headers in memory and waits for their end without a limit. Here a request that is too large or too
slow is refused while it arrives, and of connections that wait for their peer the oldest is closed when there are many.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from http import HTTPStatus
from typing import Any, Final, Literal

import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from laconic.serving.joined_writes import JoinedWrites

_LINGER: Final = 1.0  # seconds that a refused peer has to read why

Phase = Literal["head", "body", "between"]


class ConnectionBounds(msgspec.Struct, frozen=True):
    """What a peer may send, and how long it may take."""

    head_bytes: int = 64 * 1024  # of the request line and all headers; also of trailers
    headers: int = 128
    head_seconds: float = 15.0  # from the first byte, or from the connection, to the end of the headers
    body_seconds: float = 30.0  # in which `body_least` bytes of a body must arrive
    body_least: int = 1024
    pipelined: int = 16  # requests that may wait on one connection for the answer to an earlier one
    waiting: int = 1024  # connections that wait for their peer
    answering: int = 24_576  # connections with a request that is being answered


class BoundedState(ServerState):
    """All connections of a server, and those that wait for their peer, longest first."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        super().__init__()
        self.bounds = bounds
        self._waiting: dict[BoundedProtocol, None] = {}
        self._answering: set[BoundedProtocol] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return bool(self._answering)

    def is_full(self) -> bool:
        """Whether as many connections are answered as there is room for. Those that wait for their peer do not count."""
        return len(self._answering) >= self.bounds.answering

    def wait(self, connection: BoundedProtocol) -> None:
        """The connection has nothing to do. When too many are like that, the one that waits longest is closed."""
        self.release(connection)
        self._waiting[connection] = None
        if len(self._waiting) > self.bounds.waiting:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()

    def answer(self, connection: BoundedProtocol) -> None:
        """The connection has a request to answer."""
        self._waiting.pop(connection, None)
        self._answering.add(connection)

    def release(self, connection: BoundedProtocol) -> None:
        """The connection has ended."""
        self._waiting.pop(connection, None)
        self._answering.discard(connection)


class RequestTooLarge(Exception):
    """Raised inside the parser, which then stops."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(server_state, BoundedState)
        self._state = server_state
        self._bounds = server_state.bounds
        self._phase: Phase = "between"
        self._timer: TimerHandle | None = None
        self._head = 0  # bytes of the request line and headers so far
        self._silent = 0  # bytes that came since the parser last understood something
        self._understood = False
        self._body = 0  # bytes of the body since the timer was set
        self._unanswered = 0  # whole requests without a whole answer
        self._refusal = (HTTPStatus.BAD_REQUEST, "Invalid HTTP request.")
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport, self.loop))
        self._state.wait(self)
        self._expect(self._bounds.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._state.release(self)
        self._expect(None)

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return
        self._understood = False
        super().data_received(data)
        if self._understood:
            self._silent = 0
        else:
            self._silent = self._silent + len(data)
        if self._silent > self._bounds.head_bytes:
            self._refuse(*self._too_long())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._understood = True
        self._head = 0
        self._phase = "head"
        self._expect(self._bounds.head_seconds)

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        if self._phase != "head":
            return  # a trailer: the headers that were checked stay as they were
        if len(self.headers) >= self._bounds.headers:
            text = f"A request has at most {self._bounds.headers} headers."
            self._refusal = (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, text)
            raise RequestTooLarge
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= self._bounds.pipelined:
            raise RequestTooLarge  # an answer is under way: there is no place to say why
        self._understood = True
        self._phase = "body"
        self._head = 0
        self._expect(self._bounds.body_seconds)
        # The base class counts all connections, also those that were just closed. Ours decides: zero refuses.
        self.limit_concurrency = 0 if self._state.is_full() else None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._understood = True
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._understood = True
        self._phase = "between"
        self._unanswered += 1
        self._expect(None)
        self._settle()
        if self._unanswered == 0:  # it was answered before its end, and that answer's timer is gone
            self._expect(self.timeout_keep_alive)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unanswered -= 1
        self._settle()

    def send_400_response(self, msg: str) -> None:
        self._refuse(*self._refusal)

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > self._bounds.head_bytes:
            self._refusal = self._too_long()
            raise RequestTooLarge

    def _too_long(self) -> tuple[HTTPStatus, str]:
        text = f"A request line with its headers has at most {self._bounds.head_bytes} bytes."
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, text

    def _settle(self) -> None:
        if self.transport.is_closing():
            return
        if self._unanswered > 0:
            self._state.answer(self)
        else:
            self._state.wait(self)

    def _expect(self, seconds: float | None) -> None:
        """Give the peer so much time for what comes next; None: nothing is expected of it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._body = 0
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self._expire, seconds)

    def _expire(self, seconds: float) -> None:
        self._timer = None
        held_up = self._unanswered > 0 or self.flow.read_paused  # by us, not by the peer
        if held_up or (self._phase == "body" and self._body >= self._bounds.body_least):
            self._expect(seconds)
        elif self._phase == "between":
            self.transport.close()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request did not arrive in time.")

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        """Say why, read nothing more, and close: at once where an answer is under way already."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._expect(None)
        self._unset_keepalive_if_required()
        answering = self._unanswered > 0 or (self._phase == "body" and self.cycle.response_started)
        if self._phase == "body":
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if answering:
            self.transport.close()
            return
        body = f"{text}\n".encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        if not self.transport.can_write_eof():  # TLS
            self.transport.close()
            return
        # Closing with unread bytes would reset the connection, and the answer would be lost with it.
        self.transport.write_eof()
        self.transport.pause_reading()
        self.loop.call_later(_LINGER, self.transport.abort)
