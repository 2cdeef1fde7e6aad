"""Requests and answers of the prompted protocol, in three formats, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.wire.histories import BUILDERS, Call, Step

from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted_tool_calls.answer import ConvertedAnswer, convert_answer
from laconic.wire.prompted_tool_calls.calls import PromptedTool
from laconic.wire.prompted_tool_calls.protocol import tools_of, upward
from laconic.wire.prompted_tool_calls.written_call_stream import WrittenCallStream
from laconic.wire.sse import ServerSentEvents, data_of

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
STEPS = [
    Step(user="look"),
    Step(
        text="I look.",
        calls=(Call("a", "Read", {"path": "x"}, "one"), Call("b", "Read", {"path": "y"}, "two", error=True)),
    ),
]
TEXT = 'I read it.\n```tool\n{"name": "Read", "arguments": {"path": "src/é.py"}}\n```\n'


def _stream(name: str, tools: list[PromptedTool]) -> WrittenCallStream:
    calls = FORMATS[name].written_calls
    assert calls is not None
    return calls.stream(tools, 0)


def _request(name: str) -> ParsedRequest:
    body = BUILDERS[name](STEPS)
    if name == "anthropic":
        body["tools"] = [{"name": "Read", "description": "Reads a file.", "input_schema": SCHEMA}]
    elif name == "responses":
        body["tools"] = [
            {"type": "function", "name": "Read", "description": "Reads a file.", "parameters": SCHEMA},
            {"type": "custom", "name": "patch", "description": "Takes a patch."},
            {"type": "web_search"},
        ]
    else:
        body["tools"] = [
            {"type": "function", "function": {"name": "Read", "description": "Reads a file.", "parameters": SCHEMA}}
        ]
    body["tool_choice"] = {"type": "auto"}
    return parse(FORMATS[name], json.dumps(body).encode())


@pytest.mark.feature("P2", "P7")
@pytest.mark.parametrize("name", ["anthropic", "chat", "responses"])
def test_tools_calls_and_results_become_text(name: str) -> None:
    """Nothing of native calling is left, the request is valid, and plain messages keep their bytes."""
    request = _request(name)
    sent = parse(FORMATS[name], upward(request))
    assert sent.faults() == []
    assert not {"tools", "tool_choice"} & sent.fields.keys()
    assert {block.kind for turn in sent.turns for block in turn.blocks} == {"text"}
    texts = "\n".join(block.text for turn in sent.turns for block in turn.blocks)
    texts += sent.field("system").decode() + sent.field("instructions").decode()
    assert "Reads a file." in texts
    assert '{"name":"Read","arguments":{"path":"x"}}' in texts
    assert "[Read returned (a)]\none" in texts
    user = next(turn for turn in request.turns if turn.role == "user")
    assert user.raw in sent.body
    assert sent.body == upward(request)


@pytest.mark.parametrize("name", ["anthropic", "chat", "responses"])
def test_more_turns_leave_the_earlier_ones_as_they_were(name: str) -> None:
    """The rewritten request is prefix-stable, so the provider's cache works."""
    short = parse(FORMATS[name], upward(_request(name)))
    body = json.loads(_request(name).body)
    more = [{"role": "assistant", "content": "done"}, {"role": "user", "content": "thanks"}]
    body["input" if name == "responses" else "messages"] += more
    long = parse(FORMATS[name], upward(parse(FORMATS[name], json.dumps(body).encode())))
    assert [turn.raw for turn in long.turns][: len(short.turns)] == [turn.raw for turn in short.turns]


@pytest.mark.feature("P2")
def test_a_whole_chat_answer_becomes_calls() -> None:
    answer = {
        "id": "x",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
    }
    read = convert_answer(FORMATS["chat"], json.dumps(answer).encode(), tools_of(_request("chat")))
    body, broken = read.body, read.broken
    choice = json.loads(body)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "I read it.\n"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"path": "src/é.py"}
    assert broken == ()


