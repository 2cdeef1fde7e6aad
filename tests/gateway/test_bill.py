"""The bill is net: what is there only because of us is taken off what it would have cost without us.

Claude Sonnet's prices: a million tokens cost $3, read from the cache a tenth, written to it a quarter more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.context.bill import Bill
from laconic.context.economy import price_of
from laconic.gateway.history import History
from laconic.gateway.plan import Policy
from laconic.gateway.scripted import Answer, Asked
from laconic.sessions.spending import Spending
from laconic.sessions.turns import FILE, Turns
from laconic.wire.usage import Usage

Json = dict[str, Any]
PRICE = price_of("claude-sonnet-4-5")
DOLLARS = 3e-6  # for a token


def test_without_us_it_is_dearer_by_what_was_left_out() -> None:
    bill = Bill()
    bill.add(Usage(0, 0, 1000, 10), 4000, 4000, PRICE)
    bill.add(Usage(0, 1000, 100, 10), 8000, 4400, PRICE)
    assert (bill.tokens, bill.tokens_without) == (2100, 3000)
    assert bill.dollars == pytest.approx((1.25 * 1100 + 0.1 * 1000) * DOLLARS)
    assert bill.dollars_without == pytest.approx((1.25 * 2000 + 0.1 * 1000) * DOLLARS)


def test_without_a_cache_every_token_costs_the_same() -> None:
    bill = Bill()
    for _ in range(2):
        bill.add(Usage(1000, 0, 0, 10), 3000, 1500, PRICE)
    assert (bill.tokens, bill.tokens_without) == (2000, 4000)
    assert (bill.dollars, bill.dollars_without) == pytest.approx((2000 * DOLLARS, 4000 * DOLLARS))


def test_what_the_cache_keeps_for_an_hour_costs_double() -> None:
    bill = Bill()
    bill.add(Usage(0, 0, 1000, 10, long=400), 2000, 1000, PRICE)
    assert bill.dollars == pytest.approx((1.25 * 600 + 2 * 400) * DOLLARS)
    assert bill.dollars_without == pytest.approx(2 * bill.dollars)


def test_a_request_that_only_recalls_would_not_have_been_made() -> None:
    """Its prompt is ours to pay, and so is its answer; the history without us is where it was."""
    bill = Bill()
    bill.add(Usage(0, 0, 1000, 10), 4000, 4000, PRICE)
    bill.add(Usage(0, 1000, 200, 20), 4800, 4800, PRICE, recall=True)
    bill.add(Usage(0, 1200, 100, 10), 4400, 5200, PRICE)
    assert (bill.tokens, bill.tokens_without) == (1000 + 1200 + 1300, 1000 + 1100)
    assert bill.dollars == pytest.approx((1.25 * 1300 + 0.1 * 2200) * DOLLARS)
    assert bill.dollars_without == pytest.approx((1.25 * 1000 - 5 * 20 + 0.1 * 1000 + 1.25 * 100) * DOLLARS)


def _of(size: int, thing: Json, field: str) -> Json:
    """The thing with a field so long that it has this many bytes as JSON."""
    return {**thing, field: "x" * (size - len(json.dumps({**thing, field: ""})))}


def _body(size: int, messages: list[Json]) -> bytes:
    """A request of that size: 500 bytes are the schema of our tool, 100 our instructions."""
    ours = _of(500, {"name": "mcp__laconic__search", "input_schema": {"type": "object"}}, "description")
    theirs = {"name": "Read", "input_schema": {"type": "object"}}
    first = {"role": "user", "content": "go"}
    request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [ours, theirs], "system": "y" * 100}
    filled = _of(size, {**request, "messages": [first, *messages]}, "metadata")
    return json.dumps({**filled, "metadata": filled["metadata"]}).encode()


def _exchange(id: str, name: str, arguments: Json, size: int) -> list[Json]:
    """A call and its result, together of that size."""
    call = {"type": "tool_use", "id": id, "name": name, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": id}
    result = _of(size - len(json.dumps(call)), result, "content")
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


SHELL = {"command": "laconic recall 4f2a9c1d | head"}
REQUESTS = [
    (_body(2000, []), Usage(0, 0, 1000, 10)),
    (_body(3000, _exchange("a", "Bash", SHELL, 1000)), Usage(0, 1000, 200, 20)),
    (
        _body(4000, [*_exchange("a", "Bash", SHELL, 1000), *_exchange("b", "Read", {"path": "a"}, 600)]),
        Usage(0, 1200, 400, 10),
    ),
]


def _script() -> Any:
    left = [usage for _, usage in REQUESTS]

    def script(asked: Asked) -> Answer:
        usage = left.pop(0)
        said = {
            "input_tokens": usage.input,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
            "output_tokens": usage.output,
        }
        return Answer((json.dumps({"usage": said}).encode(),))

    return script


def test_schemas_instructions_and_recalls_are_taken_off(tmp_path: Path) -> None:
    """First 1,000 tokens for 2,000 bytes, of which 600 are ours: 700. Then a recall: nothing. Then 1,600 tokens for
    4,000 bytes, of which 600 and 1,000 are ours: 960, 700 of them read from the cache.
    """
    policy = Policy(texts=(b"y" * 100,))
    history = History(Turns(tmp_path / FILE))
    paid = (1.25 * 1600 + 0.1 * 2200) * DOLLARS
    without = (1.25 * 700 - 5 * 20 + 0.1 * 700 + 1.25 * 260) * DOLLARS

    async def scene(where: Stage) -> None:
        for body, _ in REQUESTS:
            await where.post("/v1/messages", body)
        _, said = await where.get("/laconic/sessions")
        (row,) = json.loads(said)["sessions"]
        assert (row["requests"], row["output"]) == (3, 40)
        assert (row["bill"]["tokens"], row["bill"]["tokens_without"]) == (3800, pytest.approx(700 + 960))
        assert row["bill"]["dollars"] == pytest.approx(paid)
        assert row["bill"]["dollars_without"] == pytest.approx(without)

    play(scene, _script(), policy=policy, history=history)
    reading = Spending(tmp_path / FILE)
    (kept,) = reading.sessions()
    assert (kept.whole, kept.dollars, kept.dollars_whole) == pytest.approx((1660, paid, without))
    reading.close()
