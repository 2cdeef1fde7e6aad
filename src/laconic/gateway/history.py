"""Write down what each turn cost, in a thread of its own: no request waits for it, and no failure reaches a client."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from laconic.context.bill import Bill
from laconic.context.economy import price_of
from laconic.context.engine import Prepared
from laconic.gateway.engine import Caller
from laconic.gateway.passing import Passing
from laconic.gateway.plan import Plan
from laconic.gateway.routes import Target
from laconic.sessions.turns import Cost, Turn, Turns, Who
from laconic.wire.usage import Usage

log = logging.getLogger("laconic.gateway")
_NAME: Final = 100  # characters of a model or a client


class History:
    """Hands turns to the record. `keep` returns at once."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._thread = ThreadPoolExecutor(1, "history")

    def keep(self, where: Target, plan: Plan, passing: Passing, *, client: str, seconds: float) -> None:
        """One request with its answer, as far as it came."""
        if plan.caller is not None:
            self._thread.submit(
                self._write, plan.caller, where, plan, passing, client=client[:_NAME], seconds=seconds
            )

    def stop(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown(wait=True)
        self._turns.close()

    def _write(
        self, caller: Caller, where: Target, plan: Plan, passing: Passing, *, client: str, seconds: float
    ) -> None:
        try:
            model = caller.model[:_NAME]
            who = Who(caller.session, caller.account, where.upstream, model, where.format, client)
            turn = Turn.of(
                who,
                plan.kept or Prepared(b""),
                status=passing.status,
                seconds=seconds,
                cost=self._cost(caller, passing.usage, plan),
                malformed=[broken.reason for broken in passing.broken],
                limits=passing.limits,
            )
            self._turns.add(turn)
        except Exception:
            log.exception("a turn was not written down")

    def _cost(self, caller: Caller, usage: Usage | None, plan: Plan) -> Cost | None:
        if usage is None:
            return None
        last = self._turns.last_whole(caller.session)
        bill = Bill(_last=last)
        price = price_of(caller.model)
        bill.add(usage, plan.came - plan.ours.size, plan.went, price, recall=plan.ours.recall)
        return Cost(
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output,
            bill.tokens_without,
            bill.dollars,
            bill.dollars_without,
        )
