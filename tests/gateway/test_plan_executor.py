"""Requests are planned beside the event loop: large ones in a process of their own, with the same outcome."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.apart import dying, hang, keeping, process_id, refuse, say, unchanged

from laconic.config import Settings, load
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.errors import UsageError
from laconic.exchange.caller import Target
from laconic.exchange.plan import Plan
from laconic.gateway.plan_executor import PlanExecutor
from laconic.gateway.planner import Planner
from laconic.gateway.planner_process import PlannerProcess
from laconic.gateway.routes import target, upstreams
from laconic.sessions.ledger_store import LedgerFile

WHERE: Target = target(upstreams("http://a", "http://b", "http://c", ""), "POST", "/v1/messages", {})
KEYS = {"x-api-key": "k"}


def _settings(folder: Path) -> Settings:
    return load({"cache_dir": str(folder / "cache"), "state_dir": str(folder / "state")}, environ={})


def _body(results: int, lines: int) -> bytes:
    messages: list[Any] = [{"role": "user", "content": "Look."}]
    for number in range(results):
        text = "\n".join(f"12:00:{n % 60:02} INFO step {n} of build {number} is done" for n in range(lines))
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"make {number}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return json.dumps({"model": "claude-sonnet-4-5", "messages": messages}).encode()


LARGE = _body(12, 4_200)
SMALL = _body(2, 300)


def _plan(
    planner: Planner, make: Callable[[], Planner], *requests: tuple[bytes, Mapping[str, str]]
) -> list[tuple[Plan, bool]]:
    """The plans, and after each whether there is a process."""

    async def work() -> list[tuple[Plan, bool]]:
        planning = PlanExecutor(planner, make, wait=300)
        try:
            found = []
            for body, headers in requests:
                plan = await planning.plan(WHERE, {**KEYS, **headers}, "", body)
                found.append((plan, planning.process_runs))
            return found
        finally:
            planning.close()

    return asyncio.run(work())


def test_a_large_request_is_planned_apart_as_it_would_be_here(tmp_path: Path) -> None:
    assert len(LARGE) > 2 * 2**20 > len(SMALL)
    settings = _settings(tmp_path / "one")
    (small, before), (large, after) = _plan(keeping(settings), partial(keeping, settings), (SMALL, {}), (LARGE, {}))
    assert (before, after) == (False, True)
    assert len(small.body) < len(SMALL)
    alone = keeping(_settings(tmp_path / "other"))
    alone.plan(WHERE, KEYS, "", SMALL)
    expected = alone.plan(WHERE, KEYS, "", LARGE)
    assert len(expected.body) < len(LARGE)
    assert large.notes == expected.notes
    assert json.loads(large.body) == json.loads(expected.body)


def test_a_session_that_is_switched_off_is_off_in_both(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    off, on = {"x-laconic": "session-off"}, {"x-laconic": "on"}
    plans = _plan(
        keeping(settings),
        partial(keeping, settings),
        (SMALL, off),
        (LARGE, {}),
        (LARGE, on),
        (SMALL, {}),
        (LARGE, off),
        (SMALL, {}),
    )
    assert [plan.off for plan, _ in plans] == [True, True, False, False, True, True]
    assert plans[1][0].body is LARGE, "what was not changed does not travel"


def test_a_process_that_dies_leaves_the_request_as_it_came(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    (large, _), (small, _) = _plan(keeping(settings), dying, (LARGE, {}), (SMALL, {}))
    assert large.body == LARGE
    assert large.failed == "ConnectionError"
    assert len(small.body) < len(SMALL)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def process() -> Iterator[PlannerProcess]:
    made = PlannerProcess(unchanged)
    yield made
    made.end()


def test_one_process_answers_until_it_is_ended(process: PlannerProcess) -> None:
    assert not process.running
    first = process.ask(process_id, seconds=60)
    assert process.ask(process_id, seconds=60) == first != os.getpid()
    process.end()
    assert not process.running
    assert process.ask(process_id, seconds=60) != first


def test_errors_come_back_and_the_process_goes_on(process: PlannerProcess) -> None:
    first = process.ask(process_id, seconds=60)
    with pytest.raises(UsageError, match=r"This is wrong\. Do that\."):
        process.ask(refuse, seconds=60)
    assert process.ask(say, seconds=60) == "answer"
    assert process.ask(process_id, seconds=60) == first


def test_a_process_that_hangs_is_killed_and_replaced(process: PlannerProcess) -> None:
    first = process.ask(process_id, seconds=60)
    with pytest.raises(ConnectionError):
        process.ask(hang, seconds=0.2)
    assert process.ask(process_id, seconds=60) != first


def test_a_process_that_nobody_asks_ends() -> None:
    idle = PlannerProcess(unchanged, idle=0.1)
    idle.ask(process_id, seconds=60)
    while idle.running:
        time.sleep(0.01)
    assert idle.ask(process_id, seconds=60)
    idle.end()


def test_a_large_request_for_which_there_is_no_time_goes_as_it_came_and_later_ones_do_not(tmp_path: Path) -> None:
    """What the process does meanwhile is not lost: the next request finds its decisions."""
    settings = _settings(tmp_path)

    async def work() -> None:
        planning = PlanExecutor(keeping(settings), partial(keeping, settings), wait=0.01)
        patient = PlanExecutor(keeping(settings), wait=300)
        try:
            plan = await planning.plan(WHERE, KEYS, "", LARGE)
            assert (plan.body, plan.failed) == (LARGE, "TimeoutError")
            ledger = LedgerFile.of(settings, LedgerEntry, Branch)
            while not any(ledger.events(name) for name in ledger.sessions()):
                await asyncio.sleep(0.05)
            again = await patient.plan(WHERE, KEYS, "", LARGE)
            assert len(again.body) < len(LARGE)
            assert again.prepared is not None
            assert not again.prepared.made, "nothing was left to decide"
        finally:
            planning.close()
            patient.close()

    asyncio.run(work())


def test_the_first_requests_wait_once_for_what_would_hold_up_streams(tmp_path: Path) -> None:
    """Nothing is prepared for a gateway that nobody uses, and whoever leaves meanwhile takes nothing from the others."""
    ready, calls = threading.Event(), []

    def warm() -> None:
        calls.append(threading.current_thread().name)
        ready.wait(20)

    async def ask(executor: PlanExecutor) -> list[bool]:
        found = [bool(calls)]
        first, second = (asyncio.ensure_future(executor.warm_up()) for _ in range(2))
        await asyncio.sleep(0.05)
        found += [first.done(), second.done()]
        first.cancel()
        await asyncio.wait({first})
        ready.set()
        await asyncio.wait_for(second, 20)
        await executor.warm_up()
        return found

    executor = PlanExecutor(keeping(_settings(tmp_path)), warm=warm)
    try:
        assert asyncio.run(ask(executor)) == [False, False, False]
    finally:
        executor.close()
    assert calls == ["planner_0"]
