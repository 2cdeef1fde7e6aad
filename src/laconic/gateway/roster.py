"""The sessions that this process has seen lately, as numbers: no content, no keys."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Final

from laconic.context.bill import Bill
from laconic.context.economy import price_of
from laconic.gateway.engine import Caller
from laconic.gateway.plan import Plan
from laconic.wire.usage import Usage

_MOST: Final = 1000


@dataclass(slots=True)
class Row:
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
    bill: Bill = field(default_factory=Bill)


class Roster:
    """Rows by session, the oldest forgotten first."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rows: OrderedDict[str, Row] = OrderedDict()

    def asked(self, who: Caller, format: str, came: int, went: int) -> None:
        row = self._rows.setdefault(who.session, Row(who.session, who.model[:100], format))
        self._rows.move_to_end(who.session)
        row.requests += 1
        row.bytes_came += came
        row.bytes_went += went
        row.last = self._clock()
        if len(self._rows) > _MOST:
            self._rows.popitem(last=False)

    def answered(self, who: Caller, usage: Usage, plan: Plan) -> None:
        if row := self._rows.get(who.session):
            row.input += usage.input
            row.cache_read += usage.cache_read
            row.cache_write += usage.cache_write
            row.output += usage.output
            price = price_of(who.model)
            row.bill.add(usage, plan.came - plan.ours.size, plan.went, price, recall=plan.ours.recall)

    def rows(self) -> list[dict[str, object]]:
        """Newest first."""
        return [asdict(row) for row in reversed(self._rows.values())]

    def summary(self) -> str:
        """One line on all sessions: tokens and money, with us and without."""
        bills = [row.bill for row in self._rows.values()]
        tokens, whole = sum(bill.tokens for bill in bills), sum(bill.tokens_without for bill in bills)
        if not tokens or not whole:
            return "laconic: no answer reported its usage"
        paid, full = sum(bill.dollars for bill in bills), sum(bill.dollars_without for bill in bills)
        return (
            f"laconic: {tokens:,} prompt tokens instead of {round(whole):,} ({tokens / whole:.0%}), "
            f"about ${paid:.2f} instead of ${full:.2f} for prompts"
        )
