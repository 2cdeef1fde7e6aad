"""The agent works with models over HTTP: three formats, native calls and calls as text, found out by trying."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.agent.provider import Provider, following
from tests.agent.stage import agent_for, repair, settings_in

from laconic.agent.agent_from_settings import AgentOptions
from laconic.agent.model_endpoint import endpoint
from laconic.agent.permission import everything
from laconic.agent.scripted_model import ModelScript, script
from laconic.agent.transport import HttpTransport
from laconic.errors import ModelError, UpstreamError, UsageError
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.sessions.model_memory import Capabilities
from laconic.wire.prompted_tool_calls.capability import LEARNED_FOR, PromptedModels
from laconic.wire.refusals import PromptTooLong, refusal, too_long

FORMATS = ("chat", "anthropic", "gemini")
CASE = repair("wrong_sign")


def _options(root: Path, url: str, format: str, **more: Any) -> AgentOptions:
    return AgentOptions(root, "local/gemma", url, format, ask=everything, **more)


def _worked(tmp_path: Path, provider: Provider, format: str, folder: str = "project") -> str:
    (tmp_path / folder).mkdir()
    root = CASE.set_up(tmp_path / folder)
    agent = agent_for(_options(root, provider.url, format), settings_in(tmp_path), CASE.task)
    try:
        answer = agent.work(CASE.task)
    finally:
        agent.close()
    assert CASE.passes(root)
    return answer


def _offered(asked: ReceivedRequest) -> bool:
    return "tools" in json.loads(asked.body)


@pytest.mark.feature("P2", "P6", "P7")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tools", ["native", "refused", "ignored"])
def test_what_a_model_can_do_is_found_out_and_remembered(tmp_path: Path, format: str, tools: str) -> None:
    """One that refuses or ignores tools gets them in words; the next session begins with what was learned."""
    rules = msgspec.structs.replace(script(CASE.script), tools=tools)
    with Provider(following(rules)) as provider:
        answer = _worked(tmp_path, provider, format)
        assert answer.startswith("add subtracted the y")
        first = [_offered(asked) for asked in provider.asked]
        assert first == ([True] * 3 if tools == "native" else [True] + [False] * 3)
        if format == "chat" and tools == "refused":
            _worked(tmp_path, provider, format, "again")
            later = [_offered(asked) for asked in provider.asked][len(first) :]
            assert later == [False] * 3


@pytest.mark.feature("P2")
def test_what_was_learned_is_forgotten_in_time(tmp_path: Path) -> None:
    now = [1000.0]
    learned = PromptedModels((), (), lambda: now[0], Capabilities(tmp_path / "models.json"))
    assert learned.known_mode("local", "gemma") == ""
    learned.learn("local", "gemma", "prompted")
    again = PromptedModels((), (), lambda: now[0], Capabilities(tmp_path / "models.json"))
    assert again.known_mode("local", "gemma") == "prompted"
    now[0] += LEARNED_FOR + 1
    assert again.known_mode("local", "gemma") == ""


@pytest.mark.parametrize("format", FORMATS)
def test_the_key_goes_to_the_provider_and_nowhere_else(
    tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not into the session's file, not into the archive, not into the environment of commands."""
    monkeypatch.setenv("LOCAL_API_KEY", "sk-very-secret")
    rules = [
        {"when": ["^Look"], "calls": [{"name": "run", "arguments": {"command": "env"}}]},
        {"when": ["^PATH="], "say": "Seen."},
    ]
    (tmp_path / "project").mkdir()
    with Provider(following(msgspec.convert({"rules": rules}, ModelScript))) as provider:
        agent = agent_for(_options(tmp_path / "project", provider.url, format), settings_in(tmp_path), "x")
        assert agent.work("Look around.") == "Seen."
        agent.close()
        sent = [value for asked in provider.asked for _, value in asked.headers if "sk-very-secret" in value]
        assert len(sent) == len(provider.asked)
        assert not any(b"sk-very-secret" in asked.body for asked in provider.asked)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.suffix == ".jsonl" for path in kept)
    assert not [path for path in kept if b"sk-very-secret" in path.read_bytes()]


def test_a_busy_server_is_asked_again_as_late_as_it_says() -> None:
    answers = [
        ScriptedAnswer((b"{}",), 429, (("retry-after", "7"),)),
        ScriptedAnswer((b"{}",), 503, ()),
        ScriptedAnswer((b'{"a": 1}',)),
    ]
    waited: list[float] = []
    with Provider(lambda _: answers.pop(0)) as provider:
        reply = HttpTransport(provider.url, {}, 5.0, waited.append).post(b"{}")
        assert (reply.status, b"".join(reply.chunks), len(provider.asked)) == (200, b'{"a": 1}', 3)
    assert waited == [7.0, 14.0]


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(UpstreamError, match=r"127\.0\.0\.1:9"):
        HttpTransport("http://127.0.0.1:9/v1", {"authorization": "Bearer sk-x"}, 1.0, lambda _: None).post(b"{}")
    assert "sk-x" not in repr(HttpTransport("http://127.0.0.1:9/v1", {"authorization": "Bearer sk-x"}))


