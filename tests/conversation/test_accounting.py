"""The account of a turn: the law that nothing changed is nothing claimed, and what is claimed where something was."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.conversation.accounting import (
    Bill,
    CacheState,
    CountComparison,
    PromptTokens,
    TurnCost,
    TurnSizes,
    account,
    describe,
    estimate_prompt,
)
from laconic.models.find_model import find_model
from laconic.models.model import Price
from laconic.models.prices_and_windows import FAMILIES, UNKNOWN
from laconic.wire.usage import Usage

SONNET = find_model("claude-sonnet-4-5").price
DOLLARS = 3e-6  # for a token
_TOKENS = st.integers(0, 400_000)


@st.composite
def _usages(draw: st.DrawFn) -> Usage:
    written = draw(_TOKENS)
    return Usage(
        input=draw(_TOKENS),
        cache_read=draw(_TOKENS),
        cache_write=written,
        output=draw(_TOKENS),
        long=draw(st.integers(0, written)),
        estimated=draw(st.booleans()),
    )


_PRICES = [model.price for family in FAMILIES for model in family.models if model.price is not None]
_MODELS = st.sampled_from([*_PRICES, UNKNOWN])
_TURNS = st.lists(st.tuples(_usages(), st.integers(0, 10**7), st.floats(0, 10_000), st.booleans()), max_size=12)


@pytest.mark.feature("X3")
@given(_TURNS, _MODELS)
def test_nothing_was_changed_and_both_figures_are_equal(
    turns: list[tuple[Usage, int, float, bool]], price: Price
) -> None:
    """Whatever a provider reports, warm or cold, after any pause, in any order, also when a process ends in between."""
    standing, now = CacheState(), 0.0
    for usage, size, pause, restart in turns:
        now += pause
        cost, standing = account(TurnSizes(usage=usage, came=size, went=size, at=now), standing, price)
        assert cost.tokens_without == usage.prompt
        assert cost.dollars_without == cost.dollars
        assert standing.even
        if restart:
            standing = CacheState.read(cost.row(standing)["standing"])


_CHANGED = st.tuples(
    _usages(),
    st.integers(1, 10**7),
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
    st.booleans(),
    st.floats(0, 9_999),
)


@given(st.lists(_CHANGED, max_size=12), _MODELS)
def test_whatever_is_changed_the_figures_stay_in_bounds(
    turns: list[tuple[Usage, int, float, float, bool, bool, float]], price: Price
) -> None:
    """Without us a prompt has as many more tokens as it has more bytes, and none of them costs more than the dearest."""
    standing, now = CacheState(), 0.0
    dearest = max(price.write, price.hour, price.plain)
    for usage, came, kept, ours, rewritten, recall, pause in turns:
        now += pause
        exchange = TurnSizes(
            usage=usage,
            came=came,
            went=max(1.0, kept * came),
            ours=ours * kept * came,
            rewritten=rewritten,
            recall=recall,
            at=now,
        )
        cost, standing = account(exchange, standing, price)
        whole = 0.0 if recall else usage.prompt * (came - exchange.ours) / exchange.went
        if exchange.unchanged and standing.even and not recall:
            whole = usage.prompt
        assert cost.tokens_without == pytest.approx(whole, rel=1e-6, abs=1e-3)
        dollar = (price.dollars or 0.0) / 1e6
        most = max(price.above_input, 1.0) * dearest * dollar * whole
        answer = 0.0 if recall else max(price.above_output, 1.0) * price.output * dollar * usage.output
        assert -1e-9 <= cost.dollars_without <= (most + answer) * 1.000001 + 1e-9
        assert standing.cached_without >= 0


def _account(*turns: TurnSizes, price: Price = SONNET) -> tuple[list[TurnCost], CacheState]:
    standing, costs = CacheState(), []
    for turn in turns:
        cost, standing = account(turn, standing, price)
        costs.append(cost)
    return costs, standing


def test_what_was_left_out_on_entry_would_have_been_written_once_and_read_ever_after() -> None:
    """2,000 tokens of which 1,000 are left out when they come: a write saved, then a read in each turn."""
    costs, _ = _account(
        TurnSizes(Usage(0, 0, 1_000, 0), came=4_000, went=4_000),
        TurnSizes(Usage(0, 1_000, 1_000, 0), came=12_000, went=8_000),
        TurnSizes(Usage(0, 2_000, 100, 0), came=12_400, went=8_400),
    )
    assert [cost.tokens_without for cost in costs] == [1_000, 3_000, 3_100]
    saved = [(cost.dollars_without - cost.dollars) / DOLLARS for cost in costs]
    assert saved == pytest.approx([0, 1.25 * 1_000, 0.1 * 1_000])


def test_a_cache_that_is_cold_for_us_would_have_been_cold_without_us() -> None:
    """After a pause the provider reads nothing: everything would have been written anew."""
    costs, _ = _account(
        TurnSizes(Usage(0, 0, 1_000, 0), came=8_000, went=4_000),
        TurnSizes(Usage(0, 0, 1_000, 0), came=8_000, went=4_000, at=5_000),
    )
    assert costs[1].dollars_without == pytest.approx(1.25 * 2_000 * DOLLARS)


def test_our_own_rewrite_is_a_cost_of_ours() -> None:
    """We cut 5,000 of 10,000 tokens in a warm history: what is behind is written anew, without us it was warm."""
    first = TurnSizes(Usage(0, 0, 10_000, 0), came=40_000, went=40_000)
    event = TurnSizes(Usage(0, 1_000, 4_000, 0), came=40_000, went=20_000, rewritten=True, at=60)
    after = TurnSizes(Usage(0, 5_000, 0, 0), came=40_000, went=20_000, at=120)
    costs, _ = _account(first, event, after)
    assert costs[1].dollars == pytest.approx((0.1 * 1_000 + 1.25 * 4_000) * DOLLARS)
    assert costs[1].dollars_without == pytest.approx(0.1 * 10_000 * DOLLARS)
    assert costs[2].dollars_without == pytest.approx(0.1 * 10_000 * DOLLARS)
    assert sum(cost.dollars_without - cost.dollars for cost in costs) < 0


@pytest.mark.parametrize(("pause", "warm"), [(200, True), (400, False), (3_000, False)])
def test_a_rewrite_in_a_pause_is_free(pause: float, warm: bool) -> None:
    """The cache lives five minutes: what we rewrite after that would have been written anew as well."""
    first = TurnSizes(Usage(0, 0, 10_000, 0), came=40_000, went=40_000)
    event = TurnSizes(Usage(0, 0, 5_000, 0), came=40_000, went=20_000, rewritten=True, at=pause)
    costs, _ = _account(first, event)
    assert costs[1].dollars_without == pytest.approx((0.1 if warm else 1.25) * 10_000 * DOLLARS)


def test_a_cache_for_an_hour_is_warm_after_ten_minutes() -> None:
    first = TurnSizes(Usage(0, 0, 10_000, 0, long=10_000), came=40_000, went=40_000)
    event = TurnSizes(Usage(0, 0, 5_000, 0, long=5_000), came=40_000, went=20_000, rewritten=True, at=600)
    costs, _ = _account(first, event)
    assert costs[0].dollars == costs[0].dollars_without == pytest.approx(2 * 10_000 * DOLLARS)
    assert costs[1].dollars_without == pytest.approx(0.1 * 10_000 * DOLLARS)


def test_a_client_that_shortens_its_history_did_so_without_us_too() -> None:
    """After its compaction the fixed part is warm, for us and without us; the rest is new on both sides."""
    costs, _ = _account(
        TurnSizes(Usage(0, 0, 10_000, 0), came=60_000, went=40_000, fixed=0.1),
        TurnSizes(Usage(0, 1_000, 2_000, 0), came=12_000, went=12_000, fixed=0.34),
    )
    assert costs[1].dollars_without == pytest.approx(costs[1].dollars)


def test_a_client_that_writes_its_history_anew_did_so_without_us_too() -> None:
    """As Gemini CLI does when it resumes: what we had left out is there again, in a history that nobody had cached."""
    first = TurnSizes(Usage(10_000, 0, 0, 0), came=14_000, went=10_000, fixed=0.3)
    again = TurnSizes(Usage(12_000, 3_000, 0, 0), came=15_000, went=15_000, fixed=0.2, anew=True, at=60)
    price = find_model("gemini-2.5-pro").price
    costs, _ = _account(first, again, price=price)
    assert costs[1].dollars_without == pytest.approx(costs[1].dollars)


def test_what_was_left_out_behind_the_end_of_a_cache_would_have_been_cold_too() -> None:
    """A client changes a call of its last request: the cache ends before it, and the result behind it is new again."""
    costs, standing = _account(
        TurnSizes(Usage(10_000, 0, 0, 0), came=10_000, went=10_000),
        TurnSizes(Usage(100, 10_000, 0, 0), came=17_100, went=10_100),  # 7,000 are left out of a result
        TurnSizes(Usage(1_100, 10_000, 0, 0), came=18_100, went=11_100),
        TurnSizes(Usage(100, 11_100, 0, 0), came=18_200, went=11_200),
        price=find_model("gemini-2.5-pro").price,
    )
    tokens = 1.25e-6
    assert costs[2].dollars_without == pytest.approx((0.1 * 10_000 + 8_100) * tokens)
    assert costs[3].dollars_without == pytest.approx((0.1 * 18_100 + 100) * tokens)
    assert standing.steps == ((10_000, 0), (11_200, 7_000))


def test_a_cache_that_ends_within_what_was_changed_claims_the_lower_figure() -> None:
    """Whether the result of which 7,000 tokens were left out was warm cannot be known."""
    costs, _ = _account(
        TurnSizes(Usage(10_000, 0, 0, 0), came=10_000, went=10_000),
        TurnSizes(Usage(1_000, 10_000, 0, 0), came=18_000, went=11_000),
        TurnSizes(Usage(600, 10_500, 0, 0), came=18_100, went=11_100),
        price=find_model("gemini-2.5-pro").price,
    )
    assert costs[2].dollars_without == pytest.approx((0.1 * 17_500 + 600) * 1.25e-6)


@pytest.mark.parametrize(
    "changed",
    [
        TurnSizes(Usage(1_100, 10_000, 0, 0), came=18_100, went=11_100, anew=True),
        TurnSizes(Usage(1_100, 10_000, 0, 0), came=18_100, went=11_100, rewritten=True),
        TurnSizes(Usage(500, 9_000, 0, 0), came=16_500, went=9_500),
    ],
    ids=["the client changed it", "we changed it", "it is shorter"],
)
def test_a_changed_history_forgets_what_was_removed_from_the_earlier_one(changed: TurnSizes) -> None:
    _, standing = _account(
        TurnSizes(Usage(10_000, 0, 0, 0), came=10_000, went=10_000),
        TurnSizes(Usage(100, 10_000, 0, 0), came=17_100, went=10_100),
        changed,
        price=find_model("gemini-2.5-pro").price,
    )
    assert len(standing.steps) == 1


def test_a_long_session_remembers_a_bounded_number_of_steps() -> None:
    turns = [
        TurnSizes(Usage(100, 1_000 * turn), came=2_000 * turn + 100, went=1_000 * turn + 100) for turn in range(40)
    ]
    _, standing = _account(*turns, price=find_model("gemini-2.5-pro").price)
    assert len(standing.steps) == 16
    assert CacheState.read(msgspec.json.encode(standing)) == standing


def test_switching_off_brings_back_what_was_left_out_at_our_expense() -> None:
    """The history as it came was never cached with us: it is written now, and would have been read."""
    costs, standing = _account(
        TurnSizes(Usage(0, 0, 1_000, 0), came=8_000, went=4_000),
        TurnSizes(Usage(0, 0, 2_000, 0), came=8_000, went=8_000, at=60),
        TurnSizes(Usage(0, 2_000, 100, 0), came=8_400, went=8_400, at=90),
    )
    assert costs[1].dollars_without == pytest.approx(0.1 * 2_000 * DOLLARS)
    assert costs[1].dollars == pytest.approx(1.25 * 2_000 * DOLLARS)
    assert costs[2].dollars == costs[2].dollars_without
    assert standing.even


def test_a_session_that_goes_on_after_its_standing_was_lost_claims_no_cold_start() -> None:
    """R of our prompt was warm: so was what stands in its place without us."""
    (cost,), _ = _account(TurnSizes(Usage(0, 10_000, 100, 0), came=80_800, went=40_400))
    assert cost.dollars_without == pytest.approx((0.1 * 20_100 + 1.25 * 100) * DOLLARS, rel=0.01)


def test_an_automatic_cache_reads_what_was_sent_before() -> None:
    """OpenAI reports no writes, and reads in steps of 128 tokens."""
    price = find_model("gpt-5").price
    costs, _ = _account(
        TurnSizes(Usage(10_000, 0, 0, 0), came=80_000, went=40_000),
        TurnSizes(Usage(1_016, 9_984, 0, 0), came=84_000, went=44_000, at=30),
        price=price,
    )
    assert costs[1].tokens_without == 21_000
    saved = (costs[1].dollars_without - costs[1].dollars) * 1e6 / 1.25
    assert saved == pytest.approx(0.1 * 10_000, rel=0.02)


def test_without_a_cache_every_token_costs_the_same() -> None:
    costs, _ = _account(*[TurnSizes(Usage(1_000, 0, 0, 10), came=3_000, went=1_500)] * 2)
    assert [cost.tokens_without for cost in costs] == [2_000, 2_000]
    assert sum(cost.dollars_without for cost in costs) == pytest.approx((4_000 + 5 * 20) * DOLLARS)


def test_a_prompt_above_the_limit_of_a_tier_costs_more_as_a_whole() -> None:
    """272,000 tokens with GPT-5.4: below with us, above without us."""
    (cost,), _ = _account(
        TurnSizes(Usage(200_000, 0, 0, 1_000), came=400, went=200), price=find_model("gpt-5.4").price
    )
    assert cost.dollars == pytest.approx((2.5 * 200_000 + 15 * 1_000) / 1e6)
    assert cost.dollars_without == pytest.approx((5 * 400_000 + 22.5 * 1_000) / 1e6)


def test_another_model_of_the_cache_can_take_its_place() -> None:
    """A simulation of a provider says what the prompt without us would have been made of."""
    exchange = TurnSizes(Usage(0, 0, 1_000, 0), came=8_000, went=4_000)
    cost, standing = account(exchange, CacheState(), SONNET, lambda *_: PromptTokens(plain=7, read=500))
    assert (cost.tokens_without, standing.cached_without) == (507, 500)


def test_an_estimated_prompt_is_not_taken_for_cold() -> None:
    """Nothing was reported: what was cached a minute ago is taken as read, and claims the lower saving."""
    _, standing = _account(TurnSizes(Usage(0, 0, 10_000, 0), came=40_000, went=40_000))
    assert estimate_prompt(10_100, standing, SONNET, 60.0) == Usage(100, 10_000, estimated=True)
    assert estimate_prompt(10_100, standing, SONNET, 600.0) == Usage(10_100, estimated=True)


def _bill(*costs: TurnCost) -> Bill:
    bill = Bill()
    for cost in costs:
        bill.add(cost)
    return bill


def test_amounts_that_are_printed_alike_are_printed_once() -> None:
    (cost,), _ = _account(TurnSizes(Usage(50, output=5), came=50.4, went=50))
    assert describe(_bill(cost)) == "50 prompt tokens, 5 output tokens; $0.0002, $0.0001 of it for output"


def test_a_bill_in_words() -> None:
    """Nothing is claimed where nothing was changed; a loss is shown; what is not known is not invented."""
    (same, smaller), _ = _account(
        TurnSizes(Usage(1_000_000, 0, 0, 10_000), came=8, went=8), TurnSizes(Usage(500_000, 0, 0, 0), came=8, went=4)
    )
    assert describe(Bill()) == "no answer reported its usage"
    assert describe(_bill(same)) == ("1,000,000 prompt tokens, 10,000 output tokens; $3.15, $0.15 of it for output")
    assert describe(_bill(same, smaller)) == (
        "1,500,000 prompt tokens instead of about 2,000,000 (25% fewer), 10,000 output tokens; "
        "$4.65 instead of about $6.15, $0.15 of it for output"
    )
    unknown, _ = account(TurnSizes(Usage(1_000, output=7, estimated=True), came=8, went=4), CacheState(), UNKNOWN)
    assert describe(_bill(unknown)) == (
        "about 1,000 prompt tokens instead of about 2,000 (50% fewer), about 7 output tokens; "
        "price unknown (set `prices`)"
    )
    assert describe(_bill(same, unknown)).endswith("$0.15 of it for output; price unknown for 1,007 tokens")
    assert describe(_bill(same) + _bill(unknown)) == describe(_bill(same, unknown))


def test_counts_are_compared_on_the_text_that_a_session_grew_by() -> None:
    """What a provider adds to every prompt, and a rewrite, say nothing about its tokenizer."""
    counts = CountComparison()
    assert counts.ratio == 1.0
    counts = counts.add(10_000, 12_000, rewritten=False)
    assert counts.ratio == pytest.approx(1.2), "until the session has grown, what is known of its first prompt"
    counts = counts.add(14_000, 16_400, rewritten=False)
    assert counts.ratio == pytest.approx(1.1)
    for ours, theirs, rewritten in ((14_100, 16_700, False), (6_000, 9_000, True), (30_000, 90_000, True)):
        counts = counts.add(ours, theirs, rewritten=rewritten)
        assert counts.ratio == pytest.approx(1.1)
    counts = counts.add(34_000, 94_000, rewritten=False)
    assert counts.ratio == pytest.approx(8_400 / 8_000)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.booleans()), max_size=9))
def test_a_ratio_of_counts_stays_believable(prompts: list[tuple[int, int, bool]]) -> None:
    counts = CountComparison()
    for ours, theirs, rewritten in prompts:
        counts = counts.add(ours, theirs, rewritten=rewritten)
        assert 0.5 <= counts.ratio <= 2.0
