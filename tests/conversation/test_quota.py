"""Quota and thinking."""

from __future__ import annotations

import json

import pytest
from tests.conversation.sessions import FORMAT, Clock, body, count, engine, long_session, opened, run, send, user

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.provider_settings import read_numbers
from laconic.conversation.quota import Quota, limit_thinking
from laconic.errors import BadSetting
from laconic.wire.parsed_request import parse
from laconic.wire.rate_limits import RateLimits
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
    quota.learn(RateLimits(tokens=50_000, tokens_left=1_000, tokens_reset=5.0))
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
    quota.learn(RateLimits(tokens=50_000, tokens_left=1_000, input_only=True))
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
    found = limit_thinking(left, 32_000, 1_024, half=400_000, low=200_000)
    assert (found.budget if found else None) == wanted


@pytest.mark.feature("S8")
def test_thinking_never_falls_below_the_providers_least() -> None:
    assert limit_thinking(0, 1_024, 1_024, half=400_000, low=200_000) is None


@pytest.mark.feature("S8")
def test_a_tool_loop_keeps_the_thinking_that_it_began_with() -> None:
    """Whether the quota runs out or recovers meanwhile, and whoever answers."""
    asked = {"thinking": {"type": "enabled", "budget_tokens": 30_000}}
    for first, later, budget in ((100_000, 10_000_000, 8_192), (10_000_000, 100_000, 30_000)):
        clock, store, archive = Clock(), MemoryStore(), MemoryArchive()
        messages = [user("go")]
        for step, left in enumerate((first, later, later)):
            one = engine(clock=clock, store=store, archive=archive)
            one.observe("acc", None, RateLimits(tokens=10_000_000, tokens_left=left))
            sent = send(one, messages, RequestLimits(account="acc"), **asked)
            assert json.loads(sent.body)["thinking"]["budget_tokens"] == budget
            messages = [*messages, *run(f"c{step}", "ls", "a")]
        sent = send(one, [*messages, user("next")], RequestLimits(account="acc"), **asked)
        assert (json.loads(sent.body)["thinking"]["budget_tokens"] == 30_000) == (later > first)


@pytest.mark.feature("S2", "S9")
def test_thresholds_of_thinking_are_settings_by_provider() -> None:
    options = EngineOptions(quota="1000000, gemini=5", thinking_half="400000, anthropic=2000000")
    asked = {"thinking": {"type": "enabled", "budget_tokens": 30_000}}
    sent = send(engine(options), [user("go")], RequestLimits(account="acc"), **asked)
    assert sent.thinking == 15_000
    plain = send(engine(EngineOptions(quota="1000000")), [user("go")], RequestLimits(account="acc"), **asked)
    assert plain.thinking == 0


@pytest.mark.feature("S3")
def test_a_quota_can_be_set_for_a_provider_that_does_not_state_it() -> None:
    messages = long_session(40)
    options = EngineOptions(economic=False, quota="ollama=12000")
    assert send(engine(options), messages, RequestLimits(account="acc", provider="ollama")).mode == "survival"
    assert send(engine(options), messages, RequestLimits(account="acc", provider="other")).mode == ""


@pytest.mark.feature("S2", "S9")
def test_protected_turns_are_a_setting_by_provider() -> None:
    messages = long_session(40)
    kept = {}
    for provider in ("one", "two"):
        clock = Clock()
        one = engine(EngineOptions(protected_turns="4, two=35"), clock=clock)
        send(one, messages, RequestLimits(provider=provider))
        clock.now += 10_000  # the cache is cold: all that is no longer of use goes
        kept[provider] = send(one, [*messages, user("go on")], RequestLimits(provider=provider)).tokens
    assert kept["one"] < kept["two"]


@pytest.mark.parametrize("text", ["four", "gemini=", "gemini=-1", "a=1=b"])
def test_a_number_by_provider_that_is_none_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(BadSetting, match="by provider"):
        read_numbers("context.quota", text)


@pytest.mark.feature("S8")
@pytest.mark.parametrize(
    ("name", "fields", "wanted"),
    [
        ("anthropic", b'"thinking":{"type":"enabled","budget_tokens":32000}', b'"budget_tokens":8192'),
        ("responses", b'"reasoning":{"effort":"high"}', b'"effort":"low"'),
        ("chat", b'"reasoning_effort":"high"', b'"reasoning_effort":"low"'),
        ("gemini", b'"generationConfig":{"thinkingConfig":{"thinkingBudget":30000}}', b'"thinkingBudget":8192'),
        ("gemini", b'"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}', b'"thinkingLevel":"LOW"'),
        ("gemini", b'"generationConfig":{"thinkingConfig":{"thinkingLevel":"high"}}', b'"thinkingLevel":"low"'),
        ("anthropic", b'"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}', b'"effort":"low"'),
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
