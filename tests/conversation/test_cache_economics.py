"""Whether a rewrite could pay at all, asked before it is worked out what could go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from laconic.conversation.cache_economics import BlockSaving, CacheWeights, best_start, could_pay
from laconic.models.model import Price

_PRICE = Price(0.1, 1.25, 300, 1024)
_SIZES = st.lists(
    st.tuples(st.integers(0, 5_000), st.floats(0, 1), st.floats(0, 1)), max_size=30
)  # tokens of a block, the share that it gives, and the share of the rest that it could give at most


@given(_SIZES)
def test_what_cannot_pay_at_most_does_not_pay(sizes: list[tuple[int, float, float]]) -> None:
    savings: list[BlockSaving] = []
    most: list[tuple[float, float]] = []
    behind = 0.0
    for place, (tokens, share, more) in reversed(list(enumerate(sizes))):
        behind += tokens
        given_back = tokens * share
        if given_back:
            savings.insert(0, BlockSaving(given_back, behind, place))
        most.append((tokens, given_back + (tokens - given_back) * more))
    weights = CacheWeights()
    start = best_start(savings, 80, _PRICE, weights, warm=True, payback=8.0)
    assert start is None or could_pay(most, _PRICE, weights, 8.0)


def test_a_large_saving_at_the_end_could_pay_and_a_small_one_in_front_could_not() -> None:
    weights = CacheWeights()
    assert could_pay([(2_000, 1_900), (50_000, 0)], _PRICE, weights, 8.0)
    assert not could_pay([(50_000, 0), (2_000, 2_000)], _PRICE, weights, 8.0)
