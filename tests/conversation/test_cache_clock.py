"""Warm or cold: by the marks of the request, and by what answers report."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation.sessions import FORMAT, Clock, body, code, engine, read, run, send, user

from laconic.conversation.cache_clock import CacheClock, is_warm, price_of
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryStore
from laconic.conversation.ledger import Branch
from laconic.wire.parsed_request import parse
from laconic.wire.usage import Usage

Json = dict[str, Any]


def _request(ttl: str) -> bytes:
    mark = {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}
    return body([user("go")], system=[{"type": "text", "text": "s", "cache_control": mark}])


@pytest.mark.parametrize(("ttl", "lifetime", "write"), [("", 300, 1.25), ("5m", 300, 1.25), ("1h", 3600, 2.0)])
def test_life_and_write_price_come_from_the_request(ttl: str, lifetime: float, write: float) -> None:
    price = price_of(parse(FORMAT, _request(ttl)))
    assert (price.lifetime, price.write) == (lifetime, write)


def _branch(*, lifetime: float = 300.0, learned: float = 0.0) -> Branch:
    return Branch(id=1, tip="", count=1, time=1000.0, start=0, basis=0, lifetime=lifetime, learned=learned)


@pytest.mark.parametrize(
    ("pause", "learned", "usage", "found"),
    [
        (200.0, 0.0, Usage(cache_read=0, cache_write=50_000), 200.0),  # gone within its life
        (250.0, 200.0, Usage(cache_read=49_000, cache_write=500), 300.0),  # there again, after more than was believed
        (900.0, 0.0, Usage(cache_read=49_000, cache_write=500), 901.0),
        (200.0, 0.0, Usage(cache_read=49_000, cache_write=500), None),
        (200.0, 0.0, Usage(input=50_000), None),  # a provider that reports no cache proves nothing
        (200.0, 0.0, Usage(), None),
        (3.0, 0.0, Usage(cache_write=50_000), None),  # a miss after seconds says nothing about lifetimes
    ],
)
def test_an_answer_corrects_the_lifetime(pause: float, learned: float, usage: Usage, found: float | None) -> None:
    clock = CacheClock()
    clock.expect("s", 50_000, 1000.0 + pause, _branch(learned=learned))
    assert clock.learn("s", usage) == found


def test_what_an_answer_showed_is_in_the_ledger() -> None:
    """A process that never saw the answer knows it too, also after the next request."""
    time, store = Clock(), MemoryStore()
    one = engine(clock=time, store=store)
    messages = [user("go"), *read("big", "src/big.py", code("big", 400))]
    send(one, messages)
    time.now += 100
    messages += run("a", "ls", "x")
    sent = send(one, messages)
    assert is_warm(store.state("session")[1][0], time.now + 150)
    one.observe("a", Usage(cache_read=0, cache_write=sent.tokens), None, session="session")
    assert not is_warm(store.state("session")[1][0], time.now + 150)
    send(engine(clock=time, store=store), [*messages, *run("b", "ls", "y")])
    assert not is_warm(store.state("session")[1][0], time.now + 150)


def _session() -> list[Json]:
    """Old output that is worth leaving out, but not at the price of a warm cache."""
    messages = [user("go")]
    for number in range(30):
        log = "\n".join(f"{number} {row} value {row * 7919 % 104729}" for row in range(60 if number < 4 else 4))
        messages += run(f"r{number}", f"./job{number}", log)
        messages += read(f"f{number}", f"src/f{number}.py", f"def f{number}():\n    return {number}")
    return messages


@pytest.mark.parametrize(("ttl", "pause", "acts"), [("5m", 60, False), ("5m", 1200, True), ("1h", 1200, False)])
def test_a_cold_moment_is_used_and_a_warm_cache_is_kept(ttl: str, pause: float, acts: bool) -> None:
    time = Clock()
    one = engine(EngineOptions(), clock=time)
    marked: Json = {"system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": ttl}}]}
    messages = _session()
    send(one, messages[:-4], **marked)
    time.now += pause
    assert bool(send(one, messages, **marked).mode) == acts
