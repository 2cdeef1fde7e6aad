"""What each request cost: against the limits of this run, and in the record that all sessions on this machine share."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from laconic.agent.limits import Spent
from laconic.context.bill import Bill
from laconic.context.economy import Price
from laconic.context.engine import Prepared
from laconic.sessions.turns import Cost, Turn, Turns, Who
from laconic.wire.limits import Limits
from laconic.wire.usage import Usage


class Sent(msgspec.Struct, frozen=True):
    """One request that was answered."""

    prepared: Prepared
    came: int  # bytes of the whole history
    usage: Usage
    limits: Limits | None
    seconds: float


class Books:
    """Kept by one session. A record that cannot be written loses figures, nothing else."""

    def __init__(self, who: Who, spent: Spent, price: Price, turns: Turns | None) -> None:
        self._who = who
        self.spent = spent
        self._price = price
        self._turns = turns
        self._open: list[Sent] = []

    def sent(self, sent: Sent) -> None:
        """A request was answered; what its calls come to is not known yet."""
        self.spent.add(sent.usage)
        self._open.append(sent)

    def turn(self, malformed: Sequence[str]) -> None:
        """The turn is over: its requests, and the calls in it that could not run."""
        self.spent.turns += 1
        sent, self._open = self._open, []
        if self._turns is None:
            return
        try:
            for number, one in enumerate(sent, 1):
                self._turns.add(self._row(self._turns, one, tuple(malformed) if number == len(sent) else ()))
        except sqlite3.Error:
            self._turns = None

    def close(self) -> None:
        if self._turns is not None:
            self._turns.close()

    def _row(self, turns: Turns, one: Sent, malformed: tuple[str, ...]) -> Turn:
        return Turn.of(
            self._who,
            one.prepared,
            status=200,
            seconds=one.seconds,
            cost=self._cost(turns, one),
            malformed=malformed,
            limits=one.limits,
        )

    def _cost(self, turns: Turns, one: Sent) -> Cost:
        usage, bill = one.usage, Bill(_last=turns.last_whole(self._who.session))
        bill.add(usage, one.came, len(one.prepared.body), self._price)
        prompt = (usage.input, usage.cache_read, usage.cache_write)
        return Cost(*prompt, usage.output, bill.tokens_without, bill.dollars, bill.dollars_without)
