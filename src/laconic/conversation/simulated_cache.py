"""A provider's prompt cache as a fake that ships: what a request would read, write and pay, on a clock that callers move.

The rules are the provider's: some cache what a request marks, others every prefix by themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import accumulate

import msgspec

from laconic.wire.cache_rules import HOUR, CacheRules
from laconic.wire.usage import Usage


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


def _chain(blocks: Sequence[CacheBlock]) -> list[bytes]:
    """The hash of every prefix."""
    found: list[bytes] = []
    before = b""
    for block in blocks:
        before = hashlib.blake2b(before + block.content, digest_size=16).digest()
        found.append(before)
    return found
