"""Bodies are read to their bound and no further, in time that grows with their length."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from starlette.requests import Request
from starlette.types import Message

from laconic.serving.bounded_body import read_bounded


class _Pieces:
    """A client that sends many small pieces."""

    def __init__(self, count: int, size: int) -> None:
        self._pieces: Iterator[int] = iter(range(count))
        self._size = size
        self.taken = 0

    async def __call__(self) -> Message:
        more = next(self._pieces, None) is not None
        self.taken += more
        return {"type": "http.request", "body": b"a" * self._size if more else b"", "more_body": more}


def _read(pieces: _Pieces, most: int) -> bytes | None:
    return asyncio.run(read_bounded(Request({"type": "http", "headers": []}, pieces), most))


def test_a_body_within_its_bound_is_read() -> None:
    assert _read(_Pieces(10, 3), 30) == b"a" * 30


def test_a_longer_one_is_read_no_further() -> None:
    pieces = _Pieces(10, 3)
    assert _read(pieces, 10) is None
    assert pieces.taken == 4


def test_small_pieces_cost_no_more_than_large_ones() -> None:
    start = time.process_time()
    assert len(_read(_Pieces(50_000, 500), 30_000_000) or b"") == 25_000_000
    assert time.process_time() - start < 5  # joined anew with each piece it is minutes
