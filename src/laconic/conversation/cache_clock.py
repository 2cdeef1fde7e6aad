"""When a provider's cache still holds what was sent: by the request's own marks, corrected by what answers report."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from laconic.models.find import find_model
from laconic.models.model import Price
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.usage import Usage
from laconic.wire.usage_reader import asks_for_an_hour

_HOUR: Final = 3600.0
_SESSIONS: Final = 1000
_SMALLEST: Final = 4096  # tokens of a prefix that every provider caches
_SHORTEST: Final = 60.0  # seconds: after a shorter pause a miss says nothing about lifetimes
_HALF: Final = 0.5  # of the prefix: a cache that gives less of it back had gone


class _Expected(msgspec.Struct, frozen=True):
    """What the last request of a session could read from a cache."""

    prefix: int  # tokens that the request before had sent too
    pause: float  # seconds since then
    lifetime: float  # seconds that the entry was believed to live


class CacheClock:
    """Lifetimes of cache entries, by account. What it learned is lost with the process, which costs one guess."""

    def __init__(self) -> None:
        self._expected: OrderedDict[str, _Expected] = OrderedDict()
        self._learned: dict[tuple[str, float], float] = {}  # by account and the lifetime that was asked for

    def price(self, conversation: ParsedRequest) -> Price:
        """The price of a model with the life and the write price that this request asks for."""
        listed = find_model(conversation.model).price
        if not asks_for_an_hour(conversation.body):
            return listed
        return msgspec.structs.replace(listed, write=listed.hour, lifetime=_HOUR)

    def lifetime(self, account: str, asked: float) -> float:
        """Seconds that an entry lives which was to live for so long."""
        return self._learned.get((account, asked), asked)

    def expect(self, session: str, prefix: int, pause: float, lifetime: float) -> None:
        """A request goes out that begins with a prefix of so many tokens which was sent before."""
        self._expected[session] = _Expected(prefix, pause, lifetime)
        self._expected.move_to_end(session)
        if len(self._expected) > _SESSIONS:
            self._expected.popitem(last=False)

    def observe(self, account: str, session: str, usage: Usage) -> None:
        """Compare what was read with what could be; a provider that reports nothing proves nothing."""
        expected = self._expected.pop(session, None)
        if expected is None or expected.prefix < _SMALLEST or not (usage.cache_read or usage.cache_write):
            return
        believed = self.lifetime(account, expected.lifetime)
        was_warm = usage.cache_read >= _HALF * expected.prefix
        if was_warm and expected.pause >= believed:
            self._learned[account, expected.lifetime] = max(expected.lifetime, expected.pause + 1.0)
        elif not was_warm and _SHORTEST <= expected.pause < believed:
            self._learned[account, expected.lifetime] = expected.pause
