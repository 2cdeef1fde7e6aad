"""What each request cost: against the limits of this run, and in the record that all sessions on this machine share."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from laconic.agent.limits import Spent
from laconic.conversation.accounting import CacheState, TurnSizes, account, estimate_prompt
from laconic.conversation.engine import PreparedRequest
from laconic.models.model import Price
from laconic.sessions.turns import Cost, TurnRecord, Turns, Who
from laconic.wire.limits import RateLimits
from laconic.wire.usage import Usage


class SentRequest(msgspec.Struct, frozen=True):
    """One request that was answered."""

    prepared: PreparedRequest
    came: int  # bytes of the whole history
    usage: Usage
    limits: RateLimits | None
    seconds: float
    at: float  # when it was answered


class UsageRecorder:
    """Kept by one session. A record that cannot be written loses figures, nothing else."""

    def __init__(self, who: Who, spent: Spent, price: Price, turns: Turns | None) -> None:
        self._who = who
        self.spent = spent
        self._price = price
        self._turns = turns
        self._standing = self._read()
        self._open: list[tuple[SentRequest, Cost]] = []

    def _read(self) -> CacheState:
        try:
            return (
                CacheState.read(self._turns.standing(self._who.session)) if self._turns is not None else CacheState()
            )
        except sqlite3.Error:
            self._turns = None
            return CacheState()

    def add_request(self, sent: SentRequest) -> None:
        """A request was answered; what its calls come to is not known yet."""
        usage = sent.usage
        if usage.estimated:
            prompt = estimate_prompt(usage.prompt, self._standing, self._price, sent.at)
            usage = prompt + Usage(output=usage.output)
        exchange = TurnSizes(
            usage=usage,
            came=sent.came,
            went=len(sent.prepared.body),
            rewritten=bool(sent.prepared.mode),
            at=sent.at,
        )
        cost, self._standing = account(exchange, self._standing, self._price)
        self.spent.add(cost)
        self._open.append((sent, Cost(**cost.row(self._standing))))

    def turn(self, malformed: Sequence[str]) -> None:
        """The turn is over: its requests, and the calls in it that could not run."""
        self.spent.turns += 1
        sent, self._open = self._open, []
        if self._turns is None:
            return
        try:
            for number, (one, cost) in enumerate(sent, 1):
                self._turns.add(self._row(one, cost, malformed if number == len(sent) else ()))
        except sqlite3.Error:
            self._turns = None

    def close(self) -> None:
        if self._turns is not None:
            self._turns.close()

    def _row(self, one: SentRequest, cost: Cost, malformed: Sequence[str]) -> TurnRecord:
        return TurnRecord.of(
            self._who,
            one.prepared,
            status=200,
            seconds=one.seconds,
            cost=cost,
            malformed=malformed,
            limits=one.limits,
        )
