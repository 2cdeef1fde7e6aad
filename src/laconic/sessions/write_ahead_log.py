"""A database as its file and its write-ahead log say together, read without writing anything.

SQLite itself needs an index of the log, which is a file: on a disk that takes no more bytes there is none to be had.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

_HEADER: Final = 32  # bytes of a log before its frames
_FRAME: Final = 24  # bytes of a frame before its page
_LEGACY: Final = b"\x01\x01"  # read and written without a log
_VERSIONS: Final = slice(18, 20)


def with_log(pages: bytes, log: Path) -> bytes:
    """The pages of a file, and over them those of every transaction that was ended in its log."""
    base = bytearray(pages)
    if log.exists():
        _apply(base, log.read_bytes())
    base[_VERSIONS] = _LEGACY
    return bytes(base)


def _apply(base: bytearray, log: bytes) -> None:
    if len(log) < _HEADER:
        return
    size = int.from_bytes(log[8:12], "big")
    salts = log[16:24]
    ended: list[tuple[int, bytes]] = []
    pending: list[tuple[int, bytes]] = []
    pages = 0
    for at in range(_HEADER, len(log) - _FRAME - size + 1, _FRAME + size):
        number, commit = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != salts or not number:
            break  # of an older run through the log
        pending.append((number, log[at + _FRAME : at + _FRAME + size]))
        if commit:
            ended += pending
            pending, pages = [], commit
    if not pages:
        return
    base.extend(bytes(max(0, pages * size - len(base))))
    for number, page in ended:
        base[(number - 1) * size : number * size] = page
    del base[pages * size :]
