"""A model without function calling that writes nonsense is told so, twice; then its answer stands as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.gateway.stage import Stage, play
from tests.gateway.test_prompted_models import ANTHROPIC, CHAT, RESPONSES
from tests.wire.test_prompted_protocol import response_events, response_of

from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, Script, ScriptedAnswer, streamed

RIGHT = '```tool\n{"name": "Read", "arguments": {"path": "a.py"}}\n```'
BROKEN = 'I look.\n```tool\n{"name": "Read", "arguments": {"path": oops}}\n```'
UNKNOWN = '```tool\n{"name": "Fly", "arguments": {}}\n```'
POLICY = GatewayPolicy(prompted_models=("gemma",))
PATHS = {"chat": "/v1/chat/completions", "anthropic": "/v1/messages", "responses": "/v1/responses"}
REQUESTS: dict[str, dict[str, Any]] = {"chat": CHAT, "anthropic": ANTHROPIC, "responses": RESPONSES}


def _whole(format: str, text: str) -> ScriptedAnswer:
    body: dict[str, Any] = {"id": "m", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    if format == "chat":
        message = {"role": "assistant", "content": text}
        body = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if format == "responses":
        item = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": text}]}
        body = {"id": "r", "status": "completed", "output": [item]}
    return ScriptedAnswer((json.dumps({**body, "usage": {"input_tokens": 10, "output_tokens": 1}}).encode(),))


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _messages(text: str) -> Iterator[bytes]:
    yield _event({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 10}}})
    yield _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for sign in text:
        yield _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": sign}})
    yield _event({"type": "content_block_stop", "index": 0})
    yield _event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}})
    yield _event({"type": "message_stop"})


def _chunks(text: str) -> Iterator[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": sign} for sign in text)]
    for delta in deltas:
        yield b"data: " + json.dumps({"id": "c", "choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"
    end = {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield b"data: " + json.dumps({**end, "usage": {"prompt_tokens": 10, "completion_tokens": 1}}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def _script(*texts: str | ScriptedAnswer) -> Script:
    """Answers in this order, in the format and the manner in which it is asked."""
    left = list(texts)

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        said = left.pop(0)
        if isinstance(said, ScriptedAnswer):
            return said
        format = next(format for format, path in PATHS.items() if path == asked.path)
        if not json.loads(asked.body).get("stream"):
            return _whole(format, said)
        if format == "responses":
            whole = response_events(said).replace(b'"usage": {"input_tokens": 5}', b'"usage": {"input_tokens": 10}')
            whole = whole.replace(b"rs_1", b"rs_%d" % len(left))  # thoughts of each answer have their own name
            return streamed([chunk + b"\n\n" for chunk in whole.split(b"\n\n")[:-1]])
        return streamed(list(_chunks(said) if format == "chat" else _messages(said)))

    return script


def _read(format: str, body: bytes, *, stream: bool) -> tuple[str, list[str]]:
    """The text and the names of the calls that a client understands; the stream must be well formed."""
    if not stream:
        answer = json.loads(body)
        if format == "chat":
            message = answer["choices"][0]["message"]
            return message["content"] or "", [call["function"]["name"] for call in message.get("tool_calls", [])]
        if format == "responses":
            return _items(answer)
        texts = [block["text"] for block in answer["content"] if block["type"] == "text"]
        return "".join(texts), [block["name"] for block in answer["content"] if block["type"] == "tool_use"]
    events = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: {")]
    if format == "responses":
        return _items(response_of(events))
    return _chat_events(events) if format == "chat" else _anthropic_events(events)


def _items(response: dict[str, Any]) -> tuple[str, list[str]]:
    texts = [part["text"] for item in response["output"] for part in item.get("content", ())]
    return "".join(texts), [item["name"] for item in response["output"] if item["type"] == "function_call"]


def _chat_events(events: list[dict[str, Any]]) -> tuple[str, list[str]]:
    choices = [event["choices"][0] for event in events]
    assert [choice["delta"].get("role") for choice in choices].count("assistant") == 1
    assert [bool(choice.get("finish_reason")) for choice in choices] == [False] * (len(choices) - 1) + [True]
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    return text, [call["function"]["name"] for one in choices for call in one["delta"].get("tool_calls", [])]


def _anthropic_events(events: list[dict[str, Any]]) -> tuple[str, list[str]]:
    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    assert kinds.count("message_start") == kinds.count("message_stop") == 1
    started = [event["index"] for event in events if event["type"] == "content_block_start"]
    assert started == list(range(len(started)))
    opened: int | None = None
    text, names = "", []
    for event in events:
        if event["type"] == "content_block_start":
            assert opened is None
            opened = event["index"]
            names += [event["content_block"]["name"]] if event["content_block"]["type"] == "tool_use" else []
        elif event["type"] == "content_block_delta":
            assert event["index"] == opened
            text += event["delta"].get("text", "")
        elif event["type"] == "content_block_stop":
            assert event["index"] == opened
            opened = None
    assert opened is None
    return text, names


def _ask(script: Script, format: str, *, stream: bool) -> tuple[str, list[str], list[ReceivedRequest], bytes]:
    found: list[tuple[str, list[str], list[ReceivedRequest], bytes]] = []

    async def scene(where: Stage) -> None:
        request = {**REQUESTS[format], "stream": stream}
        status, _, body = await where.post(PATHS[format], json.dumps(request).encode())
        assert status == 200
        _, numbers = await where.get("/metrics")
        found.append((*_read(format, body, stream=stream), where.upstream.asked, numbers))

    play(scene, script, policy=POLICY)
    return found[0]


everyway = pytest.mark.parametrize(("format", "stream"), [(f, s) for f in PATHS for s in (False, True)])


@pytest.mark.feature("P2", "P3")
@everyway
def test_a_model_that_wrote_nonsense_is_told_what_was_wrong(format: str, stream: bool) -> None:
    text, names, asked, numbers = _ask(_script(BROKEN, UNKNOWN, RIGHT), format, stream=stream)
    assert names == ["Read"]
    assert "oops" not in text
    assert "Fly" not in text
    assert len(asked) == 3
    field = "input" if format == "responses" else "messages"
    first, second, third = (json.loads(one.body)[field] for one in asked)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [message["role"] for message in second[-2:]] == ["assistant", "user"]
    assert json.dumps(BROKEN) in json.dumps(second[-2])
    assert "does not contain valid JSON" in str(second[-1])
    assert "there is no tool Fly. There are: Read." in str(third[-1])
    assert b'reason="not-json"' in numbers
    assert b'reason="unknown-tool"' in numbers
    total = b'laconic_prompt_tokens_total{kind="plain"} 30' in numbers
    assert total, "the provider's tokens of all three answers are counted"


@pytest.mark.feature("P3")
@everyway
def test_after_two_retries_the_answer_stands_as_it_is(format: str, stream: bool) -> None:
    text, names, asked, numbers = _ask(_script(UNKNOWN, BROKEN, BROKEN), format, stream=stream)
    assert (names, len(asked)) == ([], 3)
    assert text.endswith(BROKEN)
    assert b'reason="not-json",upstream=' in numbers


@everyway
@pytest.mark.parametrize("fault", ["status", "no-http"])
def test_when_asking_again_fails_the_first_answer_stands(format: str, stream: bool, fault: str) -> None:
    no_http = ScriptedAnswer((), 200, (("content-length", "oops"),))
    bad = ScriptedAnswer((b"{}",), 500) if fault == "status" else no_http
    text, names, asked, _ = _ask(_script(BROKEN, bad), format, stream=stream)
    assert (text, names, len(asked)) == (BROKEN, [], 2)


@everyway
def test_an_answer_that_was_cut_off_is_not_asked_for_again(format: str, stream: bool) -> None:
    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        made = _script('```tool\n{"name": "Read", "argum')(asked)
        end, cut = {
            "anthropic": (b'"end_turn"', b'"max_tokens"'),
            "chat": (b'"stop"', b'"length"'),
            "responses": (b"completed", b"incomplete"),
        }[format]
        return ScriptedAnswer(tuple(chunk.replace(end, cut) for chunk in made.chunks), 200, made.headers)

    _, names, asked, _ = _ask(script, format, stream=stream)
    assert (names, len(asked)) == ([], 1)


@everyway
def test_a_usable_call_beside_a_broken_one_is_enough(format: str, stream: bool) -> None:
    _, names, asked, _ = _ask(_script(f"{RIGHT}\n{UNKNOWN}"), format, stream=stream)
    assert (names, len(asked)) == (["Read"], 1)
