"""Where requests are planned: never in the event loop, but in a thread, and large ones in a separate process.

Neither JSON, nor regular expressions, nor the tokenizer let other threads run while they work on one large text.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from laconic.exchange.caller import Caller, Target
from laconic.exchange.plan import Plan
from laconic.gateway.planner import Planner
from laconic.gateway.planner_process import PlannerProcess
from laconic.tokens.count import counter, warm_up
from laconic.wire.hidden_calls import HeldAnswer
from laconic.wire.prompted_tool_calls.calls import UnusableCalls
from laconic.wire.rate_limits import RateLimits
from laconic.wire.refusals import PromptTooLong
from laconic.wire.usage import Usage

T = TypeVar("T")
log = logging.getLogger("laconic.gateway")
_LARGE: Final = 2 * 2**20  # bytes of a body
_WAIT: Final = 10.0  # seconds that a large one waits for its plan, with those before it
_LONGEST: Final = 120.0  # seconds after which its planner is killed; until then what it does is not lost


class PlanExecutor:
    """One thread with the planner; a process with another one, which `make` makes, as soon as it is needed."""

    def __init__(
        self,
        planner: Planner,
        make: Callable[[], Planner] | None = None,
        *,
        wait: float = _WAIT,
        warm: Callable[[], None] = warm_up,
    ) -> None:
        self._planner = planner
        self._wait = wait
        self._warm = warm
        self._warming: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "planner")
        self._process = PlannerProcess(make) if make else None
        self._waiting = ThreadPoolExecutor(1, "large")  # for the process

    async def start(self) -> None:
        """Load the vocabulary: no other thread runs meanwhile."""
        await asyncio.wrap_future(self._thread.submit(counter))

    async def warm_up(self) -> None:
        """Make the tokenizer ready, once. The first requests wait for it; a gateway that nobody uses does without."""
        if self._warming is None:
            self._warming = asyncio.wrap_future(self._thread.submit(self._warm))
        if not self._warming.done():
            await asyncio.wait({self._warming})  # who leaves meanwhile does not end it

    @property
    def process_runs(self) -> bool:
        return self._process is not None and self._process.running

    async def plan(self, where: Target, headers: Mapping[str, str], query: str, body: bytes) -> Plan:
        """What to send. A large request for which there is no time goes as it came."""
        if not self._is_large(body):
            return await self._here(Planner.plan, where, headers, query, body)
        try:
            plan = await self._apart(_plan_apart, tuple(self._planner.off), where, headers, query, body)
        except (OSError, TimeoutError) as error:
            fault = type(error).__name__
            log.warning("a large request passes unchanged", extra={"fault": fault, "size": len(body)})
            return Plan(body, failed=fault)
        if plan.caller is not None:
            self._planner.switch(plan.caller.session, headers)
        return plan

    async def downgrade(self, where: Target, plan: Plan, *, is_proven: bool) -> Plan | None:
        """The request with calls as text; None when that is not allowed, or no help."""
        if self._is_large(plan.body):
            ask = self._apart
        else:
            ask = self._here
        return await ask(_downgrade, where, plan, is_proven)

    async def answer_recall(self, where: Target, plan: Plan, held: HeldAnswer, is_last: bool) -> Plan:
        """The request that goes on after an answer which recalled something."""
        return await self._here(_answer_recall, where, plan, held, is_last)

    async def again(self, where: Target, plan: Plan, nonsense: UnusableCalls) -> Plan:
        """The same request after an answer whose calls cannot be used."""
        if self._is_large(plan.body):
            ask = self._apart
        else:
            ask = self._here
        return await ask(_correct, where, plan, nonsense)

    async def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        """The provider said that the last request was too long."""
        if self.process_runs:
            await self._apart(_overflowed, caller, said)
        await self._here(_overflowed, caller, said)

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        """What the provider said about an answer. Nobody waits for it, so it is kept even when the client leaves."""
        self._thread.submit(_answered, self._planner, caller, usage, limits)
        if self._process is not None and self._process.running:
            self._waiting.submit(self._process.ask, _answered, caller, usage, limits, seconds=_LONGEST)

    def learn(self, where: Target, model: str, protocol: str) -> None:
        """What a model showed that it can do; nobody waits for it."""
        self._thread.submit(_quietly, self._planner.exchange.learn, where, model, protocol)

    def learn_window(self, caller: Caller, tokens: int) -> None:
        """What a server says that it takes; nobody waits for it."""
        self._thread.submit(_quietly, self._planner.exchange.engine.learn_window, caller, tokens)

    def close(self) -> None:
        self._waiting.shutdown(wait=False, cancel_futures=True)
        self._thread.shutdown(wait=False)
        if self._process is not None:
            self._process.end()

    def _is_large(self, body: bytes) -> bool:
        return self._process is not None and len(body) > _LARGE

    async def _here(self, work: Callable[..., T], *args: object) -> T:
        return await asyncio.wrap_future(self._thread.submit(work, self._planner, *args))

    async def _apart(self, work: Callable[..., T], *args: object) -> T:
        asked = self._waiting.submit(self._ask, time.monotonic() + self._wait, work, args)
        return await asyncio.wait_for(asyncio.wrap_future(asked), self._wait)

    def _ask(self, until: float, work: Callable[..., T], args: tuple[object, ...]) -> T:
        if time.monotonic() > until:
            raise TimeoutError  # nobody waits for it any more
        assert self._process is not None
        return self._process.ask(work, *args, seconds=_LONGEST)


def _plan_apart(planner: Planner, off: tuple[str, ...], *request: Any) -> Plan:
    """The same as in the gateway's own process, which knows the sessions that are switched off."""
    planner.off = dict.fromkeys(off)
    return planner.plan(*request)


def _downgrade(planner: Planner, where: Target, plan: Plan, is_proven: bool) -> Plan | None:
    return planner.exchange.downgrade(where, plan, is_proven=is_proven)


def _answer_recall(planner: Planner, where: Target, plan: Plan, held: HeldAnswer, is_last: bool) -> Plan:
    return planner.exchange.answer_recall(where, plan, held, is_last=is_last)


def _correct(planner: Planner, where: Target, plan: Plan, nonsense: UnusableCalls) -> Plan:
    return planner.exchange.correct(where, plan, nonsense)


def _overflowed(planner: Planner, caller: Caller, said: PromptTooLong) -> None:
    _quietly(planner.exchange.overflowed, caller, said)


def _answered(planner: Planner, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
    _quietly(planner.exchange.answered, caller, usage, limits)


def _quietly(tell: Callable[..., None], *what: object) -> None:
    try:
        tell(*what)
    except Exception:
        log.exception("what the provider said was not kept")
