"""Limits of a session: turns, tokens, money. Reaching one raises an exception that says how to continue."""

from __future__ import annotations

from dataclasses import dataclass

from laconic.conversation.accounting import Bill, TurnCost
from laconic.errors import LimitReached


@dataclass(frozen=True, slots=True)
class RunLimits:
    """0 means: no limit."""

    turns: int = 0
    tokens: int = 0
    dollars: float = 0.0


class RunUsage:
    """What this run has taken so far."""

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self.turns = 0
        self.bill = Bill()

    def add(self, cost: TurnCost) -> None:
        """One answer."""
        self.bill.add(cost)

    def check(self) -> None:
        """Returns when there is something left of everything."""
        limits = self._limits
        for name, flag, used, most in (
            ("turns", "--max-turns", self.turns, limits.turns),
            ("tokens", "--max-tokens", self.bill.tokens + self.bill.output, limits.tokens),
            ("dollars", "--max-cost", self.bill.dollars, limits.dollars),
        ):
            if most and used >= most:
                raise LimitReached(f"Limit reached: {used:.6g} of {most:g} {name}.", f"Raise {flag} and resume.")
