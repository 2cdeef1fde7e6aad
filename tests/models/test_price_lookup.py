"""Prices: every family at its own, nothing invented, and the user's word first."""

from __future__ import annotations

import pytest

from laconic.config import load
from laconic.errors import BadSetting
from laconic.local_addresses import is_local
from laconic.models.find_model import find_model
from laconic.models.price_lookup import Prices
from laconic.models.prices_and_windows import CURRENT, FAMILIES


@pytest.mark.parametrize(
    ("model", "input", "output"),
    [
        ("claude-sonnet-4-5", 3, 15),
        ("claude-sonnet-4-5-20250929", 3, 15),
        ("claude-sonnet-4-5[1m]", 3, 15),
        ("anthropic/claude-sonnet-4.5", 3, 15),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 15),
        ("claude-sonnet-4-5@20250929", 3, 15),
        ("claude-opus-4-20250514", 15, 75),
        ("claude-opus-4-5", 5, 25),
        ("gpt-5", 1.25, 10),
        ("gpt-5-2025-08-07", 1.25, 10),
        ("gpt-5.2", 1.75, 14),
        ("gpt-5.4", 2.5, 15),
        ("gpt-5.4-nano", 0.2, 1.25),
        ("gpt-5.4-mini-2026-03-17", 0.75, 4.5),
        ("gpt-4o", 2.5, 10),
        ("gpt-4o-2024-05-13", 5, 15),
        ("mistral-medium-latest", 1.5, 7.5),
        ("o3-mini", 1.1, 4.4),
        ("gemini-2.5-pro", 1.25, 10),
        ("gemini-2.5-flash", 0.3, 2.5),
        ("gemini-2.5-flash-preview-09-2025", 0.3, 2.5),
        ("gemini-2.5-flash-lite", 0.1, 0.4),
        ("moonshot/kimi-k2.5", 0.6, 3),
    ],
)
def test_a_model_has_the_price_of_its_own_family(model: str, input: float, output: float) -> None:
    price = find_model(model).price
    assert price.dollars == input
    assert price.output_dollars(1e6, 0) == pytest.approx(output)


@pytest.mark.parametrize(
    "model",
    [
        "",
        "qwen3:8b",
        "gpt-5.4-femto",
        "gpt-5.9",
        "gpt-oss-120b",
        "claude-opus-9",
        "gemini-9-ultra",
        "o9",
        "mistral-medium-2312",
        "my-own",
    ],
)
def test_a_model_that_the_table_does_not_have_has_no_price(model: str) -> None:
    """A variant is not taken for the flagship; the rules of its family's cache are known all the same."""
    assert not find_model(model).price.known
    assert find_model(model).price.prompt_dollars(plain=1e6, read=0, write=0, hour=0) == 0.0


def test_an_unknown_claude_has_the_cache_of_its_family() -> None:
    assert (find_model("claude-opus-9").price.write, find_model("gpt-5.9").price.write) == (1.25, 1.0)


def test_writes_for_five_minutes_and_for_an_hour_have_prices_of_their_own() -> None:
    price = find_model("claude-sonnet-4-5").price
    assert price.prompt_dollars(plain=0, read=0, write=1e6, hour=0) == pytest.approx(3.75)
    assert price.prompt_dollars(plain=0, read=0, write=1e6, hour=1e6) == pytest.approx(6.0)
    assert price.prompt_dollars(plain=0, read=1e6, write=0, hour=0) == pytest.approx(0.3)


def test_every_row_of_the_table_makes_sense() -> None:
    rows = [(name, model.price) for family in FAMILIES for model in family.models for name in model.names]
    for name, price in rows:
        if price is None:
            continue
        assert find_model(name).price is price, name
        assert price.dollars, name
        assert 0 < price.read <= 1 <= price.write <= price.hour, name
        assert price.output > 1, name


@pytest.mark.parametrize(
    ("base", "local"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://localhost:8080/v1", True),
        ("http://[::1]:1234", True),
        ("http://192.168.1.7:8000", True),
        ("http://ollama:11434", True),
        ("http://box.local", True),
        ("https://api.openai.com", False),
        ("https://8.8.8.8", False),
        ("http://user:word@10.0.0.1", True),
        ("", False),
    ],
)
def test_an_address_is_local_or_not(base: str, local: bool) -> None:
    assert is_local(base) is local


def test_what_runs_on_ones_own_machine_costs_nothing() -> None:
    """Models with published weights and unknown ones; a provider's own model behind a proxy keeps its price."""
    prices = Prices()
    here, there = "http://127.0.0.1:11434", "https://models.example.com"
    assert [prices.of(model, here).dollars for model in ("qwen3:8b", "kimi-k2.5", "claude-sonnet-4-5")] == [0, 0, 3]
    assert [prices.of(model, there).dollars for model in ("qwen3:8b", "kimi-k2.5")] == [None, 0.6]


def test_a_setting_comes_first() -> None:
    prices = Prices("qwen*=0/0, mymodel=1.2/6, claude-sonnet-*=1/2, corp/*=2/8/0.5/2.5/4")
    assert prices.of("qwen3:8b", "https://models.example.com").dollars == 0
    mine = prices.of("openrouter/MyModel")
    assert (mine.dollars, mine.read, mine.write) == (1.2, 1.0, 1.0)
    assert mine.output == pytest.approx(5)
    sonnet = prices.of("claude-sonnet-4-5")
    assert (sonnet.dollars, sonnet.output, sonnet.read, sonnet.write, sonnet.hour) == (1, 2, 0.1, 1.25, 2.0)
    corp = prices.of("corp/large")
    assert (corp.read, corp.write, corp.hour) == (0.25, 1.25, 2.0)
    assert prices.of("gpt-5").dollars == 1.25


@pytest.mark.parametrize("text", ["qwen", "qwen=1", "=1/2", "a=x/y", "a=-1/2", "a=1/2/3/4/5/6", "a=nan/1", "a=0/5"])
def test_what_is_no_price_is_named(text: str) -> None:
    with pytest.raises(BadSetting, match="is not a price"):
        Prices(text)


def test_the_model_that_is_assumed_is_the_agents_own_and_has_a_price() -> None:
    assert load(flags={}).text("agent.model").endswith(f"/{CURRENT}")
    assert find_model(CURRENT).price.known


@pytest.mark.parametrize("base", ["http://127.0.0.1:11434", "http://localhost:1234/v1", "http://[::1]:8000"])
def test_a_model_that_nobody_knows_is_free_on_this_machine_and_unpriced_elsewhere(base: str) -> None:
    """Ollama, LM Studio and vLLM serve whatever was put into them."""
    assert Prices().of("my-own-finetune:8b", base).dollars == 0.0
    assert not Prices().of("my-own-finetune:8b", "https://models.example.com").known
