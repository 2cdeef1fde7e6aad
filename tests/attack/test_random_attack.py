"""A short attack at random: every law holds. `laconic bench attack` is the long form."""

from __future__ import annotations

import pytest

from laconic.bench.attack import attack, describe


@pytest.mark.parametrize("seed", [1000, 2000, 3000])
def test_every_law_holds_under_a_short_attack(seed: int) -> None:
    tally = attack(seed, 150)
    assert sum(tally.steps.values()) == 150
    assert tally.reduced > 0
    assert [describe(one) for one in tally.first.values()] == []


def test_the_same_seed_gives_the_same_attack() -> None:
    first, second = attack(7, 40), attack(7, 40)
    assert (first.steps, first.broken, first.events) == (second.steps, second.broken, second.events)
