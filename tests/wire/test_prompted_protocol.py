"""Requests and answers of the prompted protocol, in both formats, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.wire.histories import BUILDERS, Call, Step

from laconic.wire.conversation import Conversation, parse
from laconic.wire.formats import FORMATS
from laconic.wire.prompted.answer import Read, downward
from laconic.wire.prompted.protocol import tools_of, upward
from laconic.wire.prompted.stream import stream_for
from laconic.wire.sse import Events, data_of

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
STEPS = [
    Step(user="look"),
    Step(
        text="I look.",
        calls=(Call("a", "Read", {"path": "x"}, "one"), Call("b", "Read", {"path": "y"}, "two", error=True)),
    ),
]
TEXT = 'I read it.\n```tool\n{"name": "Read", "arguments": {"path": "src/é.py"}}\n```\n'


def _request(name: str) -> Conversation:
    body = BUILDERS[name](STEPS)
    if name == "anthropic":
        body["tools"] = [{"name": "Read", "description": "Reads a file.", "input_schema": SCHEMA}]
    else:
        body["tools"] = [
            {"type": "function", "function": {"name": "Read", "description": "Reads a file.", "parameters": SCHEMA}}
        ]
    body["tool_choice"] = {"type": "auto"}
    return parse(FORMATS[name], json.dumps(body).encode())


@pytest.mark.feature("P2", "P7")
@pytest.mark.parametrize("name", ["anthropic", "chat"])
def test_tools_calls_and_results_become_text(name: str) -> None:
    """Nothing of native calling is left, the request is valid, and plain messages keep their bytes."""
    request = _request(name)
    sent = parse(FORMATS[name], upward(request))
    assert sent.faults() == []
    assert not {"tools", "tool_choice"} & sent.fields.keys()
    assert {block.kind for turn in sent.turns for block in turn.blocks} == {"text"}
    texts = "\n".join(block.text for turn in sent.turns for block in turn.blocks) + sent.field("system").decode()
    assert "Reads a file." in texts
    assert '{"name":"Read","arguments":{"path":"x"}}' in texts
    assert "[Read returned (a)]\none" in texts
    user = next(turn for turn in request.turns if turn.role == "user")
    assert user.raw in sent.body
    assert sent.body == upward(request)


@pytest.mark.parametrize("name", ["anthropic", "chat"])
def test_more_turns_leave_the_earlier_ones_as_they_were(name: str) -> None:
    """The rewritten request is prefix-stable, so the provider's cache works."""
    short = parse(FORMATS[name], upward(_request(name)))
    body = json.loads(_request(name).body)
    body["messages"] += [{"role": "assistant", "content": "done"}, {"role": "user", "content": "thanks"}]
    long = parse(FORMATS[name], upward(parse(FORMATS[name], json.dumps(body).encode())))
    assert [turn.raw for turn in long.turns][: len(short.turns)] == [turn.raw for turn in short.turns]


@pytest.mark.feature("P2")
def test_a_whole_chat_answer_becomes_calls() -> None:
    answer = {
        "id": "x",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
    }
    read = downward("chat", json.dumps(answer).encode(), tools_of(_request("chat")))
    body, broken = read.body, read.broken
    choice = json.loads(body)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "I read it.\n"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"path": "src/é.py"}
    assert broken == ()


@pytest.mark.feature("P2")
def test_a_whole_anthropic_answer_becomes_tool_use() -> None:
    answer = {"id": "x", "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}
    body = downward("anthropic", json.dumps(answer).encode(), tools_of(_request("anthropic"))).body
    read = json.loads(body)
    assert [block["type"] for block in read["content"]] == ["text", "tool_use"]
    assert read["content"][1]["input"] == {"path": "src/é.py"}
    assert read["stop_reason"] == "tool_use"


@pytest.mark.parametrize("body", [b"", b"oops", b"[]", b'{"error": {"message": "no"}}'])
def test_other_answers_stay_as_they_are(body: bytes) -> None:
    assert downward("chat", body, []) == Read(body)
    assert downward("anthropic", body, []) == Read(body)


def _chat_events(text: str, finish: str = "stop") -> bytes:
    head = {"id": "x", "object": "chat.completion.chunk", "model": "m"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": sign} for sign in text)]
    events: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    events.append({**head, "choices": [], "usage": {"prompt_tokens": 5}})
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def _anthropic_events(text: str) -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "x"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": sign}}
            for sign in text
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def _through(name: str, stream: bytes, size: int) -> list[Any]:
    down = stream_for(name, tools_of(_request(name)))
    out = b"".join(down.feed(stream[at : at + size]) for at in range(0, len(stream), size)) + down.close()
    events = Events()
    read = [data_of(event) for event in events.feed(out)]
    assert events.close() == b""
    return [json.loads(data) for data in read if data != b"[DONE]"]


@pytest.mark.feature("P2", "P6")
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_streamed_chat_answer_becomes_calls(size: int) -> None:
    events = _through("chat", _chat_events(TEXT), size)
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "I read it.\n"
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"path": "src/é.py"}]
    assert [event["choices"][0]["finish_reason"] for event in events if event["choices"]][-1] == "tool_calls"
    assert events[-1]["usage"] == {"prompt_tokens": 5}


@pytest.mark.feature("P2")
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_streamed_anthropic_answer_becomes_tool_use(size: int) -> None:
    events = _through("anthropic", _anthropic_events(TEXT), size)
    kinds = [event["type"] for event in events if event["type"] != "content_block_delta"]
    block = ["content_block_start", "content_block_stop"]
    assert kinds == ["message_start", *block, *block, "message_delta", "message_stop"]
    text = "".join(e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta")
    assert text == "I read it.\n"
    arguments = "".join(e["delta"].get("partial_json", "") for e in events if e["type"] == "content_block_delta")
    assert json.loads(arguments) == {"path": "src/é.py"}
    assert next(e for e in events if e["type"] == "message_delta")["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(("name", "build"), [("chat", _chat_events), ("anthropic", _anthropic_events)])
def test_a_streamed_answer_without_calls_keeps_its_text(name: str, build: Any) -> None:
    events = _through(name, build("plain {text}\n"), 5)
    if name == "chat":
        assert (
            "".join(e["choices"][0]["delta"].get("content") or "" for e in events if e["choices"]) == "plain {text}\n"
        )
        assert [e["choices"][0]["finish_reason"] for e in events if e["choices"]][-1] == "stop"
    else:
        assert (
            "".join(e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta")
            == "plain {text}\n"
        )


@pytest.mark.feature("P3")
def test_a_cut_stream_counts_the_call_and_passes_it_as_text() -> None:
    down = stream_for("chat", tools_of(_request("chat")))
    out = down.feed(_chat_events(TEXT[:40], "length"))
    assert [broken.reason for broken in down.broken] == ["truncated"]
    assert b"tool_calls" not in out
