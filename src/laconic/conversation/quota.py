"""What is left of a quota of tokens per minute: a real window of 60 seconds, corrected by what the provider says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from laconic.wire.rate_limits import RateLimits
from laconic.wire.usage import Usage

_WINDOW: Final = 60.0  # seconds
_SMALL: Final = 8_192  # tokens of a small thinking budget


Spent = tuple[float, int, int]  # when, tokens of prompts that count, and of answers
Told = tuple[float, int, float, int, bool]  # when, tokens left, when it is full again, the limit, prompts only


class QuotaStore(Protocol):
    """What all processes of a team spend. It never fails: without it each process knows its own part."""

    def add(self, account: str, spent: Spent | None, told: Told | None) -> None:
        """What one answer cost, and what the provider said."""

    def read(self, account: str) -> tuple[Sequence[Spent], Told | None] | None:
        """All that was spent in the last minute, and the newest word of the provider; None: nothing new."""


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

    def spend(self, usage: Usage) -> Spent | None:
        """A request and its answer; what of it counts."""
        if self.cached:
            counted = usage.prompt
        else:
            counted = usage.prompt - usage.cache_read
        if usage.prompt > 0:
            self._share = counted / usage.prompt
        if counted + usage.output > 0:
            self._spent.append((self._clock(), counted, usage.output))
            return self._spent[-1]
        return None

    def adopt(self, spent: Sequence[Spent], told: Told | None) -> None:
        """What all processes know, this one included."""
        self._spent = deque(spent)
        if told is not None and (self._told is None or told[0] >= self._told[0]):
            self._told = told[:3]
            self._limit = told[3] or self._limit
            self._input_only = told[4]

    def learn(self, limits: RateLimits | None) -> Told | None:
        """What the provider said; it knows about other processes too. The same as all processes may know it."""
        if limits is None:
            return None
        if limits.tokens:
            self._limit = limits.tokens
        if limits.tokens_left is not None:
            self._input_only = limits.input_only
            now = self._clock()
            self._told = (now, limits.tokens_left, now + (limits.tokens_reset or _WINDOW))
            return (*self._told, self._limit, self._input_only)
        return None

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
