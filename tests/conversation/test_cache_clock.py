"""Warm or cold: by the marks of the request, and by what answers report."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation.sessions import FORMAT, Clock, body, engine, read, run, send, user

from laconic.conversation.cache_clock import CacheClock
from laconic.conversation.engine_options import EngineOptions
from laconic.wire.parsed_request import parse
from laconic.wire.usage import Usage

Json = dict[str, Any]


def _request(ttl: str) -> bytes:
    mark = {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}
    return body([user("go")], system=[{"type": "text", "text": "s", "cache_control": mark}])


@pytest.mark.parametrize(("ttl", "lifetime", "write"), [("", 300, 1.25), ("5m", 300, 1.25), ("1h", 3600, 2.0)])
def test_life_and_write_price_come_from_the_request(ttl: str, lifetime: float, write: float) -> None:
    price = CacheClock().price(parse(FORMAT, _request(ttl)))
    assert (price.lifetime, price.write) == (lifetime, write)


def test_a_miss_within_the_lifetime_shortens_it_and_a_hit_restores_it() -> None:
    clock = CacheClock()
    clock.expect("s", 50_000, 200.0, 300.0)
    clock.observe("a", "s", Usage(cache_read=0, cache_write=50_000))
    assert clock.lifetime("a", 300.0) == 200.0
    assert clock.lifetime("b", 300.0) == 300.0
    clock.expect("s", 50_000, 250.0, 300.0)
    clock.observe("a", "s", Usage(cache_read=49_000, cache_write=500))
    assert clock.lifetime("a", 300.0) == 300.0


def test_a_hit_after_the_lifetime_lengthens_it() -> None:
    clock = CacheClock()
    clock.expect("s", 50_000, 900.0, 300.0)
    clock.observe("a", "s", Usage(cache_read=49_000, cache_write=500))
    assert clock.lifetime("a", 300.0) > 900.0


@pytest.mark.parametrize("usage", [Usage(input=50_000), Usage()])
def test_a_provider_that_reports_no_cache_proves_nothing(usage: Usage) -> None:
    clock = CacheClock()
    clock.expect("s", 50_000, 200.0, 300.0)
    clock.observe("a", "s", usage)
    assert clock.lifetime("a", 300.0) == 300.0


def test_a_miss_after_seconds_says_nothing_about_lifetimes() -> None:
    clock = CacheClock()
    clock.expect("s", 50_000, 3.0, 300.0)
    clock.observe("a", "s", Usage(cache_write=50_000))
    assert clock.lifetime("a", 300.0) == 300.0


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
