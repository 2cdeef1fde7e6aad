"""Decompress request bodies, and copies of answers. A body that grows without limit stays compressed."""

from __future__ import annotations

import sys
import zlib
from typing import Protocol


class _Stream(Protocol):
    def decompress(self, data: bytes, /) -> bytes: ...


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
    if stream.eof and len(inner) <= most:
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
    if stream.eof and len(inner) <= most:
        return inner
    return None


class SideReader:
    """Opens an answer as it passes, to read its usage; gives up quietly when it cannot."""

    __slots__ = ("_stream",)

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        self._stream: _Stream | None = None
        if name in {"gzip", "x-gzip"}:
            self._stream = zlib.decompressobj(47)
        elif name not in {"", "identity"}:
            self._stream = _NoDecoder()

    @property
    def is_blind(self) -> bool:
        """Whether it cannot read this answer."""
        return isinstance(self._stream, _NoDecoder)

    def feed(self, chunk: bytes) -> bytes:
        if self._stream is None:
            return chunk
        try:
            return self._stream.decompress(chunk)
        except zlib.error:
            self._stream = _NoDecoder()
            return b""


class _NoDecoder:
    def decompress(self, data: bytes, /) -> bytes:
        return b""