def test_a_key_does_not_follow_a_redirect() -> None:
    with Provider(lambda _: ScriptedAnswer((b"{}",), 307, (("location", "http://127.0.0.1:9/"),))) as provider:
        assert HttpTransport(provider.url, {"x-api-key": "k"}, 5.0).post(b"{}").status == 307


@pytest.mark.parametrize(
    "answer",
    [
        ScriptedAnswer((b"<html>Please log in</html>",), 200, (("content-type", "text/html"),)),
        ScriptedAnswer((b"data: \xff\xfe\n\n" * 3,), 200, (("content-type", "text/event-stream"),)),
        ScriptedAnswer((refusal("chat", 401, "no such key"),), 401),
    ],
    ids=["a page", "noise", "a refusal"],
)
def test_an_answer_that_is_none_ends_the_session_with_a_reason(tmp_path: Path, answer: ScriptedAnswer) -> None:
    root = CASE.set_up(tmp_path)
    with Provider(lambda _: answer) as provider:
        agent = agent_for(_options(root, provider.url, "chat"), settings_in(tmp_path), "x")
        with pytest.raises(ModelError):
            agent.work("x")
        agent.close()


def test_an_answer_that_breaks_off_is_asked_for_again(tmp_path: Path) -> None:
    whole = following(script(CASE.script))
    asked: list[int] = []

    def breaking(request: ReceivedRequest) -> ScriptedAnswer:
        asked.append(1)
        answer = whole(request)
        if len(asked) % 2:
            return msgspec.structs.replace(answer, chunks=answer.chunks[:1], fault="truncated")
        return answer

    with Provider(breaking) as provider:
        _worked(tmp_path, provider, "chat")
    assert len(asked) == 6


@pytest.mark.feature("P1")
def test_a_model_that_names_its_window_gets_what_fits(tmp_path: Path) -> None:
    """A request that was refused as too long is sent again, smaller, and the session goes on."""
    (tmp_path / "a.py").write_text("".join(f"def f{n}(x):\n    return x * {n * n}\n" for n in range(900)), "utf-8")
    rules = {
        "rules": [
            {"when": ["^Look"], "calls": [{"name": "read", "arguments": {"targets": ["a.py"], "budget": "full"}}]},
            {"tool": "read", "when": [r"\[a\.py#"], "say": "Seen."},
        ]
    }
    answer = following(msgspec.convert(rules, ModelScript))
    most = 4 * 4_000

    def small(request: ReceivedRequest) -> ScriptedAnswer:
        if len(request.body) > most:
            return ScriptedAnswer((refusal("chat", 400, "This model's maximum context length is 4000 tokens"),), 400)
        return answer(request)

    with Provider(small) as provider:
        agent = agent_for(_options(tmp_path, provider.url, "chat"), settings_in(tmp_path), "x")
        said = agent.work("Look at a.py")
        agent.close()
        sizes = [len(asked.body) for asked in provider.asked]
    assert said == "Seen."
    assert [size > most for size in sizes] == [False, True, False]
    assert too_long(400, b"prompt is too long: 210000 tokens > 200000 maximum") == PromptTooLong(200_000, 210_000)


@pytest.mark.parametrize(
    ("name", "provider", "model", "url"),
    [
        ("claude-x", "anthropic", "claude-x", "https://api.anthropic.com/v1/messages"),
        ("openai/gpt-5", "openai", "gpt-5", "https://api.openai.com/v1/chat/completions"),
        ("hub/org/model", "hub", "org/model", "http://h/api/v1/chat/completions"),
        (
            "gemini/gemini-3-pro",
            "gemini",
            "gemini-3-pro",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
    ],
)
def test_a_name_says_which_model_where(tmp_path: Path, name: str, provider: str, model: str, url: str) -> None:
    settings = settings_in(tmp_path, **{"gateway.upstreams": "hub=http://h/api/v1"})
    found = endpoint(name, settings)
    assert (found.provider, found.model, found.url) == (provider, model, url)


def test_an_unknown_model_is_refused_with_the_providers(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="anthropic, gemini, openai"):
        endpoint("nonsense", settings_in(tmp_path))


def test_what_was_learned_expires_by_the_clock(tmp_path: Path) -> None:
    """A file that somebody else wrote badly is read as nothing."""
    (tmp_path / "models.json").write_text("{broken", "utf-8")
    memory = Capabilities(tmp_path / "models.json")
    assert memory.recall("a/b") is None
    memory.keep("a/b", "native", time.time() + 5)
    assert (memory.recall("a/b") or ("",))[0] == "native"
    assert (tmp_path / "models.json").stat().st_mode & 0o077 == 0
