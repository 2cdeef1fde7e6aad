"""What clients would have compacted by themselves is not claimed as saved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.conversation.accounting import CacheState, TurnSizes, account
from laconic.conversation.client_compaction import ClientCompaction, PromptSplit, compact_as_client
from laconic.models.find_model import find_model
from laconic.wire.usage import Usage

GPT = find_model("gpt-5").price
LIMIT = 200_000
LOW = ClientCompaction(limit=1_000)


@given(st.lists(st.integers(1, 30_000), min_size=1, max_size=60), st.integers(0, 30_000))
def test_no_prompt_that_would_have_been_is_above_the_limit(growth: list[int], fixed: int) -> None:
    whole, dropped = float(fixed), 0.0
    for more in growth:
        before = whole
        whole += more
        made = compact_as_client(
            PromptSplit(before, more, dropped), fixed=fixed, limit=LIMIT, came=whole, came_before=before
        )
        dropped = made.dropped
        assert 0 <= made.tokens <= max(LIMIT, fixed + 0.05 * LIMIT)
        assert made.tokens <= whole
        assert min(made.warm, made.cold) >= 0


def test_below_the_limit_nothing_is_taken_off() -> None:
    whole = PromptSplit(90_000.0, 10_000.0)
    assert compact_as_client(whole, fixed=5_000, limit=LIMIT, came=2, came_before=1) == whole


def test_a_client_that_began_anew_has_dropped_nothing() -> None:
    whole = PromptSplit(0.0, 10_000.0, dropped=150_000.0)
    assert compact_as_client(whole, fixed=0, limit=LIMIT, came=1, came_before=20).tokens == 10_000


FIXED, STEP = 10_000, 12_000  # tokens before all messages, and of each of 60 calls; we send a sixth of a call


def _claimed(habits: ClientCompaction) -> tuple[float, float]:
    """Tokens and dollars that the account says it would have been without us."""
    state, tokens, dollars = CacheState(), 0.0, 0.0
    for number in range(1, 61):
        prompt = FIXED + STEP // 6 * number
        read = prompt - STEP // 6 if number > 1 else 0
        size = TurnSizes(
            usage=Usage(input=prompt - read, cache_read=read, output=100),
            came=FIXED + STEP * number,
            went=prompt,
            fixed=FIXED / prompt,
            at=float(number),
            compaction=habits,
        )
        cost, state = account(size, state, GPT)
        tokens += cost.tokens_without
        dollars += cost.dollars_without
    return tokens, dollars


def _alone(limit: float, kept: float, *, late: bool = False) -> tuple[float, float]:
    """The same 60 calls by the client alone, which keeps so many tokens when it compacts."""
    prompt, warm, tokens, dollars = float(FIXED), 0.0, 0.0, 0.0
    for _ in range(60):
        judged = prompt if late else prompt + STEP
        prompt += STEP
        if limit and judged > limit:
            prompt, warm = FIXED + kept, FIXED
        tokens += prompt
        dollars += GPT.prompt_dollars(plain=prompt - warm, read=warm, write=0, hour=0) + GPT.output_dollars(
            100, prompt
        )
        warm = prompt
    return tokens, dollars


def test_without_a_limit_the_account_is_what_the_client_alone_would_have_sent() -> None:
    assert _claimed(ClientCompaction()) == pytest.approx(_alone(0.0, 0.0), rel=0.005)


@pytest.mark.parametrize("limit", [120_000, 200_000, 244_800])
@pytest.mark.parametrize("kept", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("late", [False, True])
def test_with_one_it_is_never_more_than_that(limit: float, kept: float, late: bool) -> None:
    """However much of its history the client keeps when it compacts."""
    claimed, true = _claimed(ClientCompaction(limit=limit, late=late)), _alone(limit, kept * limit, late=late)
    sent = sum(FIXED + STEP // 6 * number for number in range(1, 61))
    assert 1 - sent / claimed[0] <= 1 - sent / true[0] + 0.01
    assert claimed[1] <= 1.01 * true[1]
    assert claimed[0] < 0.7 * _claimed(ClientCompaction())[0]


HABITS = [
    ClientCompaction(limit=200_000, keeps_turns=1, summarises=1.0),
    ClientCompaction(limit=244_800, summarises=1.0),
    ClientCompaction(limit=168_000, late=True, keeps_turns=2, summarises=0.08),
]


def _play(habits: ClientCompaction, calls: int, less: float) -> list[TurnSizes]:
    """The requests of a client with these habits, when this share of every call is sent on."""
    turns: list[TurnSizes] = []

    def send(history: float, warm: float) -> None:
        went = FIXED + less * history
        read = round(warm) // 128 * 128  # as providers give it back
        usage = Usage(input=round(went) - read, cache_read=read, output=100)
        share = FIXED / went
        turns.append(TurnSizes(usage, FIXED + history, went, fixed=share, at=float(len(turns)), compaction=habits))

    history, warm = 0.0, 0.0
    for number in range(calls):
        prompt = FIXED + less * (history if habits.late else history + STEP)
        if prompt > habits.limit:
            if habits.keeps_turns == 0:
                send(history + STEP, warm)
            elif habits.summarises == 1.0:
                send(history, FIXED + less * (history - STEP))
            else:
                cold = habits.summarises * (FIXED + less * history)
                turns.append(TurnSizes(Usage(input=round(cold)), cold, cold, at=-1.0))
            history, warm = 1_000.0 + STEP * (habits.keeps_turns - 1), float(FIXED)
        history += STEP
        send(history, warm if number else 0.0)
        warm = FIXED + less * history
    return turns


def _pay(turns: list[TurnSizes]) -> tuple[float, float]:
    """What was paid, and what the account says it would have been without us."""
    state, paid, without = CacheState(), 0.0, 0.0
    for size in turns:
        if size.at < 0:
            state = CacheState()
        cost, state = account(size, state, GPT)
        if size.at < 0:
            state = CacheState()
        paid, without = paid + cost.dollars, without + cost.dollars_without
    return paid, without


@pytest.mark.parametrize("habits", HABITS, ids=["keeps one turn", "keeps none", "summarises a short form"])
@pytest.mark.parametrize("less", [0.15, 0.5, 0.52, 0.7, 0.9])
@pytest.mark.parametrize("calls", [30, 59, 90])
def test_what_a_client_asks_for_and_keeps_is_part_of_what_it_would_have_cost(
    habits: ClientCompaction, less: float, calls: int
) -> None:
    """Also where it compacts its history with us too, but later. With a summary on the side a new session begins."""
    (true, same), (paid, claimed) = _pay(_play(habits, calls, 1.0)), _pay(_play(habits, calls, less))
    assert true == same
    assert 1 - paid / claimed <= 1 - paid / true + 0.01
    if habits.summarises == 1.0 or less < 0.5:
        assert 1 - paid / claimed >= 1 - paid / true - 0.03


@given(
    st.lists(st.tuples(st.integers(1, 400_000), st.integers(0, 400_000)), min_size=1, max_size=8),
    st.sampled_from([LOW, *HABITS]),
)
def test_where_nothing_was_changed_both_figures_are_equal_whatever_the_client_does(
    usages: list[tuple[int, int]], habits: ClientCompaction
) -> None:
    """Also when its history is suddenly short."""
    state = CacheState()
    for tokens, read in usages:
        usage = Usage(input=tokens, cache_read=read)
        cost, state = account(TurnSizes(usage, usage.prompt, usage.prompt, compaction=habits), state, GPT)
        assert cost.tokens_without == tokens + read
        assert cost.dollars == cost.dollars_without
        assert state.even


def test_a_compaction_that_the_client_really_makes_counts_on_both_sides() -> None:
    """With us it comes at the same request as without, or later: the summary is asked for once on either side."""
    for less, again in ((0.995, 0.995), (0.995, 1.0), (0.8, 0.8)):  # behind the compaction nothing may be left out
        state, bills = CacheState(), [0.0, 0.0, 0.0]  # with us, without us as claimed, and the client alone
        prompts = [*range(20_000, 245_001, 5_000), *range(20_000, 100_001, 5_000)]
        before = 0
        for number, prompt in enumerate(prompts):
            asks_for_summary = prompt == 245_000
            read = before if prompt > before and not asks_for_summary else 0
            share = less if number < 46 else again
            size = TurnSizes(
                usage=Usage(input=round(share * (prompt - read)), cache_read=round(share * read)),
                came=prompt,
                went=share * prompt,
                at=float(number),
                compaction=ClientCompaction(limit=239_000.0, late=True),
            )
            cost, state = account(size, state, GPT)
            bills[0] += cost.dollars
            bills[1] += cost.dollars_without
            bills[2] += GPT.prompt_dollars(plain=prompt - read, read=read, write=0, hour=0)
            before = prompt
        claimed, true = 1 - bills[0] / bills[1], 1 - bills[0] / bills[2]
        assert true - 0.06 < claimed <= true + 0.01


def test_a_client_that_goes_by_the_last_answer_sends_one_prompt_above_the_limit_whole() -> None:
    long = PromptSplit(190_000.0, 20_000.0)
    first = compact_as_client(long, fixed=9_000, limit=LIMIT, came=210, came_before=190, reported=190_000.0)
    assert first == long
    longer = PromptSplit(210_000.0, 20_000.0)
    second = compact_as_client(longer, fixed=9_000, limit=LIMIT, came=230, came_before=210, reported=210_000.0)
    assert second.tokens == 9_000 + 0.05 * LIMIT
    third = PromptSplit(230_000.0, 20_000.0, second.dropped)
    after = compact_as_client(third, fixed=9_000, limit=LIMIT, came=250, came_before=230, reported=second.tokens)
    assert after.tokens == second.tokens + 20_000
