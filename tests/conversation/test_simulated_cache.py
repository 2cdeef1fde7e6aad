"""The fake of a provider's cache keeps the provider's rules."""

from __future__ import annotations

import json

import pytest
from tests.conversation.sessions import Clock

from laconic.conversation.simulated_cache import CacheBlock, ProviderCache, TooManyMarks
from laconic.wire.cache_rules import FIVE_MINUTES, HOUR
from laconic.wire.formats import format_named
from laconic.wire.usage import Usage
from laconic.wire.usage_reader import usage_of


def _blocks(count: int, tokens: int = 1000, ttl: float = FIVE_MINUTES, name: str = "a") -> list[CacheBlock]:
    """A request whose last block is marked."""
    plain = [CacheBlock(f"{name}{number}".encode(), tokens) for number in range(count)]
    return [*plain[:-1], CacheBlock(plain[-1].content, tokens, ttl)]


def test_what_was_written_is_read_within_its_life_and_not_after() -> None:
    clock = Clock()
    cache = ProviderCache(format_named("anthropic").cache, clock)
    assert cache.send(_blocks(3)) == Usage(cache_write=3000)
    clock.now += 299
    assert cache.send(_blocks(4)) == Usage(cache_read=3000, cache_write=1000)
    clock.now += 299
    assert cache.send(_blocks(4)).cache_read == 4000
    clock.now += 301
    assert cache.send(_blocks(4)) == Usage(cache_write=4000)


def test_an_hour_costs_two_and_lives_longer() -> None:
    clock = Clock()
    cache = ProviderCache(format_named("anthropic").cache, clock)
    first = cache.send(_blocks(3, ttl=HOUR))
    assert first.long == 3000
    assert cache.cost(first) == 6000
    clock.now += 3000
    assert cache.send(_blocks(3, ttl=HOUR)).cache_read == 3000


def test_a_changed_block_ends_the_prefix() -> None:
    cache = ProviderCache(format_named("anthropic").cache, Clock())
    first = _blocks(4)
    first[1] = CacheBlock(first[1].content, 1000, FIVE_MINUTES)
    cache.send(first)
    changed = list(first)
    changed[2] = CacheBlock(b"other", 1000)
    assert cache.send(changed) == Usage(cache_read=2000, cache_write=2000)


@pytest.mark.parametrize(("added", "read"), [(20, 3000), (21, 0)])
def test_an_entry_is_found_within_twenty_blocks_of_a_mark(added: int, read: int) -> None:
    cache = ProviderCache(format_named("anthropic").cache, Clock())
    cache.send(_blocks(3))
    assert cache.send(_blocks(3 + added)).cache_read == read


def test_a_short_prefix_is_not_cached_and_five_marks_are_refused() -> None:
    cache = ProviderCache(format_named("anthropic").cache, Clock())
    assert cache.send(_blocks(1)) == Usage(input=1000)
    with pytest.raises(TooManyMarks):
        cache.send([CacheBlock(b"x", 2000, FIVE_MINUTES)] * 5)


def test_what_stands_behind_the_last_mark_is_plain() -> None:
    cache = ProviderCache(format_named("anthropic").cache, Clock())
    assert cache.send([*_blocks(2), CacheBlock(b"tail", 70)]) == Usage(input=70, cache_write=2000)


def test_openai_reads_steps_of_128_and_gemini_what_it_has() -> None:
    for rules, read in ((format_named("chat").cache, 2944), (format_named("gemini").cache, 3000)):
        cache = ProviderCache(rules, Clock())
        assert cache.send(_blocks(3, ttl=0)).cache_read == 0
        assert cache.send(_blocks(4, ttl=0)).cache_read == read


def test_sessions_do_not_read_each_other_but_share_what_is_the_same() -> None:
    cache = ProviderCache(format_named("anthropic").cache, Clock())
    cache.send(_blocks(3, name="a"))
    assert cache.send(_blocks(3, name="b")).cache_read == 0
    assert cache.send(_blocks(3, name="a")).cache_read == 3000


@pytest.mark.parametrize("format", ["anthropic", "chat", "responses", "gemini"])
def test_usage_is_reported_in_words_that_our_reader_understands(format: str) -> None:
    usage = Usage(input=10, cache_read=2000, cache_write=300 if format == "anthropic" else 0, output=5)
    name = "usageMetadata" if format == "gemini" else "usage"
    assert usage_of(json.dumps({name: format_named(format).usage.write(usage)}).encode()) == usage
