"""How much a session may take: turns, tokens, money. A limit that is reached is an exception that says how to go on."""

from __future__ import annotations

from dataclasses import dataclass

from laconic.context.economy import Price
from laconic.errors import LimitReached
from laconic.wire.usage import Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """0 means: no limit."""

    turns: int = 0
    tokens: int = 0
    dollars: float = 0.0


class Spent:
    """What this run has taken so far."""

    def __init__(self, limits: Limits, price: Price) -> None:
        self._limits = limits
        self._price = price
        self.turns = 0
        self.prompt = 0
        self.output = 0
        self.dollars = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt + self.output

    def add(self, usage: Usage) -> None:
        """One answer."""
        price = self._price
        self.prompt += usage.prompt
        self.output += usage.output
        units = usage.input + price.read * usage.cache_read + price.write * usage.cache_write
        self.dollars += (units + price.output * usage.output) * price.dollars / 1e6

    def check(self) -> None:
        """Returns when there is something left of everything."""
        limits = self._limits
        for name, flag, used, most in (
            ("turns", "--max-turns", self.turns, limits.turns),
            ("tokens", "--max-tokens", self.tokens, limits.tokens),
            ("dollars", "--max-cost", self.dollars, limits.dollars),
        ):
            if most and used >= most:
                raise LimitReached(
                    f"The limit is reached: {used:.6g} of {most:g} {name}.", f"Raise {flag} and resume."
                )
