"""A client that changes its prompt: the gateway undoes what means the same, and writes down what does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.exchange.cost_sources import measure_own
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.exchange.turn_account import TurnAccount
from laconic.exchange.turn_evidence import read_evidence
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.spending import Spending
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns
from laconic.tokens.count import counter

Json = dict[str, Any]
USAGE = (
    b'{"usage":{"input_tokens":1,"cache_read_input_tokens":9000,"cache_creation_input_tokens":50,"output_tokens":7}}'
)


def _engine(folder: Path, *, repair: bool = True) -> EngineAdapter:
    archive = Archive(folder / "archive.sqlite", 10**8)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    options = EngineOptions(repair=repair)
    engine = ConversationEngine(ledger, archive, lambda: 0.0, counter(), options, forms=ledger)
    return EngineAdapter(single_engine(engine))


def _tools(*names: str) -> list[Json]:
    return [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in names]


def _body(turn: int, tools: list[Json], system: str = "Work.\nBe brief.") -> Json:
    messages: list[Json] = [{"role": "user", "content": "Fix it"}]
    for number in range(turn):
        messages.append({"role": "assistant", "content": f"step {number}"})
        messages.append({"role": "user", "content": "go on"})
    return {"model": "claude-sonnet-4-5", "tools": tools, "system": system, "messages": messages}


def _send(folder: Path, bodies: list[Json], *, repair: bool = True) -> tuple[list[Json], list[str]]:
    """What the provider gets, and what the answers' headers say was repaired."""
    got: list[Json] = []
    said: list[str] = []

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        got.append(json.loads(asked.body))
        return ScriptedAnswer((USAGE,), headers=(("content-type", "application/json"),))

    async def scene(where: Stage) -> None:
        for body in bodies:
            _, headers, _ = await where.post("/v1/messages", json.dumps(body).encode(), x_api_key="k")
            said.append(headers.get("x-laconic-repaired", ""))

    history = TurnRecorder(TurnAccount(Turns(folder / FILE)))
    play(scene, script, _engine(folder, repair=repair), history=history)
    return got, said


def test_a_reordered_tool_list_reaches_the_provider_in_its_old_order_also_after_a_restart(tmp_path: Path) -> None:
    first, second = _tools("Bash", "Read", "mcp__a__x"), _tools("mcp__a__x", "Bash", "Read")
    _send(tmp_path, [_body(0, first)])
    got, said = _send(tmp_path, [_body(1, second), _body(2, second)])
    assert [body["tools"] for body in got] == [first, first]
    assert said == ["tools order", "tools order"]


def test_the_repair_can_be_switched_off(tmp_path: Path) -> None:
    first, second = _tools("Bash", "Read"), _tools("Read", "Bash")
    got, said = _send(tmp_path, [_body(0, first), _body(1, second)], repair=False)
    assert [body["tools"] for body in got] == [first, second]
    assert said == ["", ""]


def test_what_a_client_changed_is_in_the_record_by_its_part(tmp_path: Path) -> None:
    tools = _tools("Bash", "Read")
    bodies = [
        _body(0, tools),
        _body(1, tools),
        _body(2, _tools("Bash", "mcp__b__y")),
        _body(3, _tools("Bash", "mcp__b__y"), "Work.\nBe brief today."),
    ]
    _send(tmp_path, bodies[:2])
    _send(tmp_path, bodies[2:])  # a restart changes nothing
    reading = Spending(tmp_path / FILE)
    (session,) = reading.sessions()
    found = [read_evidence(turn.evidence) for turn in reading.turns(session.session)]
    assert [(one.part, one.detail) for one in found if one is not None] == [
        ("", ""),
        ("", ""),
        ("tools", "+mcp__b__y -Read"),
        ("system", "line 2 of 2"),
    ]
    (measured,) = measure_own(reading)
    assert [request.change is not None and request.change.part for request in measured.requests][2] == "tools"
    reading.close()
    for path in tmp_path.glob("turns.sqlite*"):
        assert b"Be brief" not in path.read_bytes()
