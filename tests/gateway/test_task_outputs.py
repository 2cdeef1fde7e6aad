"""A completed task gives its outputs back at once, with the tools by which each client keeps its tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.clients.registry import task_tools
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.tokens.count import counter

Json = dict[str, Any]
Calls = list[tuple[str, Json, str]]
_STATES = (("in_progress", "pending"), ("completed", "in_progress"))


def _code(number: int, lines: int) -> str:
    rows = [f"def step_{number}_{n}(x): return part_{n * 7919 % 9973}(x) + {n * 31 % 977}" for n in range(lines)]
    return "\n".join(rows)


def _anthropic(calls: Calls) -> Json:
    messages: list[Json] = [{"role": "user", "content": "Find the cause and fix it."}]
    for number, (name, given, output) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": messages}


def _responses(calls: Calls) -> Json:
    items: list[Json] = [{"type": "message", "role": "user", "content": "Find the cause and fix it."}]
    for number, (name, given, output) in enumerate(calls):
        items.append({"type": "function_call", "call_id": f"c{number}", "name": name, "arguments": json.dumps(given)})
        items.append({"type": "function_call_output", "call_id": f"c{number}", "output": output})
    return {"model": "gpt-5-codex", "input": items, "store": False}


def _chat(calls: Calls) -> Json:
    messages: list[Json] = [{"role": "user", "content": "Find the cause and fix it."}]
    for number, (name, given, output) in enumerate(calls):
        use = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [use]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    return {"model": "gpt-5", "messages": messages}


def _gemini(calls: Calls) -> Json:
    contents: list[Json] = [{"role": "user", "parts": [{"text": "Find the cause and fix it."}]}]
    for name, given, output in calls:
        answer = {"functionResponse": {"name": name, "response": {"output": output}}}
        contents.append({"role": "model", "parts": [{"functionCall": {"name": name, "args": given}}]})
        contents.append({"role": "user", "parts": [answer]})
    return {"contents": contents}


def _todos(name: str, field: str, title: str) -> list[Calls]:
    """What a list of two tasks says before and after the first is completed."""
    told: list[Calls] = []
    for states in _STATES:
        rows = [{title: "Find the cause", "status": states[0]}, {title: "Fix it", "status": states[1]}]
        told.append([(name, {field: rows}, "ok")])
    return told


_UPDATES: list[Calls] = [
    [
        ("TaskCreate", {"subject": "Find the cause", "description": "d"}, "Task #1 created successfully"),
        ("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "Updated task #1 status"),
    ],
    [("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status")],
]
_CLIENTS = {
    "claude, todos": ("/v1/messages", _anthropic, "Read", "file_path", _todos("TodoWrite", "todos", "content")),
    "claude, tasks": ("/v1/messages", _anthropic, "Read", "file_path", _UPDATES),
    "codex": ("/v1/responses", _responses, "shell", "command", _todos("update_plan", "plan", "step")),
    "opencode": ("/v1/chat/completions", _chat, "read", "filePath", _todos("todowrite", "todos", "content")),
    "gemini": (
        "/v1beta/models/gemini-2.5-pro:generateContent",
        _gemini,
        "read_file",
        "absolute_path",
        _todos("write_todos", "todos", "description"),
    ),
}


def _engine(folder: Path) -> EngineAdapter:
    archive = Archive(folder / "archive.sqlite", 10**8)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    options = EngineOptions(task_tools=task_tools())
    return EngineAdapter(single_engine(ConversationEngine(ledger, archive, lambda: 0.0, counter(), options)))


def _answer(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b"{}",))


@pytest.mark.feature("S1")
@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("client", _CLIENTS)
def test_outputs_of_a_completed_task_go_at_once(client: str, outputs: int, tmp_path: Path) -> None:
    path, write, name, field, told = _CLIENTS[client]
    reads: Calls = []
    for number in range(outputs):
        reads.append((name, {field: f"cat src/part{number}.py"}, _code(number, 3_300 // outputs)))

    async def scene(where: Stage) -> None:
        calls: Calls = [*told[0]]
        await where.post(path, json.dumps(write(calls)).encode(), x_api_key="k")
        for one in reads:
            calls.append(one)
            await where.post(path, json.dumps(write(calls)).encode(), x_api_key="k")
        assert counter()(where.upstream.asked[-1].body.decode()) > 60_000
        calls += told[1]
        await where.post(path, json.dumps(write(calls)).encode(), x_api_key="k")
        sent = where.upstream.asked[-1].body.decode()
        assert counter()(sent) < 2_000
        assert sent.count("task 'Find the cause' done") == outputs

    play(scene, _answer, _engine(tmp_path))
