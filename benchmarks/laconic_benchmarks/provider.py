"""The simulated cache against a real one: recorded prompts split into reads and writes, beside the provider's split."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from laconic.conversation.replay import ReplayClock
from laconic.conversation.simulated_cache import CacheBlock, ProviderCache
from laconic.render.table import Cell
from laconic.wire.cache_rules import FIVE_MINUTES
from laconic.wire.providers.anthropic.cache_rules import CACHE_RULES
from laconic.wire.usage import Usage
from laconic_benchmarks.report import Bar, Options, Report, at_most, versions

_FEWEST: Final = 10  # answers with usage that a session must have
_STEP: Final = 5.0  # seconds between two requests
_PAUSE: Final = 7200.0  # seconds of a pause that no entry outlives
_HALF: Final = 0.5  # of the prompt before: an answer that read less found the cache gone
_SHRUNK: Final = 0.7  # of the prompt before: below, the client had changed its prompt


def run(options: Options) -> Report:
    """`laconic bench provider`: sizes and cold moments as recorded, the split as simulated."""
    recorded, simulated, sessions = Usage(), Usage(), 0
    for usages in _recorded_sessions(Path(options.data) / "trajectories" / "claude_code.jsonl.gz"):
        sessions += 1
        for one in usages:
            recorded = _add(recorded, one)
        for one in simulate(usages):
            simulated = _add(simulated, one)
    rows = [
        _row("cache reads", recorded.cache_read, simulated.cache_read),
        _row("cache writes", recorded.cache_write, simulated.cache_write),
    ]
    return Report(
        name="provider",
        corpus=f"{sessions} recorded sessions of Claude Code with the provider's usage",
        tokenizer="the provider's",
        rows=tuple(rows),
        bars=tuple(_bar(row) for row in rows),
        notes=(
            "sizes and cold moments are the recorded ones; what is read and written follows from the cache's rules",
        ),
        versions=versions("msgspec"),
    )


def simulate(usages: Sequence[Usage]) -> list[Usage]:
    """What the simulated cache reads and writes of prompts of these sizes, each an extension of the one before.

    Where an answer after a pause still read the tools and the system prompt, another session had kept them warm.
    """
    clock = ReplayClock()
    cache = ProviderCache(CACHE_RULES, clock)
    fixed = CacheBlock(b"tools and system prompt", _size_of_fixed(usages), FIVE_MINUTES)
    blocks = [fixed] if fixed.tokens else []
    found: list[Usage] = []
    for number, (usage, is_cold) in enumerate(zip(usages, _find_cold(usages), strict=True)):
        clock.now += _PAUSE if is_cold else _STEP
        if is_cold and fixed.tokens and usage.cache_read >= fixed.tokens:
            cache.send([fixed])
        blocks = _grow(blocks, usage.prompt - usage.input, number)
        found.append(cache.send(blocks))
    return found


def _find_cold(usages: Sequence[Usage]) -> list[bool]:
    """Which requests found nothing of the conversation in the cache; the first never does."""
    found: list[bool] = []
    before = 0
    for usage in usages:
        found.append(not found or _is_cold(usage, before))
        before = usage.prompt
    return found


def _size_of_fixed(usages: Sequence[Usage]) -> int:
    """Tokens that were read where the conversation was not in the cache; 0: nothing ever was."""
    cold = [usage for usage, is_cold in zip(usages, _find_cold(usages), strict=True) if is_cold]
    return min((usage.cache_read for usage in cold if usage.cache_read), default=0)


def _is_cold(usage: Usage, before: int) -> bool:
    return usage.cache_read < _HALF * before and usage.prompt > _SHRUNK * before


def _grow(blocks: Sequence[CacheBlock], size: int, number: int) -> list[CacheBlock]:
    """The prompt before, with what is new at its end; a smaller one shares the beginning. The end is marked."""
    kept = list(blocks)
    while kept and sum(block.tokens for block in kept) > size:
        kept.pop()
    rest = size - sum(block.tokens for block in kept)
    if rest:
        kept.append(CacheBlock(f"{number}".encode(), rest))
    ends = {0, len(kept) - 1, len(kept) - 2}
    return [
        msgspec.structs.replace(block, ttl=FIVE_MINUTES if place in ends else 0.0) for place, block in enumerate(kept)
    ]


def _recorded_sessions(path: Path) -> Iterator[list[Usage]]:
    """The usage of each answer, by session and stretch between two compactions of the client."""
    with gzip.open(path) as lines:
        for line in lines:
            stretches: dict[object, list[Usage]] = {}
            for message in msgspec.json.decode(line)["messages"]:
                meta = message.get("meta") or {}
                usage = _read_usage(meta.get("usage"))
                if message["role"] == "assistant" and usage is not None:
                    stretches.setdefault(meta.get("epoch"), []).append(usage)
            for usages in stretches.values():
                if len(usages) >= _FEWEST:
                    yield usages


def _read_usage(said: Mapping[str, Any] | None) -> Usage | None:
    if not said or "cache_write" not in said:
        return None
    return Usage(
        input=said.get("input") or 0, cache_read=said.get("cache_read") or 0, cache_write=said.get("cache_write") or 0
    )


def _add(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=one.input + other.input,
        cache_read=one.cache_read + other.cache_read,
        cache_write=one.cache_write + other.cache_write,
    )


def _row(what: str, provider: int, simulated: int) -> dict[str, Cell]:
    """One kind of tokens, and how far the simulation is off, as a share of what the provider reported."""
    off = abs(simulated - provider) / max(1, provider)
    return {"what": what, "provider": provider, "simulated": simulated, "off": off}


def _bar(row: Mapping[str, Cell]) -> Bar:
    off = row["off"]
    assert isinstance(off, float)
    return at_most(f"{row['what']} off", off, 0.05)
