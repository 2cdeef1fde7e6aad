"""The sessions that this process has seen lately, as numbers: no content, no keys."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec

from laconic.conversation.accounting import Bill, TurnCost, describe
from laconic.exchange.caller import Caller

_MOST: Final = 1000


class RegisteredSession(msgspec.Struct):
    """One session."""

    session: str
    model: str
    format: str
    requests: int = 0
    bytes_came: int = 0
    bytes_went: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    last: float = 0.0
    bill: Bill = msgspec.field(default_factory=Bill)


class SessionRegistry:
    """Rows by session, the oldest forgotten first."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rows: OrderedDict[str, RegisteredSession] = OrderedDict()

    def asked(self, who: Caller, format: str, came: int, went: int) -> None:
        row = self._rows.setdefault(who.session, RegisteredSession(who.session, who.model[:100], format))
        self._rows.move_to_end(who.session)
        row.requests += 1
        row.bytes_came += came
        row.bytes_went += went
        row.last = self._clock()
        if len(self._rows) > _MOST:
            self._rows.popitem(last=False)

    def billed(self, who: Caller, cost: TurnCost) -> None:
        if row := self._rows.get(who.session):
            usage = cost.usage
            row.input += usage.input
            row.cache_read += usage.cache_read
            row.cache_write += usage.cache_write
            row.output += usage.output
            row.bill.add(cost)

    def rows(self) -> list[dict[str, object]]:
        """Newest first."""
        return [msgspec.structs.asdict(row) | {"bill": msgspec.structs.asdict(row.bill)} for row in self._newest()]

    def summary(self) -> str:
        """One line on all sessions: tokens and money, with us and without."""
        return f"laconic: {describe(sum((row.bill for row in self._newest()), Bill()))}"

    def _newest(self) -> list[RegisteredSession]:
        return list(reversed(self._rows.values()))
