"""What a client writes anew without a change of meaning is sent as it was before; everything else passes as it came."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laconic.conversation.in_memory import MemoryStore
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.conversation.prefix_repair import FormStore, PrefixRepair
from laconic.sessions.ledger_store import LedgerFile
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse

Json = dict[str, Any]


def _tool(name: str, *keys: str) -> Json:
    properties = {key: {"type": "string", "description": f"the {key}"} for key in keys}
    return {"name": name, "description": name, "input_schema": {"type": "object", "properties": properties}}


def _turn(number: int, **given: object) -> list[Json]:
    call = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": given or {"path": "a", "limit": 3}}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"text {number}"}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def _body(tools: list[Json], *turns: list[Json]) -> Json:
    messages = [{"role": "user", "content": [{"type": "text", "text": "Fix it"}]}]
    for turn in turns:
        messages += turn
    return {"model": "claude-sonnet-4-5", "tools": tools, "messages": messages}


def _send(repair: PrefixRepair, body: Json | bytes, format: str = "anthropic") -> tuple[bytes, tuple[str, ...]]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    done = repair.repair("s", parse(format_named(format), raw))
    return done.body, done.classes


TOOLS = [_tool("read", "path", "limit"), _tool("grep", "pattern"), _tool("write", "path", "text")]


def test_tools_in_another_order_are_sent_in_the_order_of_before() -> None:
    repair = PrefixRepair(MemoryStore())
    first, _ = _send(repair, _body(TOOLS))
    again, classes = _send(repair, _body(TOOLS[::-1]))
    assert classes == ("tools order",)
    assert again == first


def test_keys_of_a_schema_in_another_order_are_sent_as_before() -> None:
    repair = PrefixRepair(MemoryStore())
    first, _ = _send(repair, _body(TOOLS))
    turned = json.loads(json.dumps(TOOLS))
    for tool in turned:
        tool["input_schema"]["properties"] = dict(reversed(tool["input_schema"]["properties"].items()))
    again, classes = _send(repair, _body([dict(reversed(tool.items())) for tool in turned]))
    assert classes == ("tools form",)
    assert again == first


def test_white_space_of_tools_is_sent_as_before() -> None:
    repair = PrefixRepair(MemoryStore())
    first, _ = _send(repair, _body(TOOLS))
    pretty = json.dumps(_body(TOOLS)).replace(json.dumps(TOOLS), json.dumps(TOOLS, indent=2)).encode()
    again, classes = _send(repair, pretty)
    assert (again, classes) == (first, ("tools form",))


@pytest.mark.parametrize("change", ["added", "removed", "described", "number"])
def test_other_tools_pass_as_they_came(change: str) -> None:
    repair = PrefixRepair(MemoryStore())
    tools = [*TOOLS, {"name": "n", "input_schema": {"maximum": 1}}]
    _send(repair, _body(tools))
    changed: dict[str, list[Json]] = {
        "added": [_tool("new", "x"), *tools],
        "removed": tools[1:],
        "described": [{**tools[0], "description": "Read"}, *tools[1:]],
        "number": [*tools[:3], {"name": "n", "input_schema": {"maximum": 1.0}}],
    }
    body = json.dumps(_body(changed[change])).encode()
    assert _send(repair, body) == (body, ())


def test_a_server_that_comes_back_gets_its_old_place() -> None:
    repair = PrefixRepair(MemoryStore())
    first, _ = _send(repair, _body(TOOLS))
    without, classes = _send(repair, _body(TOOLS[1:]))
    assert json.loads(without)["tools"] == TOOLS[1:]
    assert not classes
    again, _ = _send(repair, _body([*TOOLS[1:], TOOLS[0]]))
    assert again == first


def test_a_mark_stays_behind_the_last_tool() -> None:
    repair = PrefixRepair(MemoryStore())
    mark = {"cache_control": {"type": "ephemeral"}}
    _send(repair, _body([*TOOLS[:-1], {**TOOLS[-1], **mark}]))
    again, _ = _send(repair, _body([*TOOLS[1:], {**TOOLS[0], **mark}]))
    assert json.loads(again)["tools"] == [*TOOLS[:-1], {**TOOLS[-1], **mark}]


def test_arguments_of_a_call_with_their_keys_in_another_order_are_sent_as_before() -> None:
    repair = PrefixRepair(MemoryStore())
    first, _ = _send(repair, _body(TOOLS, _turn(1, path="a", deep={"x": [1, {"b": 1, "a": 2}]}, limit=3)))
    turned = _turn(1, limit=3, deep={"x": [1, {"a": 2, "b": 1}]}, path="a")
    again, classes = _send(repair, _body(TOOLS, turned))
    assert (again, classes) == (first, ("arguments",))


def test_other_arguments_pass_as_they_came() -> None:
    repair = PrefixRepair(MemoryStore())
    _send(repair, _body(TOOLS, _turn(1, path="a", limit=3)))
    body = json.dumps(_body(TOOLS, _turn(1, limit=4, path="a"))).encode()
    assert _send(repair, body) == (body, ())


@pytest.mark.parametrize("format", ["chat", "responses"])
def test_arguments_that_are_a_string_get_the_very_bytes_back(format: str) -> None:
    def body(arguments: str) -> Json:
        if format == "chat":
            function = {"name": "read", "arguments": arguments}
            calls = [{"id": "c1", "type": "function", "function": function}]
            assistant: list[Json] = [{"role": "assistant", "content": None, "tool_calls": calls}]
            result: Json = {"role": "tool", "tool_call_id": "c1", "content": "text"}
            return {"model": "gpt-5", "messages": [{"role": "user", "content": "Fix it"}, *assistant, result]}
        call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": arguments}
        result = {"type": "function_call_output", "call_id": "c1", "output": "text"}
        return {"model": "gpt-5", "input": [{"role": "user", "content": "Fix it"}, call, result]}

    repair = PrefixRepair(MemoryStore())
    first, _ = _send(repair, body('{"path": "ä", "limit": 3}'), format)
    assert _send(repair, body('{"limit":3,"path":"ä"}'), format) == (first, ("arguments",))
    odd = json.dumps(body('{"limit":3,"path":"\\u00e4"}')).encode()
    assert _send(repair, odd, format) == (odd, ())  # the same value, but no way back to the bytes


def test_a_mark_out_of_reach_gets_one_where_the_request_before_ended() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    calls = [{"type": "tool_use", "id": f"p{n}", "name": "read", "input": {}} for n in range(15)]
    results: list[Json] = [{"type": "tool_result", "tool_use_id": f"p{n}", "content": "x"} for n in range(15)]
    results[-1]["cache_control"] = mark
    many = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    body = _body(TOOLS, _turn(1), many)
    sent, classes = _send(PrefixRepair(MemoryStore()), body)
    assert classes == ("marks",)
    repaired = json.loads(sent)
    assert repaired["messages"][2]["content"][0].pop("cache_control") == mark
    assert repaired == body


@pytest.mark.parametrize("calls", [1, 10])
def test_marks_within_reach_stay_as_they_are(calls: int) -> None:
    made = [{"type": "tool_use", "id": f"p{n}", "name": "read", "input": {}} for n in range(calls)]
    results: list[Json] = [{"type": "tool_result", "tool_use_id": f"p{n}", "content": "x"} for n in range(calls)]
    results[-1]["cache_control"] = {"type": "ephemeral"}
    many = [{"role": "assistant", "content": made}, {"role": "user", "content": results}]
    body = json.dumps(_body(TOOLS, _turn(1), many)).encode()
    assert _send(PrefixRepair(MemoryStore()), body) == (body, ())


def test_four_marks_are_the_most() -> None:
    mark = {"type": "ephemeral"}
    calls = [{"type": "tool_use", "id": f"p{n}", "name": "read", "input": {}} for n in range(15)]
    results: list[Json] = [{"type": "tool_result", "tool_use_id": f"p{n}", "content": "x"} for n in range(15)]
    results[-1]["cache_control"] = mark
    many = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    body = _body([*TOOLS[:-1], {**TOOLS[-1], "cache_control": mark}], _turn(1), _turn(2), _turn(3), many)
    body["system"] = [{"type": "text", "text": "Be brief", "cache_control": mark}]
    body["messages"][2]["content"][0]["cache_control"] = mark
    sent, classes = _send(PrefixRepair(MemoryStore()), body)
    assert classes == ("marks",)
    assert sent.count(b'"cache_control"') == 4
    messages = json.loads(sent)["messages"]
    assert "cache_control" in messages[6]["content"][0]
    assert "cache_control" not in messages[2]["content"][0]


def test_another_process_sends_the_same_bytes(tmp_path: Path) -> None:
    def opened() -> FormStore:
        return LedgerFile(tmp_path / "ledger.sqlite", LedgerEntry, Branch)

    stays = PrefixRepair(opened())
    random = Random(5)
    for number in range(12):
        tools = random.sample(TOOLS, 3)
        turns = []
        for at in range(number):
            given = [("path", "a"), ("limit", at), ("mode", {"x": 1, "y": 2})]
            random.shuffle(given)
            turns.append(_turn(at, **dict(given)))
        body = _body(tools, *turns)
        before = _send(stays, body)
        assert _send(PrefixRepair(opened()), body) == before


def test_what_a_model_reads_stays_the_same() -> None:
    random = Random(11)
    repair = PrefixRepair(MemoryStore())
    for number in range(40):
        turns = []
        for at in range(number % 9):
            given = [("path", f"é{at}"), ("limit", at / 3), ("mode", {"x": None, "y": [1, {"b": True, "a": "\\u"}]})]
            random.shuffle(given)
            turns.append(_turn(at, **dict(given)))
        body = _body(random.sample(TOOLS, 3), *turns)
        sent = json.loads(_send(repair, body)[0])
        assert sorted(sent.pop("tools"), key=str) == sorted(body.pop("tools"), key=str)
        assert sent == body


def test_what_was_forgotten_is_learned_anew(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path / "ledger.sqlite", LedgerEntry, Branch)
    _send(PrefixRepair(ledger), _body(TOOLS))
    ledger.remove(["s"])
    body = json.dumps(_body(TOOLS[::-1])).encode()
    assert _send(PrefixRepair(ledger), body) == (body, ())
