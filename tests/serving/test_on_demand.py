"""An application that nobody asks is never made."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from laconic.serving.on_demand import OnDemandApplication


async def _receive() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ask(app: ASGIApp) -> bytes:
    said = bytearray()

    async def send(message: Any) -> None:
        said.extend(message.get("body", b""))

    await app({"type": "http", "method": "GET", "path": "/", "headers": []}, _receive, send)
    return bytes(said)


def test_it_is_made_once_and_not_in_the_loop() -> None:
    """Three that ask at once get the same application."""
    made: list[int] = []

    def make() -> ASGIApp:
        made.append(threading.get_ident())
        return PlainTextResponse("here")

    async def ask_three_times() -> list[bytes]:
        app = OnDemandApplication(make)
        assert made == []
        return [*await asyncio.gather(_ask(app), _ask(app), _ask(app))]

    assert asyncio.run(ask_three_times()) == [b"here"] * 3
    assert len(made) == 1
    assert made[0] != threading.get_ident()


def test_who_leaves_does_not_end_it_for_the_others() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def make() -> ASGIApp:
        begun.set()
        go_on.wait(10)
        return PlainTextResponse("here")

    async def leave() -> bytes:
        app = OnDemandApplication(make)
        first, second = asyncio.ensure_future(_ask(app)), asyncio.ensure_future(_ask(app))
        await asyncio.to_thread(begun.wait, 10)
        first.cancel()
        await asyncio.wait({first})
        go_on.set()
        return await second

    assert asyncio.run(leave()) == b"here"


def test_a_failure_is_told_and_the_next_who_asks_tries_again() -> None:
    tries: list[int] = []

    def make() -> ASGIApp:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("no room")
        return PlainTextResponse("here")

    async def ask_again() -> bytes:
        app = OnDemandApplication(make)
        with pytest.raises(OSError, match="no room"):
            await _ask(app)
        return await _ask(app)

    assert asyncio.run(ask_again()) == b"here"
