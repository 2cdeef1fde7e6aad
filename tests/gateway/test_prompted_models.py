"""Models without function calling work with clients that use it, streaming or not, in three formats."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.wire.prompted_tool_calls.capability import LEARNED_FOR, PromptedModels
from laconic.wire.refusals import refuses_tools

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CHAT = {
    "model": "gemma",
    "messages": [{"role": "user", "content": "look"}],
    "tools": [{"type": "function", "function": {"name": "Read", "parameters": SCHEMA}}],
}
ANTHROPIC = {**CHAT, "tools": [{"name": "Read", "input_schema": SCHEMA}]}
RESPONSES = {
    "model": "gemma",
    "input": [{"role": "user", "content": "look"}],
    "tools": [{"type": "function", "name": "Read", "parameters": SCHEMA}],
}
TEXT = 'Here.\n```tool\n{"name": "Read", "arguments": {"path": "a.py"}}\n```'
REFUSAL = b'{"error":{"message":"models/gemma does not support tools"}}'


def _model(asked: ReceivedRequest) -> ScriptedAnswer:
    """A model that knows no tools, and does as it is told in words."""
    if asked.method == "GET":
        return ScriptedAnswer((b'{"data": [{"id": "gemma"}]}',))
    body = json.loads(asked.body)
    if "tools" in body:
        return ScriptedAnswer((REFUSAL,), 400)
    if asked.path == "/v1/messages":
        return ScriptedAnswer(
            (
                json.dumps(
                    {"id": "m", "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}
                ).encode(),
            )
        )
    if asked.path == "/v1/responses":
        item = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": TEXT}]}
        return ScriptedAnswer((json.dumps({"id": "r", "status": "completed", "output": [item]}).encode(),))
    if body.get("stream"):
        chunks: list[dict[str, Any]] = [
            {"id": "c", "choices": [{"index": 0, "delta": {"content": sign}}]} for sign in TEXT
        ]
        chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return streamed(
            [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"]
        )
    message = {"role": "assistant", "content": TEXT}
    return ScriptedAnswer(
        (json.dumps({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode(),)
    )


@pytest.mark.feature("P2", "P6", "P7")
def test_a_refusal_of_tools_is_learned_and_not_seen_by_the_client() -> None:
    async def scene(where: Stage) -> None:
        for _ in range(2):
            status, headers, body = await where.post("/v1/chat/completions", json.dumps(CHAT).encode())
            assert (status, headers["x-laconic-tools"]) == (200, "prompted")
            (choice,) = json.loads(body)["choices"]
            assert choice["finish_reason"] == "tool_calls"
            assert choice["message"]["tool_calls"][0]["function"] == {"name": "Read", "arguments": '{"path":"a.py"}'}
        assert ["tools" in json.loads(asked.body) for asked in where.upstream.asked] == [True, False, False]

    play(scene, _model, policy=GatewayPolicy(probe=False))


@pytest.mark.feature("P2", "P6")
def test_a_declared_model_streams_calls() -> None:
    async def scene(where: Stage) -> None:
        _, _, body = await where.post("/v1/chat/completions", json.dumps({**CHAT, "stream": True}).encode())
        events = [json.loads(line[6:]) for line in body.decode().split("\n\n") if line.startswith("data: {")]
        deltas = [event["choices"][0]["delta"] for event in events]
        assert "".join(delta.get("content") or "" for delta in deltas) == "Here.\n"
        assert [call["function"]["name"] for delta in deltas for call in delta.get("tool_calls", [])] == ["Read"]
        assert len(where.upstream.asked) == 1

    play(scene, _model, policy=GatewayPolicy(prompted_models=("openai/gem*",)))


def _gzipped(asked: ReceivedRequest) -> ScriptedAnswer:
    """The same model behind a server that compresses without being asked."""
    plain = _model(asked)
    packed = gzip.compress(b"".join(plain.chunks))
    pieces = tuple(packed[start : start + 50] for start in range(0, len(packed), 50))
    return ScriptedAnswer(pieces, plain.status, (*plain.headers, ("content-encoding", "gzip")))


@pytest.mark.feature("P2")
@pytest.mark.parametrize("stream", [False, True])
def test_calls_are_read_from_an_answer_that_is_compressed_unasked(stream: bool) -> None:
    """The refusal of tools is understood, and the client gets plain bytes that say that they are plain."""

    async def scene(where: Stage) -> None:
        request = json.dumps({**CHAT, "stream": stream}).encode()
        status, headers, body = await where.post("/v1/chat/completions", request)
        assert (status, headers["x-laconic-tools"]) == (200, "prompted")
        assert "content-encoding" not in headers
        assert b'"tool_calls"' in body
        assert b'"Read"' in body

    play(scene, _gzipped, policy=GatewayPolicy(probe=False))


@pytest.mark.parametrize(
    ("encoding", "kind"),
    [("gzip", "application/json"), ("br", "application/json"), ("br", "text/event-stream")],
)
def test_what_cannot_be_opened_arrives_as_it_was_sent(encoding: str, kind: str) -> None:
    """With the encoding that the provider named, so that the client can judge it."""
    sent = b"\x8b neither of these"
    headers = (("content-type", kind), ("content-encoding", encoding))

    async def scene(where: Stage) -> None:
        _, headers, body = await where.post("/v1/chat/completions", json.dumps(CHAT).encode())
        assert (body, headers["content-encoding"]) == (sent, encoding)

    play(scene, lambda _: ScriptedAnswer((sent,), headers=headers), policy=GatewayPolicy(prompted_models=("gemma",)))


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_an_error_keeps_its_encoding(encoding: str) -> None:
    """A refusal of a request whose calls are written as text."""
    said = gzip.compress(b'{"error":{"message":"too many requests"}}')

    async def scene(where: Stage) -> None:
        status, headers, body = await where.post("/v1/chat/completions", json.dumps(CHAT).encode())
        assert (status, body, headers["content-encoding"]) == (429, said, encoding)

    answer = ScriptedAnswer((said,), 429, (("content-type", "application/json"), ("content-encoding", encoding)))
    play(scene, lambda _: answer, policy=GatewayPolicy(prompted_models=("gemma",)))


@pytest.mark.feature("P2")
def test_an_anthropic_client_gets_tool_use() -> None:
    async def scene(where: Stage) -> None:
        _, _, body = await where.post("/v1/messages", json.dumps(ANTHROPIC).encode())
        assert [block["type"] for block in json.loads(body)["content"]] == ["text", "tool_use"]

    play(scene, _model)


@pytest.mark.feature("P2", "P6")
def test_a_client_of_responses_gets_function_calls() -> None:
    async def scene(where: Stage) -> None:
        for _ in range(2):
            _, headers, body = await where.post("/v1/responses", json.dumps(RESPONSES).encode())
            message, call = json.loads(body)["output"]
            assert message["content"][0]["text"] == "Here.\n"
            assert (call["type"], json.loads(call["arguments"])) == ("function_call", {"path": "a.py"})
            assert headers["x-laconic-tools"] == "prompted"
        sent = json.loads(where.upstream.asked[-1].body)
        assert "tools" not in sent
        assert "Read" in sent["instructions"]

    play(scene, _model)


def test_a_model_that_is_declared_native_keeps_its_refusal() -> None:
    async def scene(where: Stage) -> None:
        status, _, body = await where.post("/v1/chat/completions", json.dumps(CHAT).encode())
        assert (status, body) == (400, REFUSAL)

    play(scene, _model, policy=GatewayPolicy(native_models=("gemma",)))


def test_switched_off_the_refusal_arrives() -> None:
    async def scene(where: Stage) -> None:
        status, _, body = await where.post("/v1/chat/completions", json.dumps(CHAT).encode())
        assert (status, body) == (400, REFUSAL)
        assert len(where.upstream.asked) == 1

    play(scene, _model, policy=GatewayPolicy(enabled=False))


def test_requests_without_tools_stay_as_they_are() -> None:
    plain = json.dumps({key: value for key, value in CHAT.items() if key != "tools"}).encode()

    async def scene(where: Stage) -> None:
        await where.post("/v1/chat/completions", plain)
        assert where.upstream.asked[0].body == plain

    play(scene, _model, policy=GatewayPolicy(prompted_models=("*",)))


@pytest.mark.feature("P3")
def test_malformed_calls_are_counted_by_provider_model_and_reason() -> None:
    message = {"role": "assistant", "content": '```tool\n{"name": "Read", "argum'}
    answer = ScriptedAnswer((json.dumps({"choices": [{"message": message, "finish_reason": "length"}]}).encode(),))

    async def scene(where: Stage) -> None:
        _, _, body = await where.post("/v1/chat/completions", json.dumps(CHAT).encode())
        assert json.loads(body)["choices"][0]["message"] == message
        _, numbers = await where.get("/metrics")
        assert b'laconic_malformed_calls_total{model="gemma",reason="truncated",upstream="openai"} 1' in numbers

    play(scene, lambda _: answer, policy=GatewayPolicy(prompted_models=("gemma",)))


def test_what_was_learned_is_forgotten_in_time() -> None:
    now = [0.0]
    protocols = PromptedModels((), (), lambda: now[0])
    assert protocols.note_refusal("local", "m")
    assert protocols.known_mode("local", "m") == "prompted"
    assert protocols.known_mode("other", "m") != "prompted"
    now[0] = LEARNED_FOR + 1
    assert protocols.known_mode("local", "m") != "prompted"


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (400, "models/gemma:2b does not support tools", True),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', True),
        (404, "No endpoints found that support tool use. Try disabling tools.", True),
        (500, "tools param requires --jinja flag", True),
        (400, "Function calling is not supported for this model", True),
        (400, "tools.0.input_schema: Field required", False),
        (429, "this model does not support tools", False),
        (400, "prompt is too long", False),
    ],
)
def test_refusals_of_tools_are_recognised(status: int, text: str, expected: bool) -> None:
    assert refuses_tools(status, json.dumps({"error": {"message": text}}).encode()) is expected
