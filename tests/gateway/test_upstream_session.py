"""Connections to providers: a reader that is slower than the provider loses nothing."""

from __future__ import annotations

import asyncio

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.gateway.upstream_session import RelayedResponse, open_session

_EVENTS = [b"data: %06d\n\n" % number for number in range(20_000)]


def _answer(request: ReceivedRequest) -> ScriptedAnswer:
    return streamed(_EVENTS)


async def _read_late() -> bytes:
    """The answer, not read before it is more than a connection holds at once."""
    async with (
        ScriptedUpstream(_answer) as upstream,
        open_session() as session,
        session.post(upstream.url + "/v1/messages", data=b"{}") as answer,
        asyncio.timeout(20),
    ):
        assert answer.connection is not None
        connection = answer.connection.protocol
        assert isinstance(connection, RelayedResponse)
        while not connection._reading_paused:
            await asyncio.sleep(0.01)
        return b"".join([piece async for piece in answer.content.iter_any()])


def test_a_late_reader_gets_everything() -> None:
    assert asyncio.run(_read_late()) == b"".join(_EVENTS)
