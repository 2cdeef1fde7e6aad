"""An error that quotes the request teaches the gateway nothing: the words are the client's, and may be anybody's."""

from __future__ import annotations

import json

import pytest
from tests.gateway.stage import Stage, play

from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.wire.quoted_words import is_quoted
from laconic.wire.rate_limits import limits_of
from laconic.wire.refusals import read_tools_refusal, too_long

_TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
_PHRASES = (
    "this model does not support tools",
    "No endpoints found that support tool use",
    "--enable-auto-tool-choice",
    "tools param requires --jinja flag",
)
_WINDOWS = (
    "prompt is too long: 2000 tokens > 1500 maximum",
    "This model's maximum context length is 1500 tokens. However, your messages resulted in 2000 tokens.",
    "Input token count (2000) exceeds the maximum number of tokens allowed (1500)",
)
_FRAMES = ("{}", "Invalid value: '{}'. Supported values are: 'auto'.", "Unknown parameter: {}.")


def _chat(text: str, **more: object) -> bytes:
    messages = [{"role": "user", "content": text}]
    return json.dumps({"model": "my-own", "messages": messages, "tools": _TOOLS, **more}).encode()


def _error(text: str, status: int = 400) -> ScriptedAnswer:
    return ScriptedAnswer((json.dumps({"error": {"message": text}}).encode(),), status)


def _has_tools(asked: ReceivedRequest) -> bool:
    return b'"tools"' in asked.body


@pytest.mark.parametrize("phrase", _PHRASES)
@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_quoted_refusal_of_tools_is_tried_and_not_believed(phrase: str, status: int) -> None:
    """What is wrong is something else, so the other form is refused too, and the next request has its tools."""

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if b"temperature" in asked.body:
            return _error(f"Bad temperature in: {phrase}", status)
        return ScriptedAnswer((b'{"choices":[]}',))

    async def scene(where: Stage) -> None:
        said, _, body = await where.post("/v1/chat/completions", _chat(phrase, temperature="x"))
        assert said == status
        assert phrase.encode() in body
        await where.post("/v1/chat/completions", _chat("next"))
        assert _has_tools(where.upstream.asked[-1])

    play(scene, script, policy=GatewayPolicy(probe=False))


def test_a_quoted_refusal_that_was_true_is_learned_when_the_other_form_is_accepted() -> None:
    """Who works on this very text has it in every conversation."""

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        return _error("gemma does not support tools") if _has_tools(asked) else ScriptedAnswer((b'{"choices":[]}',))

    async def scene(where: Stage) -> None:
        status, _, _ = await where.post("/v1/chat/completions", _chat("Why: gemma does not support tools?"))
        assert (status, len(where.upstream.asked)) == (200, 2)
        await where.post("/v1/chat/completions", _chat("next"))
        assert (len(where.upstream.asked), _has_tools(where.upstream.asked[-1])) == (3, False)

    play(scene, script, policy=GatewayPolicy(probe=False))


def test_an_error_that_repeats_the_whole_request_beside_its_message_refuses_no_tools() -> None:
    said = {"detail": [{"msg": "Input should be a number", "input": {"content": "it does not support tools"}}]}
    assert read_tools_refusal(422, json.dumps(said).encode(), b"") == ""


@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("words", _WINDOWS)
def test_a_quoted_length_is_no_window(words: str, frame: str) -> None:
    body = json.dumps({"error": {"message": frame.format(words)}}).encode()
    assert too_long(400, body) is not None
    for request in (_chat(words), _chat("x", tool_choice=words), _chat("x", **{words: 1})):
        assert too_long(400, body, request) is None
    escaped = _chat(words).replace(b"tokens", b"\\u0074okens")
    assert too_long(400, body, escaped) is None
    assert too_long(400, body, _chat("prompt is too long: 1999 tokens > 1500 maximum")) is not None


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b'"say: Hello,\\nworld"', True),
        (b'["hel\\u006co world"]', True),
        (b'{"hello":"world"}', True),
        (b"hello world", True),
        (b'"hello there"', False),
        (b"", False),
        (b"\\" + b"[" * 100_000, False),
    ],
)
def test_quoted_words_are_found_however_they_are_written(request_: bytes, expected: bool) -> None:
    assert is_quoted("Hello world", request_) is expected


@pytest.mark.parametrize("limit", ["0", "1", "1000"])
def test_a_limit_that_no_request_could_keep_is_not_believed(limit: str) -> None:
    headers = {"x-ratelimit-limit-tokens": limit, "x-ratelimit-remaining-tokens": "0"}
    assert limits_of(headers, 0.0) is None
    headers["x-ratelimit-limit-tokens"] = "30000"
    found = limits_of(headers, 0.0)
    assert found is not None
    assert (found.tokens, found.tokens_left) == (30_000, 0)
