"""The bill through the gateway: equal when nothing was changed, net of what is ours, the same after a restart.

Claude Sonnet's prices: a million tokens cost $3, read from the cache a tenth, written to it a quarter more, and an
answer costs $15.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.exchange.engine_adapter import EngineAdapter, RequestEngine, single_engine
from laconic.exchange.turn_account import TurnAccount
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.spending import SessionRow, Spending
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns
from laconic.tokens.count import counter
from laconic.wire.usage import Usage

Json = dict[str, Any]
Request = tuple[bytes, Usage]
MODEL = "claude-sonnet-4-5"
DOLLARS = 3e-6  # for a token


def _script(usages: Sequence[Usage]) -> Callable[[ReceivedRequest], ScriptedAnswer]:
    left = list(usages)

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        usage = left.pop(0)
        kinds = {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.long,
            "ephemeral_1h_input_tokens": usage.long,
        }
        said = {
            "input_tokens": usage.input,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_creation": kinds,
            "output_tokens": usage.output,
        }
        return ScriptedAnswer((json.dumps({"usage": said}).encode(),))

    return script


def _played(
    folder: Path,
    requests: Sequence[Request],
    engine: RequestEngine | None = None,
    policy: GatewayPolicy | None = None,
    clock: Callable[[], float] = lambda: 0.0,
) -> Json:
    """The requests in one process; the row of the gateway's own page for its last session."""
    rows: list[Json] = []

    async def scene(where: Stage) -> None:
        for body, _ in requests:
            await where.post("/v1/messages", body, x_api_key="k")
        _, said = await where.get("/laconic/sessions")
        rows.extend(json.loads(said)["sessions"])

    history = TurnRecorder(TurnAccount(Turns(folder / FILE), clock=clock))
    play(scene, _script([usage for _, usage in requests]), engine, policy, history=history)
    return rows[0]


def _recorded(folder: Path) -> list[SessionRow]:
    reading = Spending(folder / FILE)
    try:
        return reading.sessions()
    finally:
        reading.close()


def _modes(folder: Path, session: SessionRow) -> list[str]:
    reading = Spending(folder / FILE)
    try:
        return [turn.mode for turn in reading.turns(session.session) if turn.mode]
    finally:
        reading.close()


def _engine(folder: Path, standard: int = 200_000) -> EngineAdapter:
    archive = Archive(folder / "archive.sqlite", 10**8)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    return EngineAdapter(
        single_engine(ConversationEngine(ledger, archive, lambda: 0.0, counter(), EngineOptions(standard=standard)))
    )


def _talk(messages: int) -> bytes:
    """A conversation that only grows, of plain text that nobody makes smaller."""
    said = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"Word {at}."} for at in range(messages)]
    return json.dumps({"model": MODEL, "system": "Work.", "messages": said}).encode()


WARM = (
    (_talk(1), Usage(5, 90_000, 10_000, 100)),
    (_talk(3), Usage(5, 100_000, 1_219, 80)),
)


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("restart", [True, False])
def test_nothing_was_changed_and_nothing_is_claimed(tmp_path: Path, enabled: bool, restart: bool) -> None:
    """Warm from the first request on, as for a prompt that was sent a minute ago: on or off, in one process or two."""
    parts = [WARM[:1], WARM[1:]] if restart else [WARM]
    paid = []
    for part in parts:
        engine = _engine(tmp_path) if enabled else None
        row = _played(tmp_path, part, engine, GatewayPolicy(enabled=enabled))
        assert row["bill"]["tokens"] == row["bill"]["tokens_without"] == sum(usage.prompt for _, usage in part)
        assert row["bill"]["dollars"] == row["bill"]["dollars_without"]
        paid.append(row["bill"]["dollars"])
    (session,) = _recorded(tmp_path)
    assert session.whole == session.prompt == 201_229
    assert session.dollars == session.dollars_whole == pytest.approx(sum(paid))
    assert sum(paid) == pytest.approx((10 + 0.1 * 190_000 + 1.25 * 11_219 + 5 * 180) * DOLLARS)


def test_switched_off_twice_within_the_life_of_the_cache(tmp_path: Path) -> None:
    """The same prompt in two sessions: the second finds the cache of the first, with us and without."""
    one, two = (json.dumps({"model": MODEL, "messages": [{"role": "user", "content": word}]}) for word in "ab")
    cold, warm = Usage(3, 0, 50_000, 7), Usage(3, 50_000, 0, 7)
    _played(tmp_path, [(one.encode(), cold)], policy=GatewayPolicy(enabled=False))
    _played(tmp_path, [(two.encode(), warm)], policy=GatewayPolicy(enabled=False))
    rows = _recorded(tmp_path)
    assert [row.dollars_whole - row.dollars for row in rows] == [0.0, 0.0]
    assert [row.whole for row in rows] == [50_003.0, 50_003.0]


