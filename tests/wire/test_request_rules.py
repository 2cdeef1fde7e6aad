"""Each validator finds the fault that was planted, by its rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.wire.histories import BUILDERS, Call, Json, Step

from laconic.wire.formats import FORMATS
from laconic.wire.parsed_request import parse

STEPS = [
    Step(user="mend the parser"),
    Step(text="I look.", calls=(Call("a", "Read", {"path": "x"}, "one"), Call("b", "Grep", {"q": "y"}, "two"))),
    Step(thinking="hm", text="Now this.", calls=(Call("c", "Bash", {"command": "make"}, "three"),)),
    Step(user="go on"),
]


def _rules(name: str, body: Json) -> set[str]:
    return {fault.rule for fault in parse(FORMATS[name], json.dumps(body).encode()).faults()}


def _body(name: str) -> Json:
    return BUILDERS[name](STEPS)


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_nothing_planted_nothing_found(name: str) -> None:
    assert _rules(name, _body(name)) == set()


def _list(body: Json) -> list[Any]:
    found = next(body[key] for key in ("messages", "input", "contents") if key in body)
    assert isinstance(found, list)
    return found


Plant = Callable[[Json], None]


def _remove(place: int) -> Plant:
    return lambda body: _list(body).pop(place)


def _pop(place: int, field: str, inner: int) -> Plant:
    return lambda body: _list(body)[place][field].pop(inner)


def _put(place: int, message: Json) -> Plant:
    return lambda body: _list(body).insert(place, message)


def _set(place: int, field: str, value: object) -> Plant:
    def plant(body: Json) -> None:
        _list(body)[place][field] = value

    return plant


PLANTED: list[tuple[str, str, str, Plant]] = [
    ("anthropic", "result-gone", "pairing", _pop(2, "content", 1)),
    ("anthropic", "call-gone", "pairing", _pop(1, "content", 2)),
    ("anthropic", "results-gone", "pairing", _remove(2)),
    ("anthropic", "turn-between", "order", _put(2, {"role": "user", "content": "by the way"})),
    (
        "anthropic",
        "text-before-results",
        "order",
        lambda b: _list(b)[2]["content"].insert(0, {"type": "text", "text": "x"}),
    ),
    ("anthropic", "starts-with-assistant", "start", _remove(0)),
    ("anthropic", "empty-content", "empty", _set(0, "content", [])),
    ("anthropic", "blank-text", "empty", _set(0, "content", " \n\t")),
    ("anthropic", "same-id-twice", "identity", lambda b: _list(b)[1]["content"][2].update(id="a")),
    ("anthropic", "ends-with-a-call", "end", lambda b: b.update(messages=_list(b)[:2])),
    ("anthropic", "nothing-to-answer", "end", lambda b: b.update(messages=[])),
    ("anthropic", "result-by-assistant", "role", _set(2, "role", "assistant")),
    ("anthropic", "call-by-user", "role", _set(1, "role", "user")),
    ("anthropic", "thinking-by-user", "thinking", lambda b: _list(b)[0].update(content=[{"type": "thinking"}])),
    ("chat", "result-gone", "pairing", _remove(3)),
    ("chat", "call-gone", "pairing", _pop(2, "tool_calls", 0)),
    ("chat", "turn-between", "order", _put(3, {"role": "user", "content": "by the way"})),
    ("chat", "blank-text", "empty", _set(1, "content", "")),
    ("chat", "no-content", "empty", _set(1, "content", None)),
    ("chat", "ends-with-a-call", "end", lambda b: b.update(messages=_list(b)[:3])),
    ("responses", "result-gone", "pairing", _remove(4)),
    ("responses", "call-gone", "pairing", _remove(2)),
    ("responses", "reasoning-parted", "thinking", _put(7, {"role": "user", "content": "by the way"})),
    ("responses", "ends-with-reasoning", "thinking", lambda b: b.update(input=_list(b)[:7])),
    ("gemini", "result-gone", "pairing", _pop(2, "parts", 0)),
    ("gemini", "call-gone", "pairing", _pop(1, "parts", 1)),
    ("gemini", "starts-with-model", "start", _remove(0)),
    ("gemini", "empty-parts", "empty", _set(0, "parts", [])),
    ("gemini", "call-after-model-turn", "order", _put(1, {"role": "model", "parts": [{"text": "x"}]})),
    (
        "gemini",
        "signature-lost-by-the-first-call",
        "thinking",
        lambda b: _list(b)[1]["parts"][2].update(thoughtSignature="c2ln"),
    ),
]


@pytest.mark.parametrize(("name", "fault", "rule", "plant"), PLANTED, ids=[f"{row[0]}-{row[1]}" for row in PLANTED])
def test_a_planted_fault_is_found(name: str, fault: str, rule: str, plant: Plant) -> None:
    body = _body(name)
    plant(body)
    assert rule in _rules(name, body), fault


def test_results_of_a_history_that_the_provider_keeps_are_no_orphans() -> None:
    body = {"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "z", "output": "o"}]}
    conversation = parse(FORMATS["responses"], json.dumps(body).encode())
    assert conversation.chained
    assert conversation.faults() == []
