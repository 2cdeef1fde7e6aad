"""Usage is in the books however an answer ends: clients hang up after the last event, answers break off in the middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.gateway.stage import Stage, play

from laconic.exchange.caller import Caller, Target
from laconic.exchange.plan import Plan
from laconic.exchange.turn_account import TurnAccount
from laconic.gateway.response_relay import Message, ResponseRelay
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.sessions.spending import SessionRow, Spending
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns

Json = dict[str, Any]
TEXT = "The parser reads one token too many at the end of a line. " * 20
WORDS = 260  # tokens that the text has, or a few more


def _event(event: Json) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _response(status: str, usage: Json | None) -> Json:
    return {"type": f"response.{status}", "response": {"status": status, "usage": usage}}


_DETAILS = {"input_tokens_details": {"cached_tokens": 900}}
_RESPONSES = {"input_tokens": 1000, "output_tokens": 50, **_DETAILS}
_SAID = {"type": "response.output_text.delta", "delta": TEXT}
STREAMS: dict[str, tuple[str, list[bytes]]] = {
    "anthropic": (
        "/v1/messages",
        [
            _event(
                {
                    "type": "message_start",
                    "message": {
                        "usage": {
                            "input_tokens": 40,
                            "cache_read_input_tokens": 900,
                            "cache_creation_input_tokens": 60,
                            "output_tokens": 1,
                        }
                    },
                }
            ),
            _event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": TEXT}}),
            _event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}}),
            _event({"type": "message_stop"}),
        ],
    ),
    "chat": (
        "/v1/chat/completions",
        [
            _event({"choices": [{"delta": {"content": TEXT}}], "usage": None}),
            _event(
                {
                    "choices": [],
                    "usage": {
                        "prompt_tokens": 1000,
                        "completion_tokens": 50,
                        "prompt_tokens_details": {"cached_tokens": 900},
                    },
                }
            ),
            b"data: [DONE]\n\n",
        ],
    ),
    **{
        f"responses {status}": ("/v1/responses", [_event(_SAID), _event(_response(status, _RESPONSES))])
        for status in ("completed", "incomplete", "failed")
    },
    "gemini": (
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        [
            _event(
                {
                    "candidates": [{"content": {"parts": [{"text": TEXT}]}}],
                    "usageMetadata": {"promptTokenCount": 1000, "cachedContentTokenCount": 900},
                }
            ),
            _event(
                {
                    "candidates": [{"finishReason": "STOP"}],
                    "usageMetadata": {
                        "promptTokenCount": 1000,
                        "cachedContentTokenCount": 900,
                        "candidatesTokenCount": 30,
                        "thoughtsTokenCount": 20,
                    },
                }
            ),
        ],
    ),
}


def _request(path: str, number: int) -> bytes:
    words = f"Task {number}"
    if "gemini" in path:
        return json.dumps({"contents": [{"role": "user", "parts": [{"text": words}]}]}).encode()
    key = "input" if "responses" in path else "messages"
    return json.dumps({"model": "m", "stream": True, key: [{"role": "user", "content": words}]}).encode()


async def _hang_up_after(where: Stage, path: str, body: bytes, last: bytes) -> None:
    """Read until that is there, and close the connection at once."""
    with suppress(aiohttp.ClientPayloadError):
        async with where.client.post(where.base + path, data=body) as answer:
            seen = b""
            async for chunk in answer.content.iter_any():
                seen += chunk
                if last in seen:
                    answer.close()
                    return


def _recorded(folder: Path) -> list[SessionRow]:
    reading = Spending(folder / FILE)
    try:
        return reading.sessions()
    finally:
        reading.close()


def _sums(folder: Path) -> tuple[int, int, int, int]:
    rows = _recorded(folder)
    prompt, output = sum(row.prompt for row in rows), sum(row.output for row in rows)
    return sum(row.turns for row in rows), prompt, output, sum(row.estimated for row in rows)


@pytest.mark.parametrize("pause", [0.0, 0.002, 0.01, 0.2])
@pytest.mark.parametrize("name", STREAMS)
def test_a_client_that_hangs_up_after_the_last_event_leaves_its_usage(
    tmp_path: Path, name: str, pause: float
) -> None:
    """Ten clients at once, with any time between the last event and the end of the answer: all of it is in the books."""
    path, events = STREAMS[name]

    async def scene(where: Stage) -> None:
        await asyncio.gather(
            *(_hang_up_after(where, path, _request(path, number), events[-1]) for number in range(10))
        )

    play(scene, lambda _: streamed(events, pause=pause), history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE))))
    assert _sums(tmp_path) == (10, 10 * 1000, 10 * 50, 0)
    assert sum(row.cache_read for row in _recorded(tmp_path)) == 10 * 900


@pytest.mark.parametrize("name", STREAMS)
def test_an_event_is_read_before_it_is_passed_on(name: str) -> None:
    """The client is gone at the very moment in which it gets the event with the usage: it was read already."""
    path, events = STREAMS[name]
    counted = next(event for event in reversed(events) if b'"usage' in event)

    async def send(message: Message) -> None:
        if counted in message.get("body", b""):
            raise asyncio.CancelledError

    async def passed() -> ResponseRelay:
        passing = ResponseRelay(send)
        plan = Plan(b"{}", Caller("s", "a", "m"))
        async with (
            ScriptedUpstream(lambda _: streamed(events, pause=0.02)) as upstream,
            aiohttp.ClientSession() as client,
            client.post(upstream.url + path, data=b"{}") as answer,
        ):
            with suppress(asyncio.CancelledError):
                await passing.answer(answer, plan, Target("x", upstream.url, path))
        return passing

    usage = asyncio.run(passed()).usage
    assert usage is not None
    assert (usage.prompt, usage.output, usage.estimated) == (1000, 50, False)


def test_many_clients_hang_up_and_no_token_is_lost(tmp_path: Path) -> None:
    path, events = STREAMS["responses completed"]

    async def scene(where: Stage) -> None:
        for start in range(0, 200, 20):
            numbers = range(start, start + 20)
            await asyncio.gather(
                *(_hang_up_after(where, path, _request(path, number), events[-1]) for number in numbers)
            )

    play(scene, lambda _: streamed(events, pause=0.005), history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE))))
    assert _sums(tmp_path) == (200, 200 * 1000, 200 * 50, 0)


FAULTS: Sequence[Any] = ["reset", "truncated"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", STREAMS)
def test_an_answer_that_breaks_off_is_paid_for_as_far_as_it_came(tmp_path: Path, name: str, fault: Any) -> None:
    """The prompt is what the provider said, or our estimate; the output is estimated from the text that passed."""
    path, events = STREAMS[name]
    cut = events[: 2 if name == "anthropic" else 1]

    async def scene(where: Stage) -> None:
        with suppress(aiohttp.ClientPayloadError):
            await where.post(path, _request(path, 1))

    play(
        scene,
        lambda _: streamed(cut, pause=0.02, fault=fault),
        history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE))),
    )
    turns, prompt, output, estimated = _sums(tmp_path)
    assert (turns, estimated) == (1, 1)
    assert 0.8 * WORDS <= output <= 1.2 * WORDS
    assert prompt == 1000 if name in {"anthropic", "gemini"} else 0 < prompt < 100


def test_a_client_that_leaves_in_the_middle_pays_for_what_it_saw(tmp_path: Path) -> None:
    path, events = STREAMS["anthropic"]

    async def scene(where: Stage) -> None:
        await _hang_up_after(where, path, _request(path, 1), events[1])
        for _ in range(200):
            if where.upstream.left:
                break
            await asyncio.sleep(0.02)

    play(
        scene,
        lambda _: streamed(events[:2], fault="stall"),
        history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE))),
    )
    turns, prompt, output, estimated = _sums(tmp_path)
    assert (turns, prompt, estimated) == (1, 1000, 1)
    assert 0.8 * WORDS <= output <= 1.2 * WORDS


def test_an_answer_without_usage_is_estimated(tmp_path: Path) -> None:
    """Chat streams carry no usage unless the client asks for it."""
    path, events = STREAMS["chat"]

    async def scene(where: Stage) -> None:
        await where.post(path, _request(path, 1))

    play(
        scene, lambda _: streamed([events[0], events[-1]]), history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE)))
    )
    turns, prompt, output, estimated = _sums(tmp_path)
    assert (turns, estimated) == (1, 1)
    assert prompt > 0
    assert 0.8 * WORDS <= output <= 1.2 * WORDS


def test_a_body_that_breaks_off_keeps_its_last_report(tmp_path: Path) -> None:
    """Gemini writes an array, part by part, unless it is asked for events."""
    parts = [event.removeprefix(b"data: ").strip() for event in STREAMS["gemini"][1]]
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"

    async def scene(where: Stage) -> None:
        with suppress(aiohttp.ClientPayloadError):
            await where.post(path, _request(path, 1))

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        return ScriptedAnswer((b"[" + parts[0] + b",", parts[1] + b',{"candi'), fault="truncated", pause=0.02)

    play(scene, script, history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE))))
    assert _sums(tmp_path) == (1, 1000, 50, 0)


def test_what_is_refused_costs_nothing(tmp_path: Path) -> None:
    path, _ = STREAMS["anthropic"]

    async def scene(where: Stage) -> None:
        await where.post(path, _request(path, 1))

    play(
        scene,
        lambda _: ScriptedAnswer((b'{"type":"error"}',), 529),
        history=TurnRecorder(TurnAccount(Turns(tmp_path / FILE))),
    )
    assert _sums(tmp_path) == (1, 0, 0, 0)
