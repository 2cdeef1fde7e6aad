"""Write to a connection once for what is written at once: the head of an answer and its first piece, its last piece and
its end. Each write to the network costs more than what leads to it, and wakes the peer.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

_MOST: Final = 64 * 1024  # bytes that wait for the end of a turn of the loop


class JoinedWrites(asyncio.Transport):
    """A transport that sends when the callback that wrote to it has ended. Everything else is the transport's below."""

    def __init__(self, below: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._below = below
        self._loop = loop
        self._waiting: list[bytes | bytearray | memoryview] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _MOST:
            self._send()

    def _send(self) -> None:
        if self._waiting:
            joined, self._size = b"".join(self._waiting), 0
            self._waiting.clear()
            self._below.write(joined)

    def close(self) -> None:
        self._send()
        self._below.close()

    def abort(self) -> None:
        self._waiting.clear()
        self._size = 0
        self._below.abort()

    def write_eof(self) -> None:
        self._send()
        self._below.write_eof()

    def can_write_eof(self) -> bool:
        return self._below.can_write_eof()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._send()
        self._below.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._below.get_protocol()

    def is_closing(self) -> bool:
        return self._below.is_closing()

    def is_reading(self) -> bool:
        return self._below.is_reading()

    def pause_reading(self) -> None:
        self._below.pause_reading()

    def resume_reading(self) -> None:
        self._below.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._size + self._below.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._below.get_extra_info(name, default)
