"""How many sessions are kept in memory: a matter of CPU and memory, never of what is sent."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.conversation.sessions import FORMAT, Clock, body, code, engine, read, run, user

from laconic.config import load
from laconic.conversation.engine_options import EngineOptions, options_from
from laconic.conversation.in_memory import MemoryStore
from laconic.conversation.ledger import LedgerEntry
from laconic.errors import BadSetting
from laconic.exchange.exchange_parts import engine_options
from laconic.wire.parsed_request import parse


class WatchedStore(MemoryStore):
    """Knows which sessions were read from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.read_whole: list[str] = []

    def events(self, session: str, since: int) -> Sequence[LedgerEntry]:
        if since == 0:
            self.read_whole.append(session)
        return super().events(session, since)


def _take_turns(options: EngineOptions) -> tuple[list[bytes], list[str]]:
    """Three sessions that ask one after the other: what is sent, and which were read again after their first events."""
    store, clock = WatchedStore(), Clock()
    one = engine(options, store=store, clock=clock)
    sent: list[bytes] = []
    histories = {name: [user(f"Look around in {name}.")] for name in ("a", "b", "c")}
    for number in range(40):
        clock.now += 10
        for name, messages in histories.items():
            messages += read(f"r{number}", f"src/{name}{number}.py", code(f"{name}{number}"))
            messages += run(f"c{number}", f"make {name}{number}", "done")
            sent.append(one.prepare(name, parse(FORMAT, body(messages))).body)
    return sent, store.read_whole


def test_sessions_beyond_the_bound_are_read_again_and_sent_alike() -> None:
    few, read_again = _take_turns(EngineOptions(live_sessions=2))
    many, read_once = _take_turns(EngineOptions(live_sessions=3))
    assert few == many
    assert not read_once
    assert len(read_again) > 30


def test_a_team_keeps_more_sessions_than_one_user() -> None:
    alone = engine_options(load(environ={}))
    team = engine_options(load({"store": "postgresql://laconic@db/laconic"}, environ={}))
    chosen = engine_options(
        load({"store": "postgresql://laconic@db/laconic", "context.live_sessions": "12"}, environ={})
    )
    assert (alone.live_sessions, team.live_sessions, chosen.live_sessions) == (8, 200, 12)


def test_the_library_keeps_as_many_as_one_user() -> None:
    assert options_from(load(environ={})).live_sessions == EngineOptions().live_sessions


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(BadSetting, match="live_sessions"):
        load({"context.live_sessions": "-1"}, environ={})
