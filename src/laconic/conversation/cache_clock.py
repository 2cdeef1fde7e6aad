"""When a provider's cache still holds what was sent: by the request's own marks, corrected by what answers report."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from laconic.conversation.ledger import Branch
from laconic.models.find_model import find_model
from laconic.models.model import Price
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.usage import Usage
from laconic.wire.usage_reader import asks_for_an_hour

_HOUR: Final = 3600.0
_SESSIONS: Final = 1000
_SMALLEST: Final = 4096  # tokens of a prefix that every provider caches
_SHORTEST: Final = 60.0  # seconds: after a shorter pause a miss says nothing about lifetimes
_HALF: Final = 0.5  # of the prefix: a cache that gives less of it back had gone


def price_of(conversation: ParsedRequest) -> Price:
    """The price of a model with the life and the write price that this request asks for."""
    listed = find_model(conversation.model).price
    if not asks_for_an_hour(conversation):
        return listed
    return msgspec.structs.replace(listed, write=listed.hour, lifetime=_HOUR)


def is_warm(branch: Branch, now: float) -> bool:
    """Whether the provider's cache still holds what a branch sent last."""
    return branch.time > 0 and now - branch.time < (branch.learned or branch.lifetime)


class _ExpectedRead(msgspec.Struct, frozen=True):
    """What the last request of a session could read from a cache."""

    prefix: int  # tokens that the request before had sent too
    pause: float  # seconds since then
    asked: float  # seconds that the entry was to live
    believed: float  # and was believed to live


class CacheClock:
    """Compares what requests could read from a cache with what answers say was read.

    What it finds out goes into the ledger: the request that is sent does not depend on who asks.
    """

    def __init__(self) -> None:
        self._expected: OrderedDict[str, _ExpectedRead] = OrderedDict()

    def expect(self, session: str, prefix: int, now: float, branch: Branch) -> None:
        """A request goes out that begins with so many tokens which its branch had sent before."""
        self._expected[session] = _ExpectedRead(
            prefix if branch.time else 0, now - branch.time, branch.lifetime, branch.learned or branch.lifetime
        )
        self._expected.move_to_end(session)
        if len(self._expected) > _SESSIONS:
            self._expected.popitem(last=False)

    def learn(self, session: str, usage: Usage) -> float | None:
        """Seconds that a session's cache entries live, where an answer shows that they were wrong; None: it does not.

        A provider that reports nothing proves nothing.
        """
        expected = self._expected.pop(session, None)
        if expected is None or expected.prefix < _SMALLEST or not (usage.cache_read or usage.cache_write):
            return None
        was_warm = usage.cache_read >= _HALF * expected.prefix
        if was_warm and expected.pause >= expected.believed:
            return max(expected.asked, expected.pause + 1.0)
        if not was_warm and _SHORTEST <= expected.pause < expected.believed:
            return expected.pause
        return None
