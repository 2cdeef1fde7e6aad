"""Histories are cut to what a model takes: known by its name, told by the provider, or set by the user."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.exchange.caller import Caller
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.models.find_model import window_of
from laconic.models.prices_and_windows import FAMILIES
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse
from laconic.wire.refusals import PromptTooLong, too_long
from laconic.wire.usage import Usage

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("model", "wishes", "window"),
    [
        ("claude-sonnet-4-5-20250929", "", 200_000),
        ("anthropic/claude-sonnet-4.5:beta", "", 200_000),
        ("claude-sonnet-4-20250514", "context-1m-2025-08-07,x", 1_000_000),
        ("claude-sonnet-4-5[1m]", "", 1_000_000),
        ("openai/gpt-4o-mini", "", 128_000),
        ("gpt-4", "", 8_192),
        ("gpt-4.1-nano", "", 1_047_576),
        ("Gemini-2.5-Flash", "", 1_048_576),
        ("llama3.1:8b", "", 131_072),
        ("somebody/model:free", "", 0),
    ],
)
def test_the_window_is_known_by_name(model: str, wishes: str, window: int) -> None:
    assert window_of(model, wishes) == window


def test_no_row_of_the_table_is_hidden_by_another() -> None:
    for family in FAMILIES:
        for model in family.models:
            for name in model.names:
                assert window_of(name) == (model.window or family.window), name


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (400, "prompt is too long: 208310 tokens > 200000 maximum", PromptTooLong(200_000, 208_310)),
        (
            400,
            "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease input length or "
            "`max_tokens` and try again",
            PromptTooLong(136_000, 174_167),
        ),
        (
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130245 tokens.",
            PromptTooLong(128_000, 130_245),
        ),
        (400, "This model's maximum context length is 8192 tokens.", PromptTooLong(8192)),
        (
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            PromptTooLong(1_048_576, 1_200_000),
        ),
        (
            400,
            "the request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
            PromptTooLong(8192, 9000),
        ),
        (
            422,
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            PromptTooLong(32_768, 40_000),
        ),
        (429, "prompt is too long: 2 tokens > 1 maximum", None),
        (400, "max_tokens: 200000 > 64000", None),
    ],
)
def test_what_providers_say_of_prompts_that_are_too_long(status: int, text: str, said: PromptTooLong | None) -> None:
    assert too_long(status, json.dumps({"error": {"message": text}}).encode()) == said


def _messages(steps: int) -> list[Json]:
    """Files that were read, a thousand tokens each."""
    messages: list[Json] = [{"role": "user", "content": "Mend it."}]
    for step in range(steps):
        text = "\n".join(f"    value_{step}_{row} = table[{row * 37 % 101}]" for row in range(60))
        call = {"type": "tool_use", "id": f"t{step}", "name": "Read", "input": {"file_path": f"m{step}.py"}}
        messages.append({"role": "assistant", "content": [call]})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{step}", "content": text}]}
        )
    return messages


def _body(model: str, steps: int = 16) -> bytes:
    return json.dumps({"model": model, "max_tokens": 500, "messages": _messages(steps)}).encode()


def _engine(window: int = 0) -> EngineAdapter:
    return EngineAdapter(
        single_engine(ConversationEngine(MemoryStore(), MemoryArchive(), lambda: 0.0, counter())), window
    )


@pytest.mark.parametrize(
    ("model", "window", "cut"), [("gpt-4", 0, True), ("unknown", 0, False), ("unknown", 8192, True)]
)
def test_a_history_is_cut_to_the_window(model: str, window: int, cut: bool) -> None:
    async def scene(where: Stage) -> None:
        status, headers, _ = await where.post("/v1/messages", _body(model))
        assert (status, headers["x-laconic-action"] == "window") == (200, cut)
        assert (len(where.upstream.asked[0].body) < len(_body(model)) * 0.6) is cut
        assert not parse(format_named("anthropic"), where.upstream.asked[0].body).faults()

    play(scene, lambda _: ScriptedAnswer((b"{}",)), _engine(window))


def test_what_was_recalled_within_an_answer_says_nothing_about_how_a_provider_counts() -> None:
    """Its prompt holds more than the request that was planned: the window is not smaller for that."""
    engine, caller = _engine(window=14_000), Caller("s", "a", "unknown")
    conversation = parse(format_named("anthropic"), _body("unknown", 11))
    ours = engine.prepare(caller, conversation).tokens
    engine.answered(caller, Usage(ours), None)
    engine.answered(caller, Usage(round(1.7 * ours)), None)  # the same answer goes on, after a recall
    assert engine.prepare(caller, conversation).mode != "window"
    engine.answered(caller, Usage(round(1.7 * ours)), None)
    assert engine.prepare(caller, conversation).mode == "window"


def test_a_request_that_was_too_long_is_sent_again_shorter() -> None:
    """The client does not see the refusal, and the next request is short enough at once."""
    limit = len(_body("unknown")) * 2 // 3

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if len(asked.body) > limit:
            text = "prompt is too long: 20000 tokens > 13000 maximum"
            return ScriptedAnswer((json.dumps({"error": {"message": text}}).encode(),), 400)
        return ScriptedAnswer((b'{"ok":1}',))

    async def scene(where: Stage) -> None:
        for requests in (2, 3):
            status, _, body = await where.post("/v1/messages", _body("unknown"))
            assert (status, body) == (200, b'{"ok":1}')
            assert len(where.upstream.asked) == requests

    play(scene, script, _engine())


def test_a_request_that_cannot_be_shorter_keeps_its_refusal() -> None:
    text = b'{"error":{"message":"prompt is too long: 20 tokens > 10 maximum"}}'

    async def scene(where: Stage) -> None:
        status, _, body = await where.post("/v1/messages", _body("unknown", 1))
        assert (status, body) == (400, text)

    play(scene, lambda _: ScriptedAnswer((text,), 400), _engine())
