"""Quota and thinking."""

from __future__ import annotations

import pytest
from tests.conversation.sessions import FORMAT, Clock, body, count, engine, long_session, opened, send, user

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.quota import Quota, thinking
from laconic.wire.limits import RateLimits
from laconic.wire.parsed_request import parse
from laconic.wire.usage import Usage


def test_the_window_is_a_real_minute() -> None:
    clock = Clock()
    quota = Quota(clock, 10_000)
    quota.spend(Usage(6_000))
    clock.now += 59
    assert quota.left == 4_000
    clock.now += 2
    assert quota.left == 10_000


def test_what_the_provider_says_counts_until_it_is_reset() -> None:
    clock = Clock()
    quota = Quota(clock)
    assert not quota.known
    quota.told(RateLimits(tokens=50_000, tokens_left=1_000, tokens_reset=5.0))
    quota.spend(Usage(200))
    clock.now += 1
    quota.spend(Usage(300))
    assert quota.left == 700
    clock.now += 5
    assert quota.left == 50_000 - 500


def test_what_a_cache_gave_is_not_spent_where_the_provider_does_not_count_it() -> None:
    for cached, left in ((True, 10_000 - 5_150), (False, 10_000 - 1_150)):
        quota = Quota(Clock(), 10_000)
        quota.cached = cached
        quota.spend(Usage(input=600, cache_read=4_000, cache_write=500, output=50))
        assert quota.left == left


def test_output_is_not_spent_where_it_has_a_limit_of_its_own() -> None:
    clock = Clock()
    quota = Quota(clock)
    quota.told(RateLimits(tokens=50_000, tokens_left=1_000, input_only=True))
    clock.now += 1
    quota.spend(Usage(input=300, output=2_000))
    assert quota.left == 700
    assert quota.output(32_000) == 0


@pytest.mark.feature("S3")
@pytest.mark.parametrize(("model", "mode"), [("claude-sonnet-4-5", ""), ("claude-3-5-haiku-latest", "survival")])
def test_a_prompt_that_the_cache_holds_is_no_reason_to_survive(model: str, mode: str) -> None:
    """Rewriting it would spend what reading it does not."""
    one = engine(EngineOptions(economic=False))
    messages = long_session(40)
    first = send(one, messages, RequestLimits(account="acc"), model=model)
    one.observe(
        "acc", Usage(input=500, cache_read=first.tokens - 500), RateLimits(tokens_left=12_000, input_only=True)
    )
    sent = send(one, [*messages, user("go on")], RequestLimits(account="acc"), model=model)
    assert sent.tokens > 12_000 or mode
    assert sent.mode == mode


@pytest.mark.feature("S3")
def test_survival_comes_before_everything_and_asks_no_price() -> None:
    clock = Clock()
    one = engine(EngineOptions(economic=False, least_turns=1000), clock=clock)
    messages = long_session(40)
    whole = send(one, messages)
    one.quota("acc", 12_000)
    one.observe("acc", Usage(input=4_000, output=100), None)
    sent = send(one, [*messages, user("go on")], RequestLimits(account="acc"))
    assert sent.mode == "survival"
    assert sent.tokens + 1000 <= 12_000 - 4_100
    assert len(sent.body) < len(whole.body)
    assert opened(sent).faults() == []


@pytest.mark.feature("S8")
@pytest.mark.parametrize(("left", "wanted"), [(1_000_000, None), (300_000, 16_000), (150_000, 8_192), (0, 8_192)])
def test_thinking_follows_what_is_left(left: int, wanted: int | None) -> None:
    found = thinking(left, 32_000, "anthropic", in_loop=False)
    assert (found.budget if found else None) == wanted


@pytest.mark.feature("S8")
def test_thinking_never_falls_below_the_providers_least_nor_changes_in_a_tool_loop() -> None:
    assert thinking(0, 1_024, "anthropic", in_loop=False) is None
    assert thinking(0, 32_000, "anthropic", in_loop=True) is None


@pytest.mark.feature("S8")
@pytest.mark.parametrize(
    ("name", "fields", "wanted"),
    [
        ("anthropic", b'"thinking":{"type":"enabled","budget_tokens":32000}', b'"budget_tokens":8192'),
        ("responses", b'"reasoning":{"effort":"high"}', b'"effort":"low"'),
        ("chat", b'"reasoning_effort":"high"', b'"reasoning_effort":"low"'),
        ("gemini", b'"generationConfig":{"thinkingConfig":{"thinkingBudget":30000}}', b'"thinkingBudget":8192'),
    ],
)
def test_each_provider_is_asked_for_less_in_its_own_words(name: str, fields: bytes, wanted: bytes) -> None:
    from laconic.wire.formats import format_named

    lists = {
        "anthropic": b'"messages":[{"role":"user","content":"go"}]',
        "chat": b'"messages":[{"role":"user","content":"go"}]',
        "responses": b'"input":[{"type":"message","role":"user","content":"go"}]',
        "gemini": b'"contents":[{"role":"user","parts":[{"text":"go"}]}]',
    }
    one = ConversationEngine(MemoryStore(), MemoryArchive(), Clock(), count)
    one.quota("acc", 100_000)
    raw = b'{"model":"m",' + fields + b"," + lists[name] + b"}"
    sent = one.prepare("s", parse(format_named(name), raw), RequestLimits(account="acc"))
    assert wanted in sent.body
    assert sent.thinking == 8192


@pytest.mark.feature("P4")
def test_the_budget_that_the_model_sees_stands_at_the_end() -> None:
    one = engine(EngineOptions(meta=True))
    messages = [user("hello")]
    sent = opened(send(one, messages, RequestLimits(window=200_000)))
    assert sent.turns[-1].blocks[0].text.startswith("[context ")
    assert "of 200k tokens" in sent.turns[-1].blocks[0].text
    plain = engine().prepare("session", parse(FORMAT, body(messages)))
    assert sent.body.startswith(plain.body[: plain.body.index(b"hello") + 5])


@pytest.mark.feature("S2", "S9")
def test_above_the_standard_threshold_history_shrinks_once_and_then_rests() -> None:
    one = engine(EngineOptions(economic=False, standard=20_000))
    messages = long_session(100)
    modes = [send(one, messages[:at]).mode for at in range(1, len(messages), 2)]
    first = modes.index("standard")
    assert modes[first + 1 : first + 5] == ["", "", "", ""]
