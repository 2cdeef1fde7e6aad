"""What each request cost: against the limits of this run, and in the record that all sessions on this machine share."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from laconic.agent.run_limits import RunUsage
from laconic.conversation.engine import PreparedRequest
from laconic.errors import ArchiveUnavailable
from laconic.exchange.plan import Plan
from laconic.exchange.turn_account import AnsweredTurn, TurnAccount
from laconic.sessions.turn_record import AnswerCost, TurnIdentity
from laconic.wire.rate_limits import RateLimits
from laconic.wire.usage import Usage


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request that was answered."""

    plan: Plan
    usage: Usage
    estimate: int  # tokens of the prompt, where nobody counted them
    limits: RateLimits | None
    seconds: float


class UsageRecorder:
    """Kept by one session. A record that cannot be written loses figures, nothing else."""

    def __init__(self, who: TurnIdentity, base: str, spent: RunUsage, account: TurnAccount) -> None:
        self._who = who
        self._base = base
        self.spent = spent
        self._account = account
        self._open: list[tuple[AnsweredTurn, AnswerCost | None]] = []
        self._broken = False  # the record cannot be written

    def add_request(self, sent: SentRequest) -> None:
        """A request was answered; what its calls come to is not known yet."""
        turn = AnsweredTurn(
            who=self._who,
            base=self._base,
            prepared=sent.plan.prepared or PreparedRequest(b""),
            came=sent.plan.came,
            went=sent.plan.went,
            usage=sent.usage,
            estimate=sent.estimate,
            seconds=sent.seconds,
            limits=sent.limits,
            fingerprint=sent.plan.fingerprint,
        )
        cost, row = self._account.account(turn)
        if cost is not None:
            self.spent.add(cost)
        self._open.append((turn, row))

    def turn(self, malformed: Sequence[str]) -> None:
        """The turn is over: its requests, and the calls in it that could not run."""
        self.spent.turns += 1
        turns, self._open = self._open, []
        if self._broken:
            return
        try:
            for number, (turn, cost) in enumerate(turns, 1):
                self._account.write(turn, cost, malformed if number == len(turns) else ())
        except (sqlite3.Error, ArchiveUnavailable):
            self._broken = True

    def close(self) -> None:
        self._account.close()
