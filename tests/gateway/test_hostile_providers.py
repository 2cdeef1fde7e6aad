"""Answers without end, answers that grow when they are opened, and calls that are never finished."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from pathlib import Path

import aiohttp
import pytest
from tests.gateway.stage import stage

from laconic.exchange.recall import NAME, Recall
from laconic.gateway.compression import SideReader, opened
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.gateway.upstream_session import FairTurns, open_session, read_start
from laconic.sessions.archive import Archive
from laconic.wire.formats import format_named
from laconic.wire.hidden_calls import HeldStream
from laconic.wire.sse import ServerSentEvents

_JSON = (("content-type", "application/json"),)
_PIECE = b"x" * 65_536
_ASKED = json.dumps({"model": "claude-a", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}).encode()


def test_the_start_of_an_endless_answer_is_read_and_no_more() -> None:
    async def run() -> int:
        answer = ScriptedAnswer((_PIECE,) * 800, status=400, headers=_JSON)
        async with (
            ScriptedUpstream(lambda asked: answer) as upstream,
            open_session() as session,
            session.post(upstream.url, data=b"{}") as said,
        ):
            return len(await read_start(said, 1_000_000))

    assert 1_000_000 < asyncio.run(run()) < 2_000_000


@pytest.mark.parametrize("status", [400, 413, 429, 500])
def test_a_long_refusal_passes_as_it_came(status: int) -> None:
    body = [random.Random(number).randbytes(300_000) for number in range(20)]

    async def run() -> tuple[int, bytes]:
        async with stage(lambda asked: ScriptedAnswer(tuple(body), status=status, headers=_JSON)) as there:
            found = await there.post("/v1/messages", _ASKED)
            return found[0], found[2]

    assert asyncio.run(run()) == (status, b"".join(body))


@pytest.mark.parametrize("size", [0, 1, 100, 65_535, 65_536, 65_537, 200_000, 1_000_000])
@pytest.mark.parametrize("cut", [1, 100, 10_000])
def test_what_was_compressed_is_read_whole_in_small_pieces(size: int, cut: int) -> None:
    for text in (b"\0" * size, random.Random(size).randbytes(size)):
        packed = gzip.compress(text)[: 50_000 * cut]
        side, found = SideReader("gzip"), list[bytes]()
        for start in range(0, len(packed), cut):
            found += side.feed(packed[start : start + cut])
        assert b"".join(found) == text
        assert max(map(len, found), default=0) <= 65_536
        if cut == 1 and size > 1_000:
            break  # long enough


def test_an_answer_that_cannot_be_opened_is_not_read_on() -> None:
    side = SideReader("gzip")
    assert list(side.feed(b"no gzip")) == []
    assert side.is_blind
    assert SideReader("br").is_blind


def test_a_body_of_two_compressed_parts_is_not_taken_for_its_first() -> None:
    assert opened(gzip.compress(b"{}"), "gzip", 100) == b"{}"
    assert opened(gzip.compress(b"{}") + gzip.compress(b"[]"), "gzip", 100) is None


def test_a_fast_stream_lets_others_go_on() -> None:
    async def run() -> int:
        others = 0

        async def other() -> None:
            nonlocal others
            while True:
                others += 1
                await asyncio.sleep(0)

        running, turns = asyncio.ensure_future(other()), FairTurns()
        for _ in range(100):
            await turns.take(65_536)
        running.cancel()
        return others

    assert asyncio.run(run()) >= 100


def test_streams_that_are_opened_while_they_pass_do_not_hold_up_others() -> None:
    """A thousandth of what the client gets is sent: opened at once, it would fill the memory and the loop."""
    bomb = gzip.compress(b"data: {}\n\n" * 3_000_000, 9)
    headers = (("content-type", "text/event-stream"), ("content-encoding", "gzip"))

    async def run() -> float:
        async with stage(lambda asked: ScriptedAnswer((bomb,), headers=headers)) as there:
            longest, asking = 0.0, asyncio.ensure_future(_get_raw(there.base))
            loop = asyncio.get_running_loop()
            while not asking.done():
                before = loop.time()
                await asyncio.sleep(0.001)
                longest = max(longest, loop.time() - before)
            assert (await asking) == bomb
            return longest

    assert asyncio.run(run()) < 1.0


async def _get_raw(base: str) -> bytes:
    async with (
        aiohttp.ClientSession(auto_decompress=False) as plain,
        plain.post(base + "/v1/messages", data=_ASKED) as answer,
    ):
        return await answer.read()


def _hidden() -> HeldStream:
    calls = format_named("anthropic").hidden_calls
    assert calls is not None
    return calls.stream(NAME)


def _event(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def test_a_hidden_call_without_end_is_given_up() -> None:
    """Nothing of it reaches the client, and the answer goes on."""
    stream = _hidden()
    block = {"type": "tool_use", "id": "t", "name": NAME, "input": {}}
    out = stream.feed(_event("content_block_start", index=0, content_block=block))
    part = _event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "x" * 100_000})
    for _ in range(200):
        out += stream.feed(part)
    assert sum(len(raw) for raw, _ in stream._held) < 9_000_000
    out += stream.feed(_event("content_block_stop", index=0))
    text = {"type": "text_delta", "text": "and on"}
    out += stream.feed(_event("content_block_start", index=1, content_block={"type": "text", "text": ""}))
    out += stream.feed(_event("content_block_delta", index=1, delta=text))
    out += stream.close()
    assert stream.answer is None
    assert b"and on" in out
    assert NAME.encode() not in out and b"xxxx" not in out


def test_an_event_without_end_is_not_waited_for() -> None:
    events, passed = ServerSentEvents(), b""
    for _ in range(600):
        passed += b"".join(events.feed(_PIECE))
    assert len(passed) > 16_000_000
    assert passed + events.close() == _PIECE * 600


@pytest.mark.parametrize("events", [b"\n\n" * 200_000, b": keep-alive\n\n" * 50_000])
def test_many_empty_events_take_little_time(events: bytes, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite", 10**8)

    async def run() -> bytes:
        def say(asked: ReceivedRequest) -> ScriptedAnswer:
            return streamed([events])

        tools = [{"name": "look_up", "input_schema": {"type": "object"}}]
        body = json.dumps({**json.loads(_ASKED), "tools": tools}).encode()
        async with stage(say, recall=Recall(archive)) as there, asyncio.timeout(10):
            return (await there.post("/v1/messages", body))[2]

    assert asyncio.run(run()) == events
    archive.close()
