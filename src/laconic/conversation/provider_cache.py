"""A provider's prompt cache as a fake that ships: what a request would read, write and pay, on a clock that callers move.

Anthropic caches what a request marks; OpenAI and Gemini cache every prefix by themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

import msgspec

from laconic.wire.usage import Usage

FIVE_MINUTES: Final = 300.0
HOUR: Final = 3600.0


class CacheRules(msgspec.Struct, frozen=True):
    """How one provider caches. Prices are relative to a plain input token."""

    smallest: int  # tokens from which a prefix is cached
    read: float = 0.1
    write: float = 1.25
    hour: float = 2.0
    marks: int = 4  # that a request may set; 0: everything is cached without any
    lookback: int = 20  # blocks before a mark in which an earlier entry is found
    step: int = 1  # tokens by which the prefix that is read grows
    lifetime: float = FIVE_MINUTES  # of what is cached without a mark


ANTHROPIC: Final = CacheRules(smallest=1024)
OPENAI: Final = CacheRules(smallest=1024, write=1.0, hour=1.0, marks=0, step=128, lifetime=600.0)
GEMINI: Final = CacheRules(smallest=2048, write=1.0, hour=1.0, marks=0, lifetime=300.0)


class CacheBlock(msgspec.Struct, frozen=True):
    """One block of a request in the order of the cache: tools, system prompt, messages."""

    content: bytes
    tokens: int
    ttl: float = 0.0  # seconds that its mark asks for; 0: no mark


class TooManyMarks(ValueError):
    """A request marks more blocks than the provider takes."""


class ProviderCache:
    """The cache of one account. Sessions share it, as they do at a provider."""

    def __init__(self, rules: CacheRules, clock: Callable[[], float]) -> None:
        self._rules = rules
        self._clock = clock
        self._expiry: dict[bytes, float] = {}  # by the hash of a prefix
        self._lifetimes: dict[bytes, float] = {}

    def send(self, blocks: Sequence[CacheBlock]) -> Usage:
        """One request: what of it is read, written, and neither."""
        marked = []
        for place, block in enumerate(blocks):
            if block.ttl:
                marked.append(place)
        if self._rules.marks and len(marked) > self._rules.marks:
            raise TooManyMarks(f"{len(marked)} marks, {self._rules.marks} are allowed: remove some.")
        hashes = _chain(blocks)
        ends = list(accumulate(block.tokens for block in blocks))
        if self._rules.marks:
            return self._send_marked(blocks, marked, hashes, ends)
        return self._send_automatic(hashes, ends)

    def cost(self, usage: Usage) -> float:
        """What a prompt costs, in plain input tokens."""
        rules = self._rules
        written = rules.write * (usage.cache_write - usage.long) + rules.hour * usage.long
        return usage.input + rules.read * usage.cache_read + written

    def _send_marked(
        self, blocks: Sequence[CacheBlock], marked: Sequence[int], hashes: Sequence[bytes], ends: Sequence[int]
    ) -> Usage:
        found = max((self._look_back(place, hashes) for place in marked), default=-1)
        read = ends[found] if found >= 0 else 0
        if found >= 0:
            self._keep(hashes[found], self._lifetimes[hashes[found]])
        last, long = read, 0
        for place in marked:
            if ends[place] < self._rules.smallest:
                continue
            self._keep(hashes[place], blocks[place].ttl)
            if ends[place] > last:
                long += ends[place] - last if blocks[place].ttl >= HOUR else 0
                last = ends[place]
        total = ends[-1] if ends else 0
        return Usage(input=total - last, cache_read=read, cache_write=last - read, long=long)

    def _look_back(self, place: int, hashes: Sequence[bytes]) -> int:
        """The nearest living entry at a mark or a few blocks before it; -1: none."""
        for at in range(place, max(-1, place - self._rules.lookback - 1), -1):
            if self._is_alive(hashes[at]):
                return at
        return -1

    def _send_automatic(self, hashes: Sequence[bytes], ends: Sequence[int]) -> Usage:
        read = 0
        for place in range(len(hashes) - 1, -1, -1):
            if self._is_alive(hashes[place]):
                read = ends[place] - ends[place] % self._rules.step
                break
        if read < self._rules.smallest:
            read = 0
        for prefix in hashes:
            self._keep(prefix, self._rules.lifetime)
        return Usage(input=(ends[-1] if ends else 0) - read, cache_read=read)

    def _is_alive(self, prefix: bytes) -> bool:
        return self._clock() < self._expiry.get(prefix, 0.0)

    def _keep(self, prefix: bytes, lifetime: float) -> None:
        self._expiry[prefix] = self._clock() + lifetime
        self._lifetimes[prefix] = lifetime


def report(format: str, usage: Usage) -> dict[str, object]:
    """Usage in the words of a provider's format."""
    if format == "anthropic":
        return {
            "input_tokens": usage.input,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_creation": {
                "ephemeral_5m_input_tokens": usage.cache_write - usage.long,
                "ephemeral_1h_input_tokens": usage.long,
            },
            "output_tokens": usage.output,
        }
    if format == "gemini":
        return {
            "promptTokenCount": usage.prompt,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output,
        }
    cached = {"cached_tokens": usage.cache_read}
    if format == "responses":
        return {"input_tokens": usage.prompt, "input_tokens_details": cached, "output_tokens": usage.output}
    return {"prompt_tokens": usage.prompt, "prompt_tokens_details": cached, "completion_tokens": usage.output}


def _chain(blocks: Sequence[CacheBlock]) -> list[bytes]:
    """The hash of every prefix."""
    found: list[bytes] = []
    before = b""
    for block in blocks:
        before = hashlib.blake2b(before + block.content, digest_size=16).digest()
        found.append(before)
    return found
