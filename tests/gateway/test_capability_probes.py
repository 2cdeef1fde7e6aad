"""A model of which nothing is known is asked once, beside the first request, whether it calls functions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play
from tests.gateway.test_prompted_models import ANTHROPIC, CHAT, REFUSAL, RESPONSES, TEXT

from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, Script, ScriptedAnswer
from laconic.sessions.model_memory import Capabilities
from laconic.wire.prompted_tool_calls.capability import LEARNED_FOR, ProcessMemory, PromptedModels

CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "say"}}]}


def _said(message: dict[str, Any], finish: str = "stop") -> ScriptedAnswer:
    return ScriptedAnswer(
        (json.dumps({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode(),)
    )


def _is_probe(asked: ReceivedRequest) -> bool:
    return b"`say`" in asked.body


def _server(listed: object, probed: ScriptedAnswer, described: object = None) -> Script:
    """A provider with a list of models, an answer to our question, and plain words for everything else."""

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if asked.path.endswith("/models"):
            return ScriptedAnswer((json.dumps({"data": [listed]}).encode(),))
        if asked.path == "/api/show":
            return ScriptedAnswer((json.dumps(described).encode(),))
        return probed if _is_probe(asked) else _said({"role": "assistant", "content": TEXT})

    return script


async def _ask(where: Stage, times: int = 1) -> list[str]:
    """Asks; how the tools went up each time."""
    for _ in range(times):
        status, _, _ = await where.post("/v1/chat/completions", json.dumps(CHAT).encode(), authorization="Bearer k")
        assert status == 200
    asked = [one for one in where.upstream.asked if one.path.endswith("completions") and not _is_probe(one)]
    return ["native" if "tools" in json.loads(one.body) else "prompted" for one in asked[-times:]]


async def _probed(where: Stage, times: int = 1) -> None:
    """Wait until the answers to so many questions are known."""
    counted = 0.0
    while counted < times:
        await asyncio.sleep(0.01)
        lines = (await where.get("/metrics"))[1].decode().splitlines()
        counted = sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("laconic_probes_total{"))


SILENT = ScriptedAnswer((b"{}",), 503)


@pytest.mark.feature("P2", "P6")
@pytest.mark.parametrize(
    ("listed", "described", "probed", "expected", "questions"),
    [
        ({"id": "gemma", "supported_parameters": ["tools", "top_p"]}, None, SILENT, "native", 0),
        ({"id": "gemma", "supported_parameters": ["top_p"]}, None, SILENT, "prompted", 0),
        ({"id": "gemma", "capabilities": {"function_calling": True}}, None, SILENT, "native", 0),
        ({"id": "gemma", "capabilities": {"function_calling": False}}, None, SILENT, "prompted", 0),
        ({"id": "gemma", "owned_by": "library"}, {"capabilities": ["completion", "tools"]}, SILENT, "native", 0),
        ({"id": "gemma", "owned_by": "library"}, {"capabilities": ["completion"]}, SILENT, "prompted", 0),
        ({"id": "other"}, None, _said(CALLED, "tool_calls"), "native", 1),
        ({"id": "gemma"}, None, _said({"role": "assistant", "content": "hello"}), "prompted", 2),
        ({"id": "gemma"}, None, ScriptedAnswer((REFUSAL,), 400), "prompted", 1),
        ({"id": "gemma"}, None, _said({"role": "assistant", "content": "I thi"}, "length"), "native", 1),
        ({"id": "gemma"}, None, ScriptedAnswer((b"busy",), 429), "native", 1),
        ({"id": "gemma"}, None, ScriptedAnswer((b"not json",)), "native", 1),
        ({"id": ["x"], "name": {}}, None, ScriptedAnswer((b"[1]",)), "native", 1),
    ],
    ids=[
        "listed-parameters", "listed-without", "listed-ability", "listed-inability", "described", "described-without",
        "calls", "answers-in-words", "refuses", "was-cut-off", "is-busy", "answers-nonsense",
        "lists-nonsense",
    ],
)  # fmt: skip
def test_what_is_declared_or_shown_decides(
    listed: object, described: object, probed: ScriptedAnswer, expected: str, questions: int
) -> None:
    """The first request goes as it came. No other asks again; the question is paid with the client's key."""

    async def scene(where: Stage) -> None:
        assert await _ask(where) == ["native"]
        await _probed(where)
        assert await _ask(where, 2) == [expected, expected]
        asked = [one for one in where.upstream.asked if _is_probe(one) and one.path.endswith("completions")]
        assert len(asked) == questions
        assert all(one.header("authorization") == "Bearer k" for one in where.upstream.asked)
        assert sum(one.path.endswith("/models") for one in where.upstream.asked) == 1

    play(scene, _server(listed, probed, described))


@pytest.mark.feature("P2")
@pytest.mark.parametrize(
    ("item", "status", "expected"),
    [
        ({"type": "function_call", "name": "say"}, "completed", True),
        ({"type": "message", "content": []}, "completed", False),
        ({"type": "message", "content": []}, "incomplete", True),  # nobody knows: as the client wants it
    ],
)
def test_a_server_of_responses_is_asked_in_its_own_format(item: object, status: str, expected: bool) -> None:
    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if asked.path == "/v1/models":
            return ScriptedAnswer((b'{"data": []}',))
        if _is_probe(asked):
            assert json.loads(asked.body)["tools"][0]["name"] == "say"
            return ScriptedAnswer((json.dumps({"status": status, "output": [item]}).encode(),))
        return ScriptedAnswer((b'{"output": []}',))

    async def scene(where: Stage) -> None:
        await where.post("/v1/responses", json.dumps(RESPONSES).encode())
        await _probed(where)
        await where.post("/v1/responses", json.dumps(RESPONSES).encode())
        assert ("tools" in json.loads(where.upstream.asked[-1].body)) is expected
        hosted = {**RESPONSES, "model": "other", "tools": [{"type": "web_search"}]}
        before = len(where.upstream.asked)
        await where.post("/v1/responses", json.dumps(hosted).encode())
        assert len(where.upstream.asked) == before + 1, "no question about tools that the provider runs"

    play(scene, script)


