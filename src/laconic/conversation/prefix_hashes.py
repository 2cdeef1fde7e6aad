"""Hashes of every beginning of a history, so that two histories can be compared by one of them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

_SIZE: Final = 12  # bytes of a hash


class PrefixHashes:
    """Grows by blocks. `at(n)` stands for the first n blocks, in their order."""

    __slots__ = ("_digests",)

    def __init__(self, keys: Sequence[str] = (), digests: bytes = b"") -> None:
        found, last = bytearray(digests), digests[-_SIZE:]
        for key in keys:
            last = blake2b(last + key.encode(), digest_size=_SIZE).digest()
            found += last
        self._digests = bytes(found)

    def __len__(self) -> int:
        return len(self._digests) // _SIZE

    def extend(self, keys: Sequence[str]) -> PrefixHashes:
        """The chain of a longer history."""
        if keys:
            return PrefixHashes(keys, self._digests)
        return self

    def at(self, count: int) -> str:
        """The hash of the first blocks; empty when there are not so many."""
        if 0 < count <= len(self):
            return self._digests[(count - 1) * _SIZE : count * _SIZE].hex()
        return ""

    def holds(self, count: int, tip: str) -> bool:
        """Whether a history of so many blocks with this hash is the beginning of this one."""
        return bool(tip) and self.at(count) == tip


def count_shared(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    """How many of the first ones are the same in both."""
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        shared += 1
    return shared
