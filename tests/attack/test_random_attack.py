"""A short attack at random: every law holds. `laconic bench attack` is the long form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from laconic.conversation.engine import PreparedRequest
from laconic.errors import ArchiveUnavailable
from laconic.exchange.caller import Caller
from laconic.exchange.engine_adapter import PassThroughEngine
from laconic.gateway.planner import GatewayPolicy, Planner
from laconic.records import ArchivedOriginal
from laconic.sessions.archive import Archive
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.turns_and_blocks import At, Change, SetText
from laconic_benchmarks.attack import attack, describe
from laconic_benchmarks.attack.gateways import ARCHIVE, MovedClock
from laconic_benchmarks.attack.world import AttackTally

pytestmark = pytest.mark.feature("X1")


def _broken(tally: AttackTally) -> list[str]:
    return [describe(one) for one in tally.first.values()]


@pytest.mark.parametrize("seed", [1000, 2000, 3000])
def test_every_law_holds_under_a_short_attack(seed: int) -> None:
    tally = attack(seed, 150)
    assert sum(tally.steps.values()) == 150
    assert tally.reduced > 0
    assert _broken(tally) == []


def test_the_newest_exchanges_stay_however_long_the_talk_since() -> None:
    """A walk in which turns without calls make the last but one exchange look old."""
    assert _broken(attack(78_900_045, 202)) == []


def test_the_same_seed_gives_the_same_attack() -> None:
    first, second = attack(7, 40), attack(7, 40)
    assert (first.steps, first.broken, first.events) == (second.steps, second.broken, second.events)


def _unchanged(folder: Path, clock: MovedClock, flags: Mapping[str, object]) -> Planner:
    folder.mkdir(exist_ok=True)
    return Planner(PassThroughEngine(), GatewayPolicy(probe=False), clock)


def test_a_gateway_that_changes_nothing_breaks_no_law() -> None:
    tally = attack(0, 300, _unchanged)
    assert (_broken(tally), tally.reduced) == ([], 0)


class Archiving(PassThroughEngine):
    """Puts every long result but the newest into the archive, and remembers nothing."""

    def __init__(self, archive: Archive, *, forgets: bool = False) -> None:
        self._archive = archive
        self._forgets = forgets

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        results = [
            result
            for exchange in conversation.exchanges[:-2]
            for result in exchange.results
            if result is not None and result.editable and not result.images and len(result.text) >= 400
        ]
        originals = [ArchivedOriginal("", "", b"" if self._forgets else result.raw, "") for result in results]
        try:
            refs = self._archive.put_all(originals)
        except ArchiveUnavailable:
            return PreparedRequest(conversation.body, mode="kept")
        changes: dict[At, Change] = {
            result.at: SetText(f"[laconic recall {ref}]") for result, ref in zip(results, refs, strict=True)
        }
        return PreparedRequest(conversation.emit(changes), mode="window")


@pytest.mark.parametrize("forgets", [False, True], ids=["honest", "forgetful"])
def test_a_gateway_that_archives_what_it_leaves_out_breaks_no_law(forgets: bool) -> None:
    """And one that keeps references to nothing is found out."""

    def build(folder: Path, clock: MovedClock, flags: Mapping[str, object]) -> Planner:
        folder.mkdir(exist_ok=True)
        return Planner(
            Archiving(Archive(folder / ARCHIVE, 10**9), forgets=forgets), GatewayPolicy(probe=False), clock
        )

    tally = attack(3, 150, build)
    assert tally.reduced > 50
    assert tally.faults > 0
    assert set(tally.broken) == ({"lost"} if forgets else set()), _broken(tally)
