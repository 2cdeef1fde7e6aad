"""What is left of a quota of tokens per minute: a real window of 60 seconds, corrected by what the provider says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from laconic.wire.rate_limits import RateLimits
from laconic.wire.usage import Usage

_WINDOW: Final = 60.0  # seconds
_SMALL: Final = 8_192  # tokens of a small thinking budget


class Quota:
    """Tokens sent and received in the last minute, for one provider, key and model."""

    def __init__(self, clock: Callable[[], float], limit: int = 0) -> None:
        self._clock = clock
        self._limit = limit  # tokens per minute; 0: not known
        self.cached = True  # whether tokens that a cache gave count
        self._input_only = False  # whether only the prompt counts
        self._share = 1.0  # of the last prompt, what counted
        self._spent: deque[tuple[float, int, int]] = (
            deque()
        )  # when, tokens of the prompt that count, and of the answer
        self._told: tuple[float, int, float] | None = None  # when, how many were left, when it is full again

    def spend(self, usage: Usage) -> None:
        """A request and its answer."""
        if self.cached:
            counted = usage.prompt
        else:
            counted = usage.prompt - usage.cache_read
        if usage.prompt > 0:
            self._share = counted / usage.prompt
        if counted + usage.output > 0:
            self._spent.append((self._clock(), counted, usage.output))

    def learn(self, limits: RateLimits | None) -> None:
        """What the provider said; it knows about other processes too."""
        if limits is None:
            return
        if limits.tokens:
            self._limit = limits.tokens
        if limits.tokens_left is not None:
            self._input_only = limits.input_only
            now = self._clock()
            self._told = (now, limits.tokens_left, now + (limits.tokens_reset or _WINDOW))

    @property
    def known(self) -> bool:
        return self._limit > 0 or self._told is not None

    @property
    def left(self) -> int:
        """Tokens that may be spent now. Without any knowledge of a limit there is no end to them."""
        now = self._clock()
        while self._spent and self._spent[0][0] <= now - _WINDOW:
            self._spent.popleft()
        if self._told is not None and now < self._told[2]:
            return max(0, self._told[1] - self._since(self._told[0]))
        if not self._limit:
            return 1 << 60
        return max(0, self._limit - self._since(now - _WINDOW))

    def prompt(self, tokens: int, *, warm: bool) -> int:
        """How many of a prompt's tokens will count; of one that was sent a moment ago, as many as the last time."""
        if warm:
            return round(tokens * self._share)
        return tokens

    def output(self, tokens: int) -> int:
        """How many of an answer's tokens will count."""
        if self._input_only:
            return 0
        return tokens

    def _since(self, time: float) -> int:
        return sum(prompt + self.output(answer) for when, prompt, answer in self._spent if when > time)


class ThinkingLimit(msgspec.Struct, frozen=True):
    """How much a model may think: a budget of tokens, or the provider's word for little."""

    budget: int
    effort: str  # low, medium, or empty: as the client asked


def limit_thinking(left: int, asked: int, least: int, *, half: int, low: int) -> ThinkingLimit | None:
    """The budget for a request when the quota runs low; None: leave it as the client asked.

    With less than `half` tokens left it is halved, with less than `low` it is small, but never below `least`, which the
    provider asks for.
    """
    if asked <= 0 or left >= max(half, low):
        return None
    if left < low:
        wanted = min(asked, _SMALL)
    else:
        wanted = max(asked // 2, min(asked, _SMALL))
    budget = max(least, wanted)
    if budget >= asked:
        return None
    if budget <= _SMALL:
        return ThinkingLimit(budget, "low")
    return ThinkingLimit(budget, "medium")