@pytest.mark.feature("P2")
def test_an_anthropic_server_is_asked_in_its_own_format() -> None:
    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if _is_probe(asked):
            assert json.loads(asked.body)["tools"][0]["input_schema"]["type"] == "object"
            return ScriptedAnswer((b'{"content": [{"type": "tool_use", "name": "say"}], "stop_reason": "tool_use"}',))
        return ScriptedAnswer((b'{"content": []}',))

    async def scene(where: Stage) -> None:
        await where.post("/v1/messages", json.dumps(ANTHROPIC).encode())
        await _probed(where)
        assert ["tools" in json.loads(one.body) for one in where.upstream.asked] == [True, True]

    play(scene, script)


def test_a_model_that_somebody_pays_for_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laconic.gateway.capability_probes.is_local", lambda _: False)

    async def scene(where: Stage) -> None:
        assert await _ask(where) == ["native"]
        await _probed(where)
        assert await _ask(where) == ["native"]
        assert not any(_is_probe(one) for one in where.upstream.asked)

    play(scene, _server({"id": "gemma"}, _said({"role": "assistant", "content": "hello"})))


def test_clients_at_once_share_one_question() -> None:
    async def scene(where: Stage) -> None:
        await asyncio.gather(*(_ask(where) for _ in range(5)))
        await _probed(where)
        assert sum(_is_probe(one) for one in where.upstream.asked) == 1

    play(scene, _server({"id": "gemma"}, _said(CALLED, "tool_calls")))


@pytest.mark.parametrize("hanging", ["/models", "/completions"])
def test_no_request_waits_for_a_question_that_hangs(hanging: str) -> None:
    """It would hang for longer than this scene may take; and it is asked only once."""

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if asked.path.endswith(hanging) and (_is_probe(asked) or hanging == "/models"):
            return ScriptedAnswer((), fault="stall")
        return _server({"id": "gemma"}, SILENT)(asked)

    async def scene(where: Stage) -> None:
        assert await _ask(where, 3) == ["native"] * 3
        while not any(
            one.path.endswith(hanging) and one.body != json.dumps(CHAT).encode() for one in where.upstream.asked
        ):
            await asyncio.sleep(0.01)
        assert await _ask(where) == ["native"]
        assert sum(one.path.endswith("/models") for one in where.upstream.asked) == 1

    play(scene, script)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (GatewayPolicy(native_models=("gemma",)), "native"),
        (GatewayPolicy(prompted_models=("openai/gem*",)), "prompted"),
        (GatewayPolicy(probe=False), "native"),
    ],
)
def test_settings_decide_before_any_question(policy: GatewayPolicy, expected: str) -> None:
    async def scene(where: Stage) -> None:
        assert await _ask(where) == [expected]
        assert len(where.upstream.asked) == 1

    play(scene, _server({}, SILENT), policy=policy)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-5", "openai/gpt-5-mini", "gemini-3-pro", "o3"])
def test_known_families_are_not_asked(model: str) -> None:
    async def scene(where: Stage) -> None:
        await where.post("/v1/chat/completions", json.dumps({**CHAT, "model": model}).encode())
        assert len(where.upstream.asked) == 1

    play(scene, _server({}, SILENT))


@pytest.mark.feature("P2")
class _AnyAddress(Capabilities):
    """Each scene has a server at another address."""

    def recall(self, model: str) -> tuple[str, float] | None:
        return super().recall(model.partition(" ")[0])

    def keep(self, model: str, protocol: str, until: float) -> None:
        super().keep(model.partition(" ")[0], protocol, until)


def test_the_same_name_at_another_address_is_another_model() -> None:
    protocols = PromptedModels((), (), lambda: 0.0, ProcessMemory())
    protocols.learn("openai", "m", "prompted", "http://one")
    assert protocols.known_mode("openai", "m", "http://one") == "prompted"
    assert protocols.known_mode("openai", "m", "http://two") == ""


def test_what_was_shown_survives_a_restart_and_expires(tmp_path: Path) -> None:
    memory = _AnyAddress(tmp_path / "models.json")

    async def first(where: Stage) -> None:
        assert await _ask(where) == ["native"]
        await _probed(where)
        assert await _ask(where) == ["prompted"]

    async def after_a_restart(where: Stage) -> None:
        assert await _ask(where) == ["prompted"]
        assert not any(_is_probe(one) for one in where.upstream.asked)

    for scene in (first, after_a_restart):
        play(scene, _server({"id": "gemma"}, ScriptedAnswer((REFUSAL,), 400)), memory=memory)
    now = [0.0]
    protocols = PromptedModels((), (), lambda: now[0], ProcessMemory())
    protocols.learn("local", "m", "native")
    assert protocols.known_mode("local", "m") == "native"
    now[0] = LEARNED_FOR + 1
    assert protocols.known_mode("local", "m") == ""


def test_a_setting_overrides_what_was_learned() -> None:
    memory = ProcessMemory()
    PromptedModels((), (), lambda: 0.0, memory).learn("local", "m", "native")
    assert PromptedModels((), ("m",), lambda: 0.0, memory).known_mode("local", "m") == "prompted"
    PromptedModels((), (), lambda: 0.0, memory).learn("local", "m", "prompted")
    assert PromptedModels(("m",), (), lambda: 0.0, memory).known_mode("local", "m") == "native"
