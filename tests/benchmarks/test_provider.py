"""The simulated cache splits prompts of known sizes as a provider would."""

from __future__ import annotations

from laconic.wire.usage import Usage
from laconic_benchmarks.provider import simulate


def test_a_growing_prompt_is_read_and_its_growth_written() -> None:
    usages = [
        Usage(cache_write=5000),
        Usage(cache_read=5000, cache_write=700),
        Usage(cache_read=5700, cache_write=300),
    ]
    assert simulate(usages) == usages


def test_after_a_pause_all_is_written_but_what_another_session_kept_warm() -> None:
    usages = [
        Usage(cache_read=3000, cache_write=9000),
        Usage(cache_read=12000, cache_write=500),
        Usage(cache_read=3000, cache_write=9900),
        Usage(cache_write=13000),
    ]
    assert simulate(usages) == usages


def test_a_prompt_that_went_back_shares_its_beginning() -> None:
    found = simulate(
        [Usage(cache_write=5000), Usage(cache_read=5000, cache_write=4000), Usage(cache_read=5000, cache_write=900)]
    )
    assert found[-1] == Usage(cache_read=5000, cache_write=900)
