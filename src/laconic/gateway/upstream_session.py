"""The connections to providers: answers pass as they come, and nothing is added to requests."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import aiohttp
from aiohttp.client_proto import ResponseHandler

_BURST: Final = 0.001  # seconds between two pieces of a stream that comes at once
_LINE: Final = 64 * 1024  # bytes of a header
_TURN: Final = 64 * 1024  # bytes of one stream that are looked at in one go
_PIECE: Final = 256 * 1024
_AUTO: Final = frozenset({"User-Agent", "Accept", "Accept-Encoding", "Content-Type"})


class RelayedResponse(ResponseHandler):
    """A connection to a provider.

    aiohttp wakes its parser for every piece of a body that is read, which for a stream of small events is a third of
    all work. Only a parser that was paused has anything to go on with.
    """

    def resume_reading(self, *how: bool, **more: bool) -> None:
        if self._reading_paused:
            super().resume_reading(*how, **more)

    async def rest(self, seconds: float) -> None:
        """Let a stream come for a moment without being woken for it."""
        if self.transport is None or self._reading_paused or self._buffer_paused:
            return
        self.transport.pause_reading()
        try:
            await asyncio.sleep(seconds)
        finally:
            self._resume_transport_reading()


class RelayedBody(aiohttp.StreamReader):
    """A body that is read as it comes. aiohttp also remembers where each of its chunks ended, which nobody asks here:
    for a stream of small events that is half of the work on it."""

    __slots__ = ()

    def begin_http_chunk_receiving(self) -> None:
        """A chunk begins."""

    def end_http_chunk_receiving(self) -> None:
        """A chunk has ended."""

    def _read_nowait(self, n: int) -> bytes:
        if n != -1 or self._buffer_offset:
            return super()._read_nowait(n)
        self._timer.assert_timeout()
        whole = b"".join(self._buffer)
        self._buffer.clear()
        self._size = 0
        self._cursor += len(whole)
        self._protocol.resume_reading()
        return whole


async def gather_bursts(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """An answer as it comes. What comes faster than a model writes is taken a millisecond's worth at a time: passing on
    each of its events alone would be several times the work."""
    if type(answer.content) is aiohttp.StreamReader:
        answer.content.__class__ = RelayedBody
    last = 0.0
    async for chunk in answer.content.iter_any():
        yield chunk
        now = time.monotonic()
        connection = answer.connection  # None: all is there
        if now - last < _BURST and connection is not None and isinstance(connection.protocol, RelayedResponse):
            await connection.protocol.rest(_BURST)
            now = time.monotonic()
        last = now


class FairTurns:
    """Lets other streams go on beside one that comes faster than it is looked at."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _TURN

    async def take(self, size: int) -> None:
        """So many bytes were looked at."""
        self._left -= size
        if self._left <= 0:
            self._left = _TURN
            await asyncio.sleep(0)


async def read_start(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """An answer, or little more than `most` bytes of one that is longer: the rest of it is still to be read."""
    read = bytearray()
    while len(read) <= most and (piece := await answer.content.read(_PIECE)):
        read += piece
    return bytes(read)


def _tls(certificates: Sequence[str]) -> ssl.SSLContext | bool:
    if not certificates:
        return True
    context = ssl.create_default_context()
    for file in certificates:
        with suppress(OSError):  # a file that is missing or broken is no reason to reach nobody
            context.load_verify_locations(file)
    return context


def open_session(certificates: Sequence[str] = ()) -> aiohttp.ClientSession:
    """Belongs to the loop that runs. The authorities in these files are trusted beside those of the system."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=15, ssl=_tls(certificates))
    connection: type[ResponseHandler] = RelayedResponse
    connector._factory = partial(connection, loop=asyncio.get_running_loop())
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),  # a model may think for long
        auto_decompress=False,
        skip_auto_headers=_AUTO,
        cookie_jar=aiohttp.DummyCookieJar(),
        max_line_size=_LINE,
        max_field_size=_LINE,
    )
