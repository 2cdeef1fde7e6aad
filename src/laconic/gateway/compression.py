"""Decompress request bodies, and copies of answers. A body that grows without limit stays compressed."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Any, Final

_PIECE: Final = 65_536  # bytes of an opened answer that are looked at in one go


def opened(body: bytes, encoding: str, most: int) -> bytes | None:
    """A body as it was before it was compressed; None when we cannot open it, or when it has more than `most` bytes."""
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        inner = _opened(body, name, most)
        if inner is None:
            return None
        body = inner
    return body


def _opened(body: bytes, name: str, most: int) -> bytes | None:
    if name == "identity":
        return body
    try:
        if name in {"gzip", "x-gzip", "deflate"}:
            return _inflated(body, 47 if name != "deflate" else 15, most)
        if name == "zstd":
            return _zstd(body, most)
    except zlib.error:
        return None
    return None


def _inflated(body: bytes, bits: int, most: int) -> bytes | None:
    stream = zlib.decompressobj(bits)
    inner = stream.decompress(body, most + 1)
    if stream.eof and len(inner) <= most and not stream.unused_data:  # others might read a second part of it
        return inner
    return None


def _zstd(body: bytes, most: int) -> bytes | None:
    if sys.version_info >= (3, 14):  # only some clients send this
        from compression import zstd
    else:
        from backports import zstd

    stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 27})
    try:
        inner = stream.decompress(body, most + 1)
    except zstd.ZstdError:
        return None
    if stream.eof and len(inner) <= most and not stream.unused_data:
        return inner
    return None


class SideReader:
    """Opens an answer as it passes, to read its usage; gives up quietly when it cannot."""

    __slots__ = ("_stream", "is_blind")

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        self._stream: Any = None
        if name in {"gzip", "x-gzip"}:
            self._stream = zlib.decompressobj(47)
        self.is_blind = self._stream is None and name not in {"", "identity"}  # it cannot read this answer

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What these bytes say, in small pieces: a little that is compressed may be very much."""
        if self._stream is None:
            for start in range(0, 0 if self.is_blind else len(chunk), _PIECE):
                yield chunk[start : start + _PIECE]
            return
        plain = b""
        while chunk or len(plain) == _PIECE:
            try:
                plain = self._stream.decompress(chunk, _PIECE)
            except zlib.error:
                self._stream, self.is_blind = None, True
                return
            chunk = self._stream.unconsumed_tail
            yield plain
