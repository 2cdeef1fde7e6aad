"""What is written at once is sent at once, whole and in order."""

from __future__ import annotations

import asyncio
from typing import Any

from laconic.serving.joined_writes import JoinedWrites


class Sink(asyncio.Transport):
    """A transport that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Any] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.told.append(bytes(data))

    def close(self) -> None:
        self.told.append("close")

    def abort(self) -> None:
        self.told.append("abort")

    def write_eof(self) -> None:
        self.told.append("eof")

    def get_write_buffer_size(self) -> int:
        return 0


async def _opened() -> tuple[Sink, JoinedWrites]:
    below = Sink()
    return below, JoinedWrites(below, asyncio.get_running_loop())


def test_one_turn_of_the_loop_is_one_write() -> None:
    async def write() -> list[Any]:
        below, joined = await _opened()
        joined.write(b"head ")
        joined.write(bytearray(b"piece "))
        assert below.told == []
        assert joined.get_write_buffer_size() == len(b"head piece ")
        await asyncio.sleep(0)
        joined.write(b"next")
        await asyncio.sleep(0)
        return below.told

    assert asyncio.run(write()) == [b"head piece ", b"next"]


def test_a_large_answer_does_not_pile_up() -> None:
    """Its writer has to feel how fast the peer reads."""

    async def write() -> list[Any]:
        below, joined = await _opened()
        for _ in range(5):
            joined.write(b"x" * 40_000)
        return list(below.told)

    assert [len(one) for one in asyncio.run(write())] == [80_000, 80_000]


def test_nothing_is_lost_when_it_is_closed() -> None:
    async def write() -> list[Any]:
        below, joined = await _opened()
        joined.write(b"last")
        joined.write_eof()
        joined.write(b"words")
        joined.close()
        await asyncio.sleep(0)
        return below.told

    assert asyncio.run(write()) == [b"last", "eof", b"words", "close"]


def test_nothing_is_sent_after_an_abort() -> None:
    async def write() -> list[Any]:
        below, joined = await _opened()
        joined.write(b"half")
        joined.abort()
        await asyncio.sleep(0)
        return below.told

    assert asyncio.run(write()) == ["abort"]