@pytest.mark.feature("P2")
def test_a_whole_anthropic_answer_becomes_tool_use() -> None:
    answer = {"id": "x", "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}
    body = convert_answer(FORMATS["anthropic"], json.dumps(answer).encode(), tools_of(_request("anthropic"))).body
    read = json.loads(body)
    assert [block["type"] for block in read["content"]] == ["text", "tool_use"]
    assert read["content"][1]["input"] == {"path": "src/é.py"}
    assert read["stop_reason"] == "tool_use"


@pytest.mark.parametrize("body", [b"", b"oops", b"[]", b'{"error": {"message": "no"}}'])
def test_other_answers_stay_as_they_are(body: bytes) -> None:
    assert convert_answer(FORMATS["chat"], body, []) == ConvertedAnswer(body)
    assert convert_answer(FORMATS["anthropic"], body, []) == ConvertedAnswer(body)
    assert convert_answer(FORMATS["responses"], body, []) == ConvertedAnswer(body)


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


def response_events(*texts: str, end: str = "completed") -> bytes:
    """Thoughts, then a message for each text."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": thought},
        {"type": "response.output_item.done", "output_index": 0, "item": {**thought, "encrypted_content": "x"}},
    ]
    items: list[dict[str, Any]] = [thought]
    for index, text in enumerate(texts, 1):
        item = {"type": "message", "id": f"msg_{index}", "role": "assistant", "content": []}
        part = {"type": "output_text", "text": "", "annotations": []}
        place = {"item_id": f"msg_{index}", "output_index": index, "content_index": 0}
        done = {**item, "content": [{**part, "text": text}]}
        items.append(done)
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": item},
            {"type": "response.content_part.added", **place, "part": part},
            *({"type": "response.output_text.delta", **place, "delta": sign} for sign in text),
            {"type": "response.output_text.done", **place, "text": text},
            {"type": "response.content_part.done", **place, "part": {**part, "text": text}},
            {"type": "response.output_item.done", "output_index": index, "item": done},
        ]
    whole = {"id": "resp_1", "status": end, "output": items, "usage": {"input_tokens": 5}}
    events.append({"type": f"response.{end}", "response": whole})
    numbered = ({**event, "sequence_number": number} for number, event in enumerate(events))
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in numbered)


def response_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What a client puts together from a stream, which must be well formed; it equals what the last event says."""
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    items: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    done: set[int] = set()
    for event in events[1:-1]:
        kind, index = event["type"], event["output_index"]
        if kind == "response.output_item.added":
            assert index == len(items)
            assert done == set(range(index))
            items.append(event["item"])
        elif kind.endswith(".delta"):
            assert event["item_id"] == items[index]["id"]
            texts[event["item_id"]] = texts.get(event["item_id"], "") + event["delta"]
        elif kind in {"response.output_text.done", "response.function_call_arguments.done"}:
            assert texts[event["item_id"]] == event.get("text", event.get("arguments"))
        elif kind == "response.output_item.done":
            assert index not in done
            done.add(index)
            items[index] = event["item"]
    response: dict[str, Any] = events[-1]["response"]
    assert done == set(range(len(items)))
    assert response["output"] == items
    assert len({item["id"] for item in items}) == len(items)
    return response


@pytest.mark.feature("P2")
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_streamed_response_becomes_calls(size: int) -> None:
    response = response_of(_through("responses", response_events(TEXT), size))
    thought, message, call = response["output"]
    assert thought["encrypted_content"] == "x"
    assert message["content"][0]["text"] == "I read it.\n"
    assert (call["type"], call["name"]) == ("function_call", "Read")
    assert json.loads(call["arguments"]) == {"path": "src/é.py"}
    assert response["usage"] == {"input_tokens": 5}


@pytest.mark.parametrize("texts", [("plain {text}\n",), ("one", "two"), ("", "two"), ("{\n",)])
def test_a_streamed_response_without_calls_keeps_its_texts(texts: tuple[str, ...]) -> None:
    response = response_of(_through("responses", response_events(*texts), 5))
    said = [part["text"] for item in response["output"] for part in item.get("content", ())]
    assert "".join(said) == "".join(texts)


def test_a_response_that_is_only_a_call_has_no_empty_message() -> None:
    events = _through("responses", response_events(TEXT.removeprefix("I read it.\n")), 3)
    assert [item["type"] for item in response_of(events)["output"]] == ["reasoning", "function_call"]


def test_a_tool_that_takes_any_text_gets_it_as_such() -> None:
    """Whole and streamed, and the history says it in words again."""
    text = '```tool\n{"name": "patch", "arguments": {"input": "*** Begin\\n+a"}}\n```'
    streamed = response_of(_through("responses", response_events(text), 9))["output"][1]
    whole = {"id": "resp_1", "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]}
    read = convert_answer(FORMATS["responses"], json.dumps(whole).encode(), tools_of(_request("responses")))
    assert json.loads(read.body)["output"] == [streamed]
    assert (streamed["type"], streamed["input"]) == ("custom_tool_call", "*** Begin\n+a")
    result = {"type": "custom_tool_call_output", "call_id": streamed["call_id"], "output": "ok"}
    body = {"model": "m", "input": [{"role": "user", "content": "go"}, streamed, result], "tools": []}
    sent = parse(FORMATS["responses"], upward(parse(FORMATS["responses"], json.dumps(body).encode())))
    texts = [block.text for turn in sent.turns for block in turn.blocks]
    assert texts[1] == text.replace('": "', '":"').replace('": {', '":{').replace(', "', ',"')
    assert texts[2].startswith("[patch returned")


def test_calls_of_one_answer_are_one_message_of_a_response() -> None:
    sent = parse(FORMATS["responses"], upward(_request("responses")))
    roles = [turn.role for turn in sent.turns if turn.role != "system"]
    assert roles == ["user", "assistant", "assistant", "user"]  # what it said, then its calls


def test_a_prompt_that_is_one_text_stays_one() -> None:
    body = {"model": "m", "input": "go", "tools": [{"type": "function", "name": "Read", "parameters": SCHEMA}]}
    sent = parse(FORMATS["responses"], upward(parse(FORMATS["responses"], json.dumps(body).encode())))
    assert [(turn.role, turn.blocks[0].text) for turn in sent.turns] == [("user", "go")]
    assert b"Read" in sent.field("instructions")


def test_a_refusal_passes_as_it_is() -> None:
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "refusal", "refusal": "No."}
    done = {**item, "content": [part]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": {**part, "refusal": ""}},
        {"type": "response.refusal.delta", **place, "delta": "No."},
        {"type": "response.refusal.done", **place, "refusal": "No."},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {"id": "r", "output": [done]}},
    ]
    stream = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)
    seen = _through("responses", stream, 11)
    assert [event["type"] for event in seen] == [event["type"] for event in events]
    assert response_of(seen)["output"] == [done]


@pytest.mark.feature("P3")
def test_a_response_that_was_cut_off_counts_the_call_and_passes_it_as_text() -> None:
    down = _stream("responses", tools_of(_request("responses")))
    out = down.feed(response_events(TEXT[:40], end="incomplete"))
    assert [broken.reason for broken in down.broken] == ["truncated"]
    assert b"function_call" not in out


def _through(name: str, stream: bytes, size: int) -> list[Any]:
    down = _stream(name, tools_of(_request(name)))
    out = b"".join(down.feed(stream[at : at + size]) for at in range(0, len(stream), size)) + down.close()
    events = ServerSentEvents()
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
    down = _stream("chat", tools_of(_request("chat")))
    out = down.feed(_chat_events(TEXT[:40], "length"))
    assert [broken.reason for broken in down.broken] == ["truncated"]
    assert b"tool_calls" not in out
