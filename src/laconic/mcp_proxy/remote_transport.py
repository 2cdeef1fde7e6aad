"""A server over streamable HTTP or SSE: the SDK's transports, with the user's headers and a bound on an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter

from laconic.errors import ServerUnavailable
from laconic.mcp_proxy.messages import Message

_VERSION: Final = "mcp-protocol-version"
_CONNECTING: Final = 30.0  # seconds
_UNAUTHORISED: Final = frozenset({401, 403, 407})
_ERRORS: Final = 400
_SILENCE: Final = 24 * 3600.0  # seconds that a stream may be silent


class RemoteTransport:
    """Speaks to one server elsewhere. Its streams are opened and closed by the task that runs it."""

    def __init__(
        self, receive: Callable[[Message], None], lost: Callable[[object, str], None], *, limit: int = 32_000_000
    ) -> None:
        self._receive = receive
        self._lost = lost
        self._limit = limit
        self._write: Any = None
        self._opened = anyio.Event()
        self._version = ""
        self.refusal = ""  # how the server last refused a request
        self._asked: list[object] = []  # ids of requests that wait for an answer, the newest last

    async def run(self, url: str, headers: Mapping[str, str], *, is_sse: bool) -> str:
        """Connect and read until the server closes the stream; says how it ended."""
        ending = "closed the connection"
        try:
            async with AsyncExitStack() as stack:
                if is_sse:
                    streams = sse_client(
                        url,
                        timeout=_CONNECTING,
                        sse_read_timeout=_SILENCE,
                        httpx_client_factory=self._factory(headers),
                    )
                else:
                    client = await stack.enter_async_context(self._client(headers))
                    streams = streamable_http_client(url, http_client=client, max_sse_event_size=self._limit)
                read, self._write = await stack.enter_async_context(streams)
                self._opened.set()
                async for item in read:
                    self._take(item)
        except* (httpx2.HTTPError, OSError, ValueError) as group:
            ending = f"cannot be reached: {_reason(group)}"
        finally:
            self._opened.set()
        return ending

    async def send(self, message: Message) -> None:
        await self._opened.wait()
        if self._write is None:
            raise ServerUnavailable("It cannot be reached.")
        if "method" in message and "id" in message:
            self._asked = [*self._asked[-200:], message["id"]]
        headers = {_VERSION: self._version} if self._version else None
        try:
            await self._write.send(
                SessionMessage(
                    jsonrpc_message_adapter.validate_python(message), ClientMessageMetadata(headers=headers)
                )
            )
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise ServerUnavailable("It closed the connection.") from None

    def agree(self, version: str) -> None:
        """Later requests name the version that the server chose."""
        self._version = version

    def _take(self, item: object) -> None:
        if isinstance(item, SessionMessage):
            self._receive(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))
        elif isinstance(item, Exception):
            self._lost(None, f"sent what cannot be read: {type(item).__name__}")

    def _client(self, headers: Mapping[str, str]) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(_CONNECTING, read=_SILENCE)
        transport = _Bounded(httpx2.AsyncHTTPTransport(), self._limit, self._note_status)
        return httpx2.AsyncClient(headers=dict(headers), timeout=timeout, transport=transport)

    def _note_status(self, status: int) -> None:
        """The SDK tells only that there was an error."""
        if status in _UNAUTHORISED:
            self.refusal = f"HTTP {status}; check the headers of its entry"
        elif status >= _ERRORS:
            self.refusal = f"HTTP {status}"

    def _factory(self, headers: Mapping[str, str]) -> Any:
        def make(**given: Any) -> httpx2.AsyncClient:
            return self._client(headers)

        return make


class _Bounded(httpx2.AsyncBaseTransport):
    """Ends a JSON answer that is too long; a stream of events may go on, its events are bounded one by one."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, limit: int, note_status: Callable[[int], None]) -> None:
        self._inner = inner
        self._limit = limit
        self._note_status = note_status

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        self._note_status(response.status_code)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            response.stream = _BoundedStream(response.stream, self._limit)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._limit:
                raise httpx2.ReadError(f"an answer of more than {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _reason(group: BaseExceptionGroup[Any]) -> str:
    """The first error inside, without the address: it may hold a token."""
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    if isinstance(first, httpx2.HTTPStatusError):
        return f"HTTP {first.response.status_code}"
    return type(first).__name__
