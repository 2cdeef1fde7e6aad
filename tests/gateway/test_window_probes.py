"""An Ollama server is asked how much of a prompt it takes: it cuts longer ones without a word."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.gateway.scripted_upstream import ReceivedRequest, Script, ScriptedAnswer
from laconic.tokens.count import counter
from laconic.wire.ollama import read_loaded_window, read_set_window

MODEL = "llama3.1:8b"
LOADED = {
    "models": [{"name": "other:1b", "context_length": 1}, {"name": MODEL, "model": MODEL, "context_length": 8192}]
}
SETTINGS = {"parameters": 'stop                           "<|eot_id|>"\nnum_ctx                        8192'}


def _ollama(loaded: object, described: object) -> Script:
    """As much of Ollama's API as a gateway meets."""

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if asked.path == "/api/ps":
            return ScriptedAnswer((json.dumps(loaded).encode(),))
        if asked.path == "/api/show":
            assert json.loads(asked.body) == {"model": MODEL}
            return ScriptedAnswer((json.dumps(described).encode(),))
        return ScriptedAnswer((b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}}]}',))

    return script


def _history(turns: int) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look around."}]
    for turn in range(turns):
        call = {"name": "bash", "arguments": json.dumps({"command": f"cat file_{turn}.txt"})}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{turn}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{turn}",
                "content": "\n".join(f"{turn} word {row}" for row in range(80)),
            },
        ]
    return json.dumps({"model": MODEL, "messages": messages}).encode()


def _engine() -> EngineAdapter:
    made = ConversationEngine(MemoryStore(), MemoryArchive(), time.time, counter("o200k_base"))
    return EngineAdapter(single_engine(made))


@pytest.mark.feature("P6")
@pytest.mark.parametrize(
    ("loaded", "described", "questions"),
    [(LOADED, {}, 1), ({"models": []}, SETTINGS, 2), ({"models": [{"name": MODEL}]}, SETTINGS, 2)],
    ids=["as-loaded", "as-set", "older-server"],
)
def test_a_prompt_is_made_to_fit_what_the_server_takes(loaded: object, described: object, questions: int) -> None:
    async def scene(where: Stage) -> None:
        body = _history(24)
        await where.post("/ollama/v1/chat/completions", body)
        first = where.upstream.asked[0]
        while sum(one.path.startswith("/api/") for one in where.upstream.asked) < questions:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # until it was told
        await where.post("/ollama/v1/chat/completions", _history(25))
        second = [one for one in where.upstream.asked if one.path.endswith("completions")][-1]
        count = counter("o200k_base")
        assert count(first.body.decode()) > 8192
        assert count(second.body.decode()) < 8192
        assert sum(one.path.startswith("/api/") for one in where.upstream.asked) == questions

    play(scene, _ollama(loaded, described), _engine())


@pytest.mark.feature("P6")
def test_other_servers_are_not_asked() -> None:
    async def scene(where: Stage) -> None:
        await where.post("/local/v1/chat/completions", _history(2))
        await asyncio.sleep(0.1)
        assert all(not one.path.startswith("/api/") for one in where.upstream.asked)

    play(scene, _ollama(LOADED, {}), _engine())


@pytest.mark.feature("P6")
@pytest.mark.parametrize("said", [b"", b"[]", b"no", b'{"models": 3, "parameters": ["num_ctx 9"]}'])
def test_nonsense_says_nothing(said: bytes) -> None:
    assert read_loaded_window(said, MODEL) == 0
    assert read_set_window(said) == 0
