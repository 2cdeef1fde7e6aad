"""Write down what each turn cost, in a thread of its own: no request waits for it, and no failure reaches a client."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from laconic.conversation.accounting import CacheState, TurnCost, TurnSizes, account, estimate_prompt
from laconic.conversation.client_compaction import compaction_limit
from laconic.conversation.engine import PreparedRequest
from laconic.gateway.engine_adapter import Caller
from laconic.gateway.plan import Plan
from laconic.gateway.response_relay import ResponseRelay
from laconic.gateway.routes import Target
from laconic.models.find import find_model
from laconic.models.prices import Prices
from laconic.sessions.turns import Cost, TurnRecord, Turns, Who
from laconic.tokens.estimate import estimate
from laconic.wire.usage import Usage

log = logging.getLogger("laconic.gateway")
Billed = Callable[[Caller, TurnCost], None]
_NAME: Final = 100  # characters of a model or a client
_SESSIONS: Final = 1000  # whose standing is held where there is no record


class TurnRecorder:
    """Accounts for turns and hands them to the record. `keep` returns at once."""

    def __init__(
        self, turns: Turns | None = None, prices: Prices | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._turns = turns
        self._prices = prices or Prices()
        self._clock = clock
        self._standings: OrderedDict[str, CacheState] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, "history")

    def keep(
        self, where: Target, plan: Plan, passing: ResponseRelay, *, client: str, seconds: float, billed: Billed
    ) -> None:
        """One request with its answer, as far as it came; `billed` is told what it cost."""
        if plan.caller is None:
            return
        with suppress(RuntimeError):  # it has stopped
            self._thread.submit(
                self._write, plan.caller, where, plan, passing, client=client[:_NAME], seconds=seconds, billed=billed
            )

    def settled(self) -> Future[None]:
        """Done when all is written that was handed over until now."""
        return self._thread.submit(lambda: None)

    def stop(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown(wait=True)
        if self._turns is not None:
            self._turns.close()

    def _write(
        self,
        caller: Caller,
        where: Target,
        plan: Plan,
        passing: ResponseRelay,
        *,
        client: str,
        seconds: float,
        billed: Billed,
    ) -> None:
        try:
            cost, standing = self._account(caller, where, plan, passing, client)
            if cost is not None:
                billed(caller, cost)
            if self._turns is None:
                return
            model = caller.model[:_NAME]
            who = Who(
                session=caller.session,
                account=caller.account,
                upstream=where.upstream,
                model=model,
                format=where.format,
                client=client,
                family=caller.family,
            )
            turn = TurnRecord.of(
                who,
                plan.kept or PreparedRequest(b""),
                status=passing.status,
                seconds=seconds,
                cost=None if cost is None else Cost(**cost.row(standing)),
                malformed=[broken.reason for broken in passing.broken],
                limits=passing.limits,
            )
            self._turns.add(turn)
        except Exception:
            log.exception("a turn was not written down")

    def _account(
        self, caller: Caller, where: Target, plan: Plan, passing: ResponseRelay, client: str
    ) -> tuple[TurnCost | None, CacheState]:
        now, before = self._clock(), self._standing(caller.session)
        price = self._prices.of(caller.model, where.base)
        usage = passing.usage
        if 200 <= passing.status < 300 and (usage is None or not usage.prompt):
            usage = (usage or Usage()) + estimate_prompt(_tokens(plan), before, price, now)
        if usage is None or not usage.prompt:
            return None, before
        limit = compaction_limit(client, find_model(caller.model).window)
        cost, after = account(_exchange(plan, usage, now, limit), before, price)
        self._standings[caller.session] = after
        self._standings.move_to_end(caller.session)
        if len(self._standings) > _SESSIONS:
            self._standings.popitem(last=False)
        return cost, after

    def _standing(self, session: str) -> CacheState:
        """By the record: another process may have gone on with the session."""
        try:
            written = self._turns.standing(session) if self._turns is not None else b""
        except sqlite3.Error:
            written = b""
        return CacheState.read(written) if written else self._standings.get(session, CacheState())


def _exchange(plan: Plan, usage: Usage, at: float, limit: float) -> TurnSizes:
    """Sizes are in bytes."""
    kept = plan.kept
    fixed = kept.intake.fixed / kept.tokens if kept is not None and kept.intake is not None and kept.tokens else 0.0
    return TurnSizes(
        usage=usage,
        came=plan.came,
        went=plan.went,
        ours=plan.ours.size,
        fixed=fixed,
        rewritten=kept is not None and bool(kept.mode),
        recall=plan.ours.recall,
        at=at,
        limit=limit,
    )


def _tokens(plan: Plan) -> int:
    """Tokens of a prompt that nobody counted."""
    if plan.kept is not None and plan.kept.tokens:
        return plan.kept.tokens
    is_text = plan.body[:1] == b"{"  # else it came compressed, and nobody had to open it
    return estimate(plan.body.decode("utf-8", "replace")) if is_text else 0
