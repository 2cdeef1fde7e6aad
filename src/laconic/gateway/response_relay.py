"""Relay an answer to the client as it arrives, and read its usage on the side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, Final

import aiohttp
import msgspec

from laconic.errors import MalformedRequest
from laconic.exchange.caller import Target
from laconic.exchange.plan import Plan
from laconic.exchange.recall import NAME
from laconic.gateway.compression import SideReader, opened
from laconic.gateway.headers import downward
from laconic.gateway.upstream_session import FairTurns, gather_bursts, read_start
from laconic.wire.formats import format_named
from laconic.wire.hidden_calls import HeldAnswer, HeldStream, HiddenCalls
from laconic.wire.json_spans import value
from laconic.wire.prompted_tool_calls.answer import convert_answer as with_calls
from laconic.wire.prompted_tool_calls.calls import BrokenCall, UnusableCalls
from laconic.wire.prompted_tool_calls.written_call_stream import WrittenCallStream
from laconic.wire.rate_limits import RateLimits
from laconic.wire.usage import Usage
from laconic.wire.usage_reader import UsageReader, usage_of, usage_of_part

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

RETRIES: Final = 2  # times that a model is asked again when none of its calls can be used
_WHOLE: Final = 8 * 2**20  # a larger answer that is not streamed is not searched for usage


class ResponseRelay:
    """One answer on its way to one client. A model whose calls were nonsense is asked again, and the answer goes on."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._retries = RETRIES
        self._stream: WrittenCallStream | None = None
        self._whole: Callable[[], Awaitable[None]] | None = None  # passes on what was not passed on yet
        self.status = 0  # 0: not yet
        self._used: Usage | None = None  # by the answers that ended
        self._reader: UsageReader | None = None  # of the answer that passes
        self._body: bytearray | None = None  # of one that is not streamed, as far as it came
        self._hour = False  # what it writes to the cache is kept for an hour
        self.plan: Plan | None = None  # that is answered
        self.broken: list[BrokenCall] = []
        self.limits: RateLimits | None = None
        self.nonsense: UnusableCalls | None = None  # the model has to be asked again
        self.held: HeldAnswer | None = None  # the model recalled something, and waits for it
        self.rounds: list[tuple[Plan, Usage | None]] = []  # answers that recalled something, and what they used
        self._hidden: HeldStream | None = None
        self._first: dict[str, Any] | None = None  # of several whole answers, the ones so far

    async def answer(self, answer: aiohttp.ClientResponse, plan: Plan, where: Target) -> None:
        """Every chunk goes on when it arrives. For a model without function calling its text becomes calls."""
        self.nonsense = self.held = None
        self._begin(plan)
        streamed = answer.content_type == "text/event-stream"
        side = SideReader(_encoding(answer))
        if plan.tools and not streamed:
            await self._read(answer, plan, where)
        elif plan.recall and not side.is_blind:
            await self._with_recall(answer, plan, where, side, streamed=streamed)
        elif plan.tools and (self._stream is not None or not side.is_blind):
            await self._with_calls(answer, plan, where, side)
        else:
            await self._start(answer, plan, rewritten=False)
            await self._plain(answer, side, streamed=streamed, read=plan.caller is not None)
            await self._end()

    async def whole(self, answer: aiohttp.ClientResponse, plan: Plan, body: bytes) -> None:
        """An answer whose beginning was read before it is passed on, as it came."""
        self._begin(plan)
        self._add(usage_of(opened(body, _encoding(answer), _WHOLE) or b"", hour=self._hour))
        await self._start(answer, plan, rewritten=False)
        await self._write(body)
        async for chunk in answer.content.iter_any():
            await self._write(chunk)
        await self._end()

    @property
    def usage(self) -> Usage | None:
        """Of all answers of the model to this request, as far as they came; estimated where nobody counted."""
        found = self._used
        for part in (self._reader.so_far if self._reader else None, self._usage_of_body()):
            if found is None:
                found = part
            else:
                found = found + (part or Usage())
        return found

    def _usage_of_body(self) -> Usage | None:
        if self._body:
            return usage_of_part(bytes(self._body), hour=self._hour)
        return None

    def _begin(self, plan: Plan) -> None:
        self.plan = plan
        self._hour = plan.hour

    def _add(self, usage: Usage | None) -> None:
        """An answer has ended."""
        self._reader = self._body = None
        if usage is not None:
            if self._used is None:
                self._used = usage
            else:
                self._used = self._used + usage

    async def _with_recall(
        self, answer: aiohttp.ClientResponse, plan: Plan, where: Target, side: SideReader, *, streamed: bool
    ) -> None:
        """What the model recalls is not for the client; everything else passes."""
        calls = format_named(where.format).hidden_calls
        assert calls is not None
        if not streamed:
            await self._whole_with_recall(answer, plan, calls)
            return
        if self._hidden is None:
            await self._start(answer, plan, rewritten=True)
            stream = self._hidden = calls.stream(NAME)
        else:
            stream = self._hidden
            stream.resume()
        await self._rewrite(answer, side, stream)
        if stream.answer is None:
            await self._end()
            return
        self._end_round(plan, stream.answer)

    async def _whole_with_recall(self, answer: aiohttp.ClientResponse, plan: Plan, calls: HiddenCalls) -> None:
        body = await read_start(answer, _WHOLE)
        plain = opened(body, _encoding(answer), _WHOLE)
        said = _object(plain)
        if said is None:  # also of an answer that is larger than that
            await self.whole(answer, plan, body)
            return
        self._add(usage_of(plain or b"", hour=self._hour))
        held = calls.read(said, NAME)
        visible = calls.remove(said, NAME)
        if self._first is not None:
            visible = calls.join(self._first, visible)
        if held is not None:
            self._first = visible
            self._whole = partial(self._pass, answer, plan, msgspec.json.encode(visible), rewritten=True)
            self._end_round(plan, held)
            return
        is_same = visible == said
        await self._pass(answer, plan, body if is_same else msgspec.json.encode(visible), rewritten=not is_same)

    def _end_round(self, plan: Plan, held: HeldAnswer) -> None:
        self.rounds.append((plan, self._used))
        self._used = None
        self.held = held

    async def give_up_held(self) -> None:
        """The model cannot be asked again: its answer ends without what it recalled."""
        self.held = None
        if self._hidden is not None:
            await self._write(self._hidden.give_up())
            await self._end()
        elif self._whole is not None:
            await self._whole()

    async def give_up(self) -> None:
        """The model cannot be asked again: its last answer stands as it is."""
        self.nonsense = None
        if self._whole is not None:
            await self._whole()
        if self._stream is not None:
            await self._write(self._stream.give_up())
            await self._end()

    async def _plain(self, answer: aiohttp.ClientResponse, side: SideReader, *, streamed: bool, read: bool) -> None:
        """Every chunk is read before it is passed on: a client may leave as soon as it has the last event."""
        if not read:
            async for chunk in answer.content.iter_any():
                await self._write(chunk)
        elif streamed:
            reader = self._reader = UsageReader(hour=self._hour)
            turns = FairTurns()
            async for chunk in gather_bursts(answer):
                for plain in side.feed(chunk):
                    reader.feed(plain)
                    await turns.take(len(plain))
                await self._write(chunk)
            reader.close()
            self._add(reader.so_far)
        else:
            await self._unstreamed(answer, side)

    async def _unstreamed(self, answer: aiohttp.ClientResponse, side: SideReader) -> None:
        body = self._body = bytearray()
        async for chunk in answer.content.iter_any():
            for plain in side.feed(chunk):
                if len(body) > _WHOLE:
                    break
                body += plain
            await self._write(chunk)
        whole = bytes(body)
        if len(whole) <= _WHOLE:
            found = usage_of(whole, hour=self._hour)
        else:
            found = None
        self._add(found or self._usage_of_body())

    async def _read(self, answer: aiohttp.ClientResponse, plan: Plan, where: Target) -> None:
        body = await read_start(answer, _WHOLE)
        plain = opened(body, _encoding(answer), _WHOLE)
        if plain is None or len(body) > _WHOLE:  # compressed unasked, in a way that we cannot open, or too large
            await self.whole(answer, plan, body)
            return
        read = with_calls(format_named(where.format), plain, plan.tools)
        self.broken += read.broken
        self.nonsense = read.nonsense if self._retries else None
        self._add(usage_of(read.body, hour=self._hour))
        if self.nonsense is None:
            await self._pass(answer, plan, read.body, rewritten=True)
            return
        self._retries -= 1
        self._whole = partial(self._pass, answer, plan, read.body, rewritten=True)

    async def _with_calls(self, answer: aiohttp.ClientResponse, plan: Plan, where: Target, side: SideReader) -> None:
        if self._stream is None:
            await self._start(answer, plan, rewritten=True)
            calls = format_named(where.format).written_calls
            assert calls is not None
            stream = self._stream = calls.stream(plan.tools, RETRIES)
        else:
            stream = self._stream
            await self._write(stream.resume())
        seen = len(stream.broken)
        await self._rewrite(answer, side, stream)
        self.broken += stream.broken[seen:]
        self.nonsense = stream.nonsense
        if self.nonsense is None:
            await self._end()

    async def _rewrite(
        self, answer: aiohttp.ClientResponse, side: SideReader, stream: HeldStream | WrittenCallStream
    ) -> None:
        """Pass a stream on as another writes it; what it used is read from what the provider sent."""
        reader = self._reader = UsageReader(hour=self._hour)
        turns = FairTurns()
        async for chunk in answer.content.iter_any():
            for plain in side.feed(chunk):
                reader.feed(plain)
                await self._write(stream.feed(plain))
                await turns.take(len(plain))
        reader.close()
        self._add(reader.so_far)
        await self._write(stream.close())

    async def _pass(self, answer: aiohttp.ClientResponse, plan: Plan, body: bytes, *, rewritten: bool) -> None:
        await self._start(answer, plan, rewritten=rewritten)
        await self._write(body)
        await self._end()

    async def _start(self, answer: aiohttp.ClientResponse, plan: Plan, *, rewritten: bool) -> None:
        raw = downward(answer.raw_headers, plan.notes, rewritten=rewritten)
        await self._send({"type": "http.response.start", "status": answer.status, "headers": raw})
        self.status = answer.status

    @property
    def started(self) -> bool:
        return self.status > 0

    async def _write(self, chunk: bytes) -> None:
        if chunk:
            await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _end(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _object(body: bytes | None) -> dict[str, Any] | None:
    try:
        said = value(body) if body is not None else None
    except MalformedRequest:
        return None
    if isinstance(said, dict):
        return said
    return None


def _encoding(answer: aiohttp.ClientResponse) -> str:
    return answer.headers.get("content-encoding", "")
