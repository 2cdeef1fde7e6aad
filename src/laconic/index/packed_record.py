"""A content record as it is kept and sent: encoded and compressed."""

from __future__ import annotations

import sys
from typing import Final

import msgspec

from laconic.errors import LaconicError
from laconic.index.content_record import ContentRecord, decode, encode

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LARGEST: Final = 256_000_000  # bytes of an open record; files that are parsed are far smaller


class BadRecord(LaconicError):
    """Bytes that are no record of this program."""


def pack_record(record: ContentRecord) -> bytes:
    return zstd.compress(encode(record), 3)


def unpack_record(packed: bytes) -> ContentRecord:
    """The record; an error when these are other bytes, cut, or far too many."""
    stream = zstd.ZstdDecompressor()
    try:
        encoded = stream.decompress(packed, _LARGEST)
        if not stream.eof:
            raise BadRecord("A content record is not whole.")
        return decode(encoded)
    except (zstd.ZstdError, msgspec.MsgspecError) as error:
        raise BadRecord(f"A content record cannot be read: {error}.") from None
