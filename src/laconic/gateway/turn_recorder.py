"""Record what each turn cost, in a separate thread: no request waits for it, and no failure reaches a client."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import msgspec

from laconic.conversation.accounting import TurnCost
from laconic.conversation.engine import PreparedRequest
from laconic.errors import ArchiveUnavailable
from laconic.exchange.caller import Caller, Target
from laconic.exchange.plan import Plan
from laconic.exchange.turn_account import AnsweredTurn, TurnAccount
from laconic.gateway.response_relay import ResponseRelay
from laconic.sessions.turn_record import AnswerCost, TurnIdentity
from laconic.tokens.count import counter
from laconic.wire.laconic_overhead import LaconicOverhead

log = logging.getLogger("laconic.gateway")
Billed = Callable[[Caller, TurnCost], None]
Settle = Callable[[Sequence[TurnCost]], None]
_NAME: Final = 100  # characters of a model or a client


class TurnRecorder:
    """Accounts for turns and hands them to the record. `keep` returns at once."""

    def __init__(self, account: TurnAccount | None = None) -> None:
        self._account = account or TurnAccount()
        self._thread = ThreadPoolExecutor(1, "history")

    def keep(
        self,
        where: Target,
        plan: Plan,
        passing: ResponseRelay,
        *,
        client: str,
        seconds: float,
        billed: Billed,
        settle: Settle | None = None,
    ) -> None:
        """One request with its answer, as far as it came; `billed` is told what it cost, and `settle` all of it."""
        if plan.caller is None:
            return
        with suppress(RuntimeError):  # it has stopped
            self._thread.submit(
                self._write,
                plan.caller,
                where,
                plan,
                passing,
                client=client[:_NAME],
                seconds=seconds,
                billed=billed,
                settle=settle or _ignore,
            )

    def settled(self) -> Future[None]:
        """Done when all is written that was handed over until now."""
        return self._thread.submit(lambda: None)

    def stop(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown(wait=True)
        self._account.close()

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
        settle: Settle,
    ) -> None:
        costs: list[TurnCost] = []
        try:
            turn = _turn_of(caller, where, plan, passing, client=client, seconds=seconds)
            for one in (*_recall_turns(turn, passing), turn):
                cost, row = self._account.account(one)
                if cost is not None:
                    costs.append(cost)
                    billed(caller, cost)
                self._keep_row(one, row, [broken.reason for broken in passing.broken] if one is turn else ())
        except Exception:
            log.exception("a turn was not accounted for")
        finally:
            settle(costs)

    def _keep_row(self, turn: AnsweredTurn, row: AnswerCost | None, malformed: Sequence[str]) -> None:
        try:
            self._account.write(turn, row, malformed)
        except (sqlite3.Error, ArchiveUnavailable) as error:
            log.warning("a turn was not written down", extra={"fault": type(error).__name__})
        except Exception:
            log.exception("a turn was not written down")


def _ignore(costs: Sequence[TurnCost]) -> None:
    """Nobody pays from a budget."""


def _turn_of(
    caller: Caller, where: Target, plan: Plan, passing: ResponseRelay, *, client: str, seconds: float
) -> AnsweredTurn:
    who = TurnIdentity(
        session=caller.session,
        account=caller.account,
        upstream=where.upstream,
        model=caller.model[:_NAME],
        format=where.format,
        client=client,
        family=caller.family,
        title=plan.title,
        project=plan.project,
        person=where.person,
        betas=caller.wishes,
    )
    usage = passing.usage
    is_counted = usage is not None and usage.prompt > 0
    return AnsweredTurn(
        who=who,
        base=where.base,
        prepared=plan.prepared or PreparedRequest(b""),
        came=plan.came,
        went=plan.went,
        usage=usage,
        estimate=0 if is_counted else _estimate_tokens(plan),
        ours=plan.ours,
        fingerprint=plan.fingerprint,
        status=passing.status,
        seconds=seconds,
        limits=passing.limits,
    )


def _recall_turns(turn: AnsweredTurn, passing: ResponseRelay) -> Iterator[AnsweredTurn]:
    """Requests that were made only because something had been left out."""
    for plan, usage in passing.rounds:
        yield msgspec.structs.replace(
            turn,
            prepared=plan.prepared or PreparedRequest(b""),
            came=plan.came,
            went=plan.went,
            usage=usage,
            estimate=_estimate_tokens(plan) if usage is None else 0,
            ours=LaconicOverhead(plan.ours.tokens, recall=True),
            fingerprint=None,
            seconds=0.0,
            limits=None,
        )


def _estimate_tokens(plan: Plan) -> int:
    """Tokens of a prompt that nobody counted."""
    if plan.prepared is not None and plan.prepared.tokens:
        return plan.prepared.tokens
    if plan.body[:1] != b"{":  # it came compressed, and nobody had to open it
        return 0
    return counter()(plan.body.decode("utf-8", "replace"))
