"""What the gateway writes down about turns, with the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.exchange.turn_account import TurnAccount
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.spending import Spending
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns
from laconic.tokens.count import counter

USAGE = (
    b'{"usage":{"input_tokens":100,"cache_read_input_tokens":900,"cache_creation_input_tokens":50,"output_tokens":7}}'
)
LIMITS = (
    ("content-type", "application/json"),
    ("anthropic-ratelimit-tokens-limit", "80000"),
    ("anthropic-ratelimit-tokens-remaining", "60000"),
    ("anthropic-ratelimit-tokens-reset", "30"),
)


def _engine(folder: Path) -> EngineAdapter:
    archive = Archive(folder / "archive.sqlite", 10**8)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    return EngineAdapter(single_engine(ConversationEngine(ledger, archive, lambda: 0.0, counter())))


def _messages(steps: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend <b>the</b> build."}]
    for step in range(steps):
        lines = "\n".join(f"{n:6}\tvalue_{step}_{n} = compute({n * step})" for n in range(1, 300))
        call = {"type": "tool_use", "id": f"t{step}", "name": "Read", "input": {"file_path": f"src/m{step}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"t{step}", "content": lines}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def _requests(steps: int) -> list[bytes]:
    messages = _messages(steps)
    return [
        json.dumps({"model": "claude-sonnet-4-5", "system": "Work.", "messages": messages[: 1 + 2 * step]}).encode()
        for step in range(steps + 1)
    ]


def test_turns_are_written_down_and_add_up(tmp_path: Path) -> None:
    """Usage, decisions, quota; what parts cost over all turns is what the engine sent in all turns."""
    requests = _requests(24)

    async def scene(where: Stage) -> None:
        for body in requests:
            await where.post("/v1/messages", body, x_api_key="k", user_agent="claude-cli/2")

    for chosen in (requests[:14], requests[14:]):  # the second half after a restart
        history = TurnRecorder(TurnAccount(Turns(tmp_path / FILE)))
        requests = chosen
        play(scene, lambda asked: ScriptedAnswer((USAGE,), headers=LIMITS), _engine(tmp_path), history=history)
    reading = Spending(tmp_path / FILE)
    (session,) = reading.sessions()
    turns = reading.turns(session.session)
    assert (session.turns, session.prompt, session.output) == (25, 25 * 1050, 25 * 7)
    assert (session.title, session.client) == ("Mend <b>the</b> build.", "claude-cli/2")
    assert session.decisions == sum(turn.decisions for turn in turns) > 0
    assert session.whole > session.prompt
    kinds = {part.name: part for part in reading.parts("kind")}
    sent = sum(part.sent for part in kinds.values())
    assert abs(sent - sum(turn.context for turn in turns)) <= 0.02 * sent
    assert kinds["read"].whole > kinds["read"].sent > kinds["calls"].sent
    assert kinds["read"].blocks == 24
    assert {part.name for part in reading.parts("file")} >= {"src/m3.py", "src/m23.py"}
    (quota,) = reading.quotas(session.last)
    assert (quota.tokens, quota.tokens_left, quota.spent) == (
        80_000,
        60_000,
        25 * 157,
    )  # what a cache gave does not count
    reading.close()


@pytest.mark.feature("P3")
def test_malformed_calls_and_lost_clients_are_written_down(tmp_path: Path) -> None:
    """Calls that could not be used, also after asking again, count by model and reason; errors count as such."""
    history = TurnRecorder(TurnAccount(Turns(tmp_path / FILE)))

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if b"fail" in asked.body:
            return ScriptedAnswer((b'{"type":"error"}',), 529)
        text = '<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>'
        return ScriptedAnswer(
            (json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode(),)
        )

    async def scene(where: Stage) -> None:
        tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
        for word in ("try", "fail"):
            body = {"model": "gemma", "tools": [tool], "messages": [{"role": "user", "content": word}]}
            await where.post("/v1/chat/completions", json.dumps(body).encode())

    play(scene, script, _engine(tmp_path), GatewayPolicy(prompted_models=("gemma",)), history=history)
    reading = Spending(tmp_path / FILE)
    assert [(row.upstream, row.model, row.reason, row.count) for row in reading.malformed()] == [
        ("openai", "gemma", "unknown-tool", 3)
    ]
    assert sorted((row.title, row.errors) for row in reading.sessions()) == [("fail", 1), ("try", 0)]
    reading.close()
