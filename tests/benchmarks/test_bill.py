"""The provider that bills: it asks for file after file in each format, and its cache gives back what was sent before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from laconic.gateway.scripted_upstream import ReceivedRequest
from laconic_benchmarks.bill.clients import PROMPT
from laconic_benchmarks.bill.provider import DONE, BillingProvider, ProviderClock
from laconic_benchmarks.bill.scenarios import Scenario

Json = dict[str, Any]
WORDS = "A long text that a provider is willing to cache. " * 400
_CHECKPOINT = "You are performing a CONTEXT CHECKPOINT COMPACTION. Write a handoff summary."
MARK = {"cache_control": {"type": "ephemeral"}}


def _anthropic(shown: int) -> tuple[str, Json]:
    messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]
    for number in range(shown):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"cat file_{number}.txt"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    messages[-1]["content"][-1] |= MARK
    tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
    system = [{"type": "text", "text": WORDS, **MARK}]
    return "/v1/messages", {"model": "claude-sonnet-5-5", "tools": tools, "system": system, "messages": messages}


def _responses(shown: int) -> tuple[str, Json]:
    items: list[Json] = [{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]
    for number in range(shown):
        arguments = json.dumps({"cmd": f"cat file_{number}.txt"})
        items.append(
            {"type": "function_call", "call_id": f"c{number}", "name": "exec_command", "arguments": arguments}
        )
        items.append({"type": "function_call_output", "call_id": f"c{number}", "output": "x"})
    tools = [{"type": "function", "name": "exec_command", "parameters": {"type": "object"}}]
    return "/v1/responses", {"model": "gpt-5", "tools": tools, "instructions": WORDS, "input": items}


def _gemini(shown: int) -> tuple[str, Json]:
    contents: list[Json] = [{"role": "user", "parts": [{"text": PROMPT}]}]
    for number in range(shown):
        call = {"name": "run_shell_command", "args": {"command": f"cat file_{number}.txt"}}
        result = {"name": "run_shell_command", "response": {"output": "x"}}
        contents.append({"role": "model", "parts": [{"functionCall": call}]})
        contents.append({"role": "user", "parts": [{"functionResponse": result}]})
    tools = [{"functionDeclarations": [{"name": "run_shell_command"}]}]
    body = {"tools": tools, "systemInstruction": {"parts": [{"text": WORDS}]}, "contents": contents}
    return "/v1beta/models/gemini-2.5-pro:generateContent", body


@pytest.mark.parametrize("build", [_anthropic, _responses, _gemini])
def test_it_asks_for_file_after_file_and_reads_its_cache_until_that_is_cold(build: Any) -> None:
    clock = ProviderClock()
    provider = BillingProvider(Scenario("two files", ("a", "b")), "gpt-5", clock)
    said = []
    for shown in (0, 1, 2, 2):
        path, body = build(shown)
        answer = provider(ReceivedRequest("POST", path, (), json.dumps(body).encode()))
        said.append(b"".join(answer.chunks).decode())
        if len(said) == 3:
            clock.skip(7_200)
    assert "cat file_0.txt" in said[0]
    assert "cat file_1.txt" in said[1]
    assert DONE in said[2]
    assert [usage.cache_read > 3_000 for usage in provider.usages] == [False, True, True, False]
    assert provider.results == [0, 1, 2, 2]
    assert provider.dollars > 0


def test_what_asks_no_model_costs_nothing() -> None:
    provider = BillingProvider(Scenario("none", ()), "gpt-5", ProviderClock())
    provider(ReceivedRequest("GET", "/v1/models", (), b""))
    provider(ReceivedRequest("POST", "/v1/messages/count_tokens", (), b"{}"))
    assert (provider.tokens, provider.dollars) == (0, 0.0)


def test_a_client_that_asks_for_a_summary_of_its_history_gets_one() -> None:
    """And no command more; afterwards it goes on with the next file, although the client has forgotten the first ones."""
    provider = BillingProvider(Scenario("three files", ("a", "b", "c")), "gpt-5", ProviderClock())
    path, body = _responses(1)
    _say(provider, path, body)
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": _CHECKPOINT}]}
    assert DONE in _say(provider, path, {**body, "input": [*body["input"], asked]})
    _, compacted = _responses(0)
    assert "cat file_1.txt" in _say(provider, path, compacted)


def test_a_provider_that_compacts_a_history_itself_returns_what_only_it_can_read() -> None:
    provider = BillingProvider(Scenario("two files", ("a", "b")), "gpt-5", ProviderClock())
    path, body = _responses(1)
    said = _say(provider, path, {**body, "stream": True, "input": [*body["input"], {"type": "compaction_trigger"}]})
    events = [json.loads(line.removeprefix("data: ")) for line in said.splitlines() if line.startswith("data: ")]
    (item,) = events[-1]["response"]["output"]
    assert (item["type"], events[-1]["type"]) == ("compaction", "response.completed")
    assert provider.usages[-1].prompt > 3_000


def _say(provider: BillingProvider, path: str, body: Json) -> str:
    return b"".join(provider(ReceivedRequest("POST", path, (), json.dumps(body).encode())).chunks).decode()


def test_a_line_by_which_a_client_says_who_it_is_is_no_part_of_the_prompt() -> None:
    """Claude Code writes it anew when it has compacted its history; the cache holds all the same."""
    provider = BillingProvider(Scenario("one file", ("a",)), "claude-sonnet-4-5", ProviderClock())
    path, body = _anthropic(0)
    for who in ("cch=1", "cch=2"):
        block = {"type": "text", "text": f"x-anthropic-billing-header: {who}"}
        _say(provider, path, {**body, "system": [block, *body["system"]]})
    assert provider.usages[0].prompt == provider.usages[1].prompt
    assert provider.usages[1].cache_read > 3_000
