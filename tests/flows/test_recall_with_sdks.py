"""The providers' own Python libraries see one answer where a model recalled something in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import stage
from tests.gateway.test_recall import READ, SECRET, answer_as

from laconic.exchange.recall import NAME, Recall
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.sessions.archive import Archive
from laconic.wire.messages import ModelAnswer, ModelCall
from laconic.wire.usage import Usage

Json = dict[str, Any]


def _format(asked: ReceivedRequest) -> str:
    if asked.path.endswith("/messages"):
        return "anthropic"
    return "responses" if asked.path.endswith("/responses") else "chat"


def _model(kept: list[str]) -> Callable[[ReceivedRequest], ScriptedAnswer]:
    """It recalls what is kept, if anything is, and then says what it found."""

    def answer(asked: ReceivedRequest) -> ScriptedAnswer:
        said = ModelAnswer("Hello.", usage=Usage(20, output=3))
        if SECRET.encode() in asked.body:
            said = ModelAnswer("It says 42.", usage=Usage(30, output=4))
        elif kept:
            call = ModelCall(NAME, {"ref": kept[0]}, "call1")
            said = ModelAnswer("Let me see. ", (call,), usage=Usage(20, output=3))
        return answer_as(_format(asked), said, stream=bool(json.loads(asked.body).get("stream")))

    return answer


def _anthropic(base: str, text: str, *, stream: bool) -> tuple[str, int]:
    client = import_module("anthropic").Anthropic(base_url=base, api_key="k")
    request: Json = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}]}
    request["tools"] = [{"name": "read_page", "input_schema": READ}]
    if stream:
        with client.messages.stream(**request) as events:
            message = events.get_final_message()
    else:
        message = client.messages.create(**request)
    assert message.stop_reason == "end_turn"
    assert {block.type for block in message.content} == {"text"}
    return "".join(block.text for block in message.content), message.usage.output_tokens


def _chat(base: str, text: str, *, stream: bool) -> tuple[str, int]:
    client = import_module("openai").OpenAI(base_url=base + "/v1", api_key="k")
    tool = {"type": "function", "function": {"name": "read_page", "parameters": READ}}
    request: Json = {"model": "gpt-5", "messages": [{"role": "user", "content": text}], "tools": [tool]}
    if not stream:
        answer = client.chat.completions.create(**request)
        assert answer.choices[0].finish_reason == "stop"
        assert not answer.choices[0].message.tool_calls
        return str(answer.choices[0].message.content), answer.usage.completion_tokens
    said, tokens = "", 0
    for chunk in client.chat.completions.create(**request, stream=True):
        said += "".join(choice.delta.content or "" for choice in chunk.choices)
        assert not any(choice.delta.tool_calls for choice in chunk.choices)
        tokens = chunk.usage.completion_tokens if chunk.usage else tokens
    return said, tokens


def _responses(base: str, text: str, *, stream: bool) -> tuple[str, int]:
    client = import_module("openai").OpenAI(base_url=base + "/v1", api_key="k")
    tool = {"type": "function", "name": "read_page", "parameters": READ}
    request: Json = {"model": "gpt-5", "input": [{"role": "user", "content": text}], "tools": [tool]}
    if not stream:
        answer = client.responses.create(**request)
    else:
        with client.responses.stream(**request) as events:
            answer = events.get_final_response()
    assert {item.type for item in answer.output} == {"message"}
    return answer.output_text, answer.usage.output_tokens


@pytest.mark.flow
@pytest.mark.feature("S5")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("ask", [_anthropic, _chat, _responses])
def test_a_recall_in_between_is_not_seen(tmp_path: Path, ask: Callable[..., tuple[str, int]], stream: bool) -> None:
    archive = Archive(tmp_path / "archive.sqlite", 10**8)

    kept: list[str] = []

    async def run() -> tuple[str, int]:
        async with stage(_model(kept), recall=Recall(archive)) as where:
            await asyncio.to_thread(ask, where.base, "hi", stream=stream)
            _, said = await where.get("/laconic/sessions")
            session = json.loads(said)["sessions"][0]["session"]
            kept.append(archive.put(session, "", SECRET.encode()))
            return await asyncio.to_thread(ask, where.base, "hi", stream=stream)

    text, tokens = asyncio.run(run())
    archive.close()
    assert " ".join(text.split()) == "Let me see. It says 42."
    assert tokens == 7
