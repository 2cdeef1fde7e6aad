"""The providers' own Python libraries through the gateway, streaming and not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.flows.model import DONE, PlannedModel
from tests.gateway.stage import stage

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.tokens.count import counter

Json = dict[str, Any]


def _gemini(asked: ReceivedRequest) -> ScriptedAnswer:
    text = {"candidates": [{"content": {"role": "model", "parts": [{"text": DONE}]}, "finishReason": "STOP"}]}
    body = json.dumps({**text, "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}).encode()
    if "streamGenerateContent" in asked.path:
        return streamed([b"data: " + body + b"\r\n\r\n"])
    return ScriptedAnswer((body,))


def _model(asked: ReceivedRequest) -> ScriptedAnswer:
    if "enerateContent" in asked.path:
        return _gemini(asked)
    body = json.loads(asked.body)
    if not body.get("stream") and asked.path == "/v1/chat/completions":
        message = {"role": "assistant", "content": DONE}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return ScriptedAnswer(
            (
                json.dumps(
                    {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
                ).encode(),
            )
        )
    if not body.get("stream") and asked.path == "/v1/responses":
        content = [{"type": "output_text", "text": DONE, "annotations": []}]
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
        return ScriptedAnswer(
            (
                json.dumps(
                    {"id": "r", "object": "response", "model": "m", "status": "completed", "output": [item]}
                ).encode(),
            )
        )
    return PlannedModel({"hi": []})(
        ReceivedRequest(
            asked.method, asked.path, asked.headers, json.dumps({**body, "tools": [{"name": "Bash"}]}).encode()
        )
    )


def _through(ask: Callable[[str], str]) -> str:
    """Ask in a thread, through a gateway with the real engine."""

    async def run() -> str:
        engine = EngineAdapter(
            single_engine(ConversationEngine(MemoryStore(), MemoryArchive(), lambda: 0.0, counter()))
        )
        async with stage(_model, engine) as where:
            return await asyncio.to_thread(ask, where.base)

    return asyncio.run(run())


def _anthropic(base: str, *, stream: bool) -> str:
    anthropic = import_module("anthropic")
    client = anthropic.Anthropic(base_url=base, api_key="k")
    request: Json = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
    if not stream:
        return str(client.messages.create(**request).content[0].text)
    with client.messages.stream(**request) as events:
        return "".join(events.text_stream)


def _chat(base: str, *, stream: bool) -> str:
    openai = import_module("openai")
    client = openai.OpenAI(base_url=base + "/v1", api_key="k")
    answer = client.chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": "hi"}], stream=stream
    )
    if not stream:
        return str(answer.choices[0].message.content)
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)


def _responses(base: str, *, stream: bool) -> str:
    openai = import_module("openai")
    client = openai.OpenAI(base_url=base + "/v1", api_key="k")
    answer = client.responses.create(model="gpt-5", input="hi", stream=stream)
    if not stream:
        return str(answer.output_text)
    return "".join(event.delta for event in answer if event.type == "response.output_text.delta")


def _google(base: str, *, stream: bool) -> str:
    genai = import_module("google.genai")
    client = genai.Client(api_key="k", http_options={"base_url": base})
    if not stream:
        return str(client.models.generate_content(model="gemini-3", contents="hi").text)
    return "".join(part.text or "" for part in client.models.generate_content_stream(model="gemini-3", contents="hi"))


def _cases() -> Iterator[tuple[str, Callable[..., str], bool]]:
    for name, ask in {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "google": _google}.items():
        for stream in (False, True):
            yield f"{name}-{'stream' if stream else 'whole'}", ask, stream


@pytest.mark.flow
@pytest.mark.feature("P6")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("ask", "stream"), [case[1:] for case in _cases()], ids=[case[0] for case in _cases()])
def test_an_sdk_gets_its_answer(ask: Callable[..., str], stream: bool, tmp_path: Path) -> None:
    assert _through(lambda base: ask(base, stream=stream)) == DONE
