"""Hand an answer to the client as it comes, and read on the side what it says about itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final

import aiohttp

from laconic.gateway.bodies import SideReader
from laconic.gateway.headers import downward
from laconic.gateway.plan import Plan
from laconic.gateway.routes import Target
from laconic.wire.limits import Limits
from laconic.wire.prompted.answer import downward as with_calls
from laconic.wire.prompted.calls import Broken
from laconic.wire.prompted.stream import stream_for
from laconic.wire.usage import Usage, UsageReader, usage_of

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

_WHOLE: Final = 8 * 2**20  # a larger answer that is not streamed is not searched for usage


class Passing:
    """One answer on its way to one client."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0  # 0: not yet
        self.usage: Usage | None = None
        self.broken: Sequence[Broken] = ()
        self.limits: Limits | None = None

    async def answer(self, answer: aiohttp.ClientResponse, plan: Plan, where: Target) -> None:
        """Every chunk goes on when it arrives. For a model without function calling its text becomes calls."""
        streamed = answer.content_type == "text/event-stream"
        if plan.tools and not streamed:
            body, self.broken = with_calls(where.format, await answer.read(), plan.tools)
            await self.whole(answer, plan, body)
        elif plan.tools:
            await self._with_calls(answer, plan, where)
        else:
            await self._start(answer, plan)
            await self._plain(answer, streamed=streamed, read=plan.caller is not None)
            await self._end()

    async def whole(self, answer: aiohttp.ClientResponse, plan: Plan, body: bytes) -> None:
        """An answer that was read before it is passed on."""
        await self._start(answer, plan)
        side = SideReader(answer.headers.get("content-encoding", "") if not plan.tools else "")
        self.usage = usage_of(side.feed(body))
        await self._write(body)
        await self._end()

    async def _plain(self, answer: aiohttp.ClientResponse, *, streamed: bool, read: bool) -> None:
        side = SideReader(answer.headers.get("content-encoding", ""))
        reader, whole = UsageReader(), bytearray()
        async for chunk in answer.content.iter_any():
            await self._write(chunk)
            if read and streamed:
                reader.feed(side.feed(chunk))
            elif read and len(whole) <= _WHOLE:
                whole += side.feed(chunk)
        if read:
            self.usage = reader.close() if streamed else usage_of(bytes(whole)) if len(whole) <= _WHOLE else None

    async def _with_calls(self, answer: aiohttp.ClientResponse, plan: Plan, where: Target) -> None:
        await self._start(answer, plan)
        stream, reader = stream_for(where.format, plan.tools), UsageReader()
        self.broken = stream.broken
        async for chunk in answer.content.iter_any():
            reader.feed(chunk)
            if written := stream.feed(chunk):
                await self._write(written)
        await self._write(stream.close())
        self.usage = reader.close()
        await self._end()

    async def _start(self, answer: aiohttp.ClientResponse, plan: Plan) -> None:
        raw = downward(answer.raw_headers, plan.notes, rewritten=bool(plan.tools))
        await self._send({"type": "http.response.start", "status": answer.status, "headers": raw})
        self.status = answer.status

    @property
    def started(self) -> bool:
        return self.status > 0

    async def _write(self, chunk: bytes) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _end(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