def _reading(steps: int) -> list[Json]:
    messages: list[Json] = [{"role": "user", "content": "Fix the build."}]
    for step in range(steps):
        lines = "\n".join(f"{n:6}\tvalue_{step}_{n} = compute({n * step})" for n in range(1, 300))
        call = {"type": "tool_use", "id": f"t{step}", "name": "Read", "input": {"file_path": f"src/m{step}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"t{step}", "content": lines}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def _requests(steps: int) -> list[bytes]:
    messages = _reading(steps)
    return [
        json.dumps({"model": MODEL, "system": "Work.", "messages": messages[: 1 + 2 * step]}).encode()
        for step in range(steps + 1)
    ]


def _shared(before: bytes, now: bytes) -> int:
    differing = (at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new)
    return next(differing, min(len(before), len(now)))


def _tokens(raw: bytes) -> int:
    return counter()(raw.decode("utf-8", "ignore"))


def _cached(bodies: Sequence[bytes], sent: Sequence[bytes]) -> list[Request]:
    """What a provider with a cache reports: what was sent the last time is read."""
    requests, before = [], b""
    for body, went in zip(bodies, sent, strict=True):
        read = _tokens(went[: _shared(before, went)])
        requests.append((body, Usage(0, read, _tokens(went) - read, 10)))
        before = went[:-2]  # what closes a request is behind the last message
    return requests


def _sent(folder: Path, bodies: Sequence[bytes], engine: RequestEngine) -> list[bytes]:
    found: list[bytes] = []

    async def scene(where: Stage) -> None:
        for body in bodies:
            await where.post("/v1/messages", body, x_api_key="k")
        found.extend(asked.body for asked in where.upstream.asked)

    play(scene, lambda asked: ScriptedAnswer((b"{}",)), engine)
    return found


@pytest.mark.parametrize("standard", [200_000, 20_000], ids=["saves", "loses"])
def test_a_session_that_was_made_smaller_costs_the_same_in_one_process_or_two(tmp_path: Path, standard: int) -> None:
    """Without us it would have cost what a growing history costs with a warm cache, not what a cold start costs. Where
    rewrites cost more than they save, the bill shows it.
    """
    bodies = _requests(16)
    (tmp_path / "dry").mkdir()
    requests = _cached(bodies, _sent(tmp_path, bodies, _engine(tmp_path / "dry", standard)))
    totals = []
    for folder, parts in (("one", [requests]), ("two", [requests[:13], requests[13:]])):
        (tmp_path / folder).mkdir()
        engine = _engine(tmp_path / folder, standard)
        for part in parts:
            _played(tmp_path / folder, part, engine)
        (session,) = _recorded(tmp_path / folder)
        totals.append((session.whole, session.dollars, session.dollars_whole))
        assert bool(_modes(tmp_path / folder, session)) == (standard == 20_000), "the history was rewritten"
    assert totals[0] == totals[1]
    whole, paid, full = totals[0]
    naive = sum(_tokens(body) for body in bodies)
    assert abs(whole - naive) <= 0.01 * naive
    sizes = [_tokens(body) for body in bodies]
    warm = sum(0.1 * old + 1.25 * (new - old) for old, new in pairwise(sizes))
    expected = (1.25 * sizes[0] + warm + 5 * 10 * len(bodies)) * DOLLARS
    assert 0.97 * expected <= full <= 1.01 * expected
    assert (paid < full) == (standard == 200_000)


SCHEMA = {"name": "mcp__laconic__search", "input_schema": {"type": "object"}, "description": "Find names. " * 30}
INSTRUCTIONS = "Ask for the code that you need, and read no whole files. " * 4
SHELL = {"command": "laconic recall 4f2a9c1d | head"}


def _body(*messages: Json) -> bytes:
    """A request with a tool and instructions of ours."""
    theirs = {"name": "Read", "input_schema": {"type": "object"}}
    request = {"model": MODEL, "max_tokens": 9, "tools": [SCHEMA, theirs], "system": f"Work.\n{INSTRUCTIONS}"}
    return json.dumps({**request, "messages": [{"role": "user", "content": "go"}, *messages]}).encode()


def _exchange(id: str, name: str, arguments: Json) -> list[Json]:
    """A call and its result."""
    call = {"type": "tool_use", "id": id, "name": name, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": id, "content": "A line of the file. " * 40}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


RECALL, READ = _exchange("a", "Bash", SHELL), _exchange("b", "Read", {"path": "a"})
OURS = [
    (_body(), Usage(0, 0, 1000, 10)),
    (_body(*RECALL), Usage(0, 1000, 300, 20)),
    (_body(*RECALL, *READ), Usage(0, 1300, 400, 10)),
]


@pytest.mark.parametrize("enabled", [True, False])
def test_schemas_instructions_and_recalls_are_taken_off(tmp_path: Path, enabled: bool) -> None:
    """The first request has a schema and instructions of ours. Then a recall: nothing of it, and no answer, without us.
    Then a read, which would have been the second request. Also when nothing is changed: the tools are offered all the
    same.
    """
    count = counter(MODEL)
    introduced = 30  # tokens of the words around them
    fixed = count(json.dumps(SCHEMA)) + count(INSTRUCTIONS) + introduced
    recalled = sum(count(json.dumps(message["content"][0])) for message in RECALL)
    first, last = 1000 - fixed, 1700 - fixed - recalled
    paid = (1.25 * 1700 + 0.1 * 2300 + 5 * 40) * DOLLARS
    without = (1.25 * first + 0.1 * first + 1.25 * (last - first) + 5 * 20) * DOLLARS
    row = _played(tmp_path, OURS, policy=GatewayPolicy(enabled=enabled, texts=(INSTRUCTIONS.encode(),)))
    assert (row["requests"], row["output"]) == (3, 40)
    assert (row["bill"]["tokens"], row["bill"]["tokens_without"]) == (4000, pytest.approx(first + last))
    assert row["bill"]["dollars"] == pytest.approx(paid)
    assert row["bill"]["dollars_without"] == pytest.approx(without)
    (kept,) = _recorded(tmp_path)
    assert (kept.whole, kept.dollars, kept.dollars_whole) == pytest.approx((first + last, paid, without))
