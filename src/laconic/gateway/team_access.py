"""Who may ask what with a team's key, and who pays: known for a moment, decided in the team's store.

While the store is away, keys that were in force shortly before go on, and what they spend is charged when it is back.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

from laconic.clients.registry import client_name
from laconic.conversation.accounting import TurnCost
from laconic.errors import ArchiveUnavailable, LaconicError
from laconic.exchange.plan import Plan
from laconic.models.price_lookup import Prices
from laconic.sessions.team.budgets import LEASE, Admission, Budgets, Charge
from laconic.sessions.team.keys import StoredKey, TeamKey, TeamKeys, describe_budget, key_id

T = TypeVar("T")
log = logging.getLogger("laconic.gateway")
_FRESH: Final = 1.0  # seconds that what was read about a key counts
_KNOWN: Final = 10_000  # keys that are remembered
_THREADS: Final = 4
_WAIT: Final = 60.0  # seconds that a request waits for others that use up the rest of a budget
_LOOK: Final = 0.5  # seconds between two looks
_DOUBT: Final = 1.5  # by which a provider may count more tokens than we do
_ADDED: Final = 1_000  # tokens that a provider may add to a prompt: for tools, around messages
_PENDING: Final = 100_000  # charges that wait for the store
_NAME: Final = 100  # characters of a model or a project


class TeamRefusal(LaconicError):
    """A request that a key does not allow, with the status to answer."""

    def __init__(self, status: int, problem: str, fix: str = "", retry_after: int = 0) -> None:
        super().__init__(problem, fix)
        self.status = status
        self.retry_after = retry_after


class AdmittedRequest(NamedTuple):
    """A request that goes to the provider, and has to be settled."""

    id: str
    key: TeamKey


class _Known(NamedTuple):
    at: float
    stored: StoredKey | None


class TeamAccess:
    """Used by the event loop; the store is asked in threads."""

    def __init__(
        self, keys: TeamKeys, prices: Prices, *, grace: float = 300.0, now: Callable[[], float] = time.time
    ) -> None:
        self.keys = keys
        self._prices = prices
        self._grace = grace
        self._now = now
        self._budgets = Budgets(keys.file, now)
        self._threads = ThreadPoolExecutor(_THREADS, "team")
        self._known: dict[str, _Known] = {}
        self._running: dict[str, TeamKey] = {}
        self._uncovered: dict[str, str] = {}  # purse -> the one request that its budget may not cover
        self._pending: deque[Charge] = deque(maxlen=_PENDING)
        self._spent: dict[str, float] = {}  # by purse, as last read
        self._renewing: asyncio.Task[None] | None = None

    @property
    def faults(self) -> Counter[str]:
        return self.keys.file.faults

    @property
    def is_away(self) -> bool:
        return self.keys.file.is_away

    def start(self) -> None:
        """Within the loop that uses it."""
        self._renewing = asyncio.ensure_future(self._renew())

    def stop(self) -> None:
        """Charge what is not charged yet."""
        if self._renewing is not None:
            self._renewing.cancel()
        self._threads.submit(self._write_pending)
        self._threads.shutdown(wait=True)
        self.keys.close()

    async def verify(self, shown: str) -> TeamKey:
        """The key that a client showed."""
        stored = await self._find(key_id(shown))
        if stored is None or not stored.opens(shown):
            raise TeamRefusal(401, "This key is not known to the team's gateway.", "Ask your team for a key.")
        if not stored.key.is_open(self._now()):
            raise TeamRefusal(401, "This key was revoked, or has expired.", "Ask your team for another one.")
        return stored.key

    async def admit(self, key: TeamKey, plan: Plan, base: str) -> AdmittedRequest:
        """Whether a planned request may go; it waits while other requests of its key use up the rest of a budget."""
        assert plan.caller is not None
        model = plan.caller.model
        if not model or not key.allows(model):
            listed = key.models or "all models"
            raise TeamRefusal(403, f"This key may not use the model {model[:_NAME]!r}.", f"It may use: {listed}.")
        return await self._reserve(key, self._highest_cost(key, plan, base))

    async def count(self, key: TeamKey) -> None:
        """A request that costs nothing still counts against the rate."""
        if key.rate:
            self.settle(await self._reserve(key, 0.0), "", ())

    def settle(
        self, admitted: AdmittedRequest, model: str, costs: Sequence[TurnCost], project: str = "", client: str = ""
    ) -> None:
        """The request has ended, and cost this. Any thread may say so; nobody waits."""
        key = admitted.key
        self._pending.append(
            Charge(
                request=admitted.id,
                key=key,
                at=self._now(),
                project=project.replace("\\", "/").rstrip("/").rpartition("/")[2][:_NAME],
                client=client_name(client),
                model=model[:_NAME],
                prompt=sum(cost.usage.prompt for cost in costs),
                output=sum(cost.usage.output for cost in costs),
                dollars=sum(cost.dollars for cost in costs),
                dollars_whole=sum(cost.dollars_without for cost in costs),
            )
        )
        with suppress(RuntimeError):  # it has stopped, and wrote what there was
            self._threads.submit(self._write_pending)

    async def _find(self, id: str) -> StoredKey | None:
        if not id:
            return None
        known, now = self._known.get(id), self._now()
        if known is not None and 0 <= now - known.at < _FRESH:
            return known.stored
        try:
            stored = await self._ask(lambda: self.keys.find(id))
        except ArchiveUnavailable:
            if known is not None and known.stored is not None and now - known.at < self._grace:
                return known.stored
            raise TeamRefusal(
                503,
                "The team's database cannot be reached, so this key cannot be checked.",
                "Try again in a minute.",
                10,
            ) from None
        if len(self._known) >= _KNOWN:
            self._known.clear()
        if stored is not None:
            self._known[id] = _Known(now, stored)
        return stored

    async def _reserve(self, key: TeamKey, dollars: float) -> AdmittedRequest:
        request, until = AdmittedRequest(secrets.token_hex(8), key), time.monotonic() + _WAIT
        while True:
            may_be_last = self._uncovered.setdefault(key.purse, request.id) == request.id
            admission = Admission("wait")
            try:
                admission = await self._judge(request, dollars, last=may_be_last)
            finally:
                if admission.verdict != "last" and self._uncovered.get(key.purse) == request.id:
                    del self._uncovered[key.purse]
            if admission.verdict in {"covered", "last"}:
                self._running[request.id] = key
                return request
            if admission.verdict != "wait" or time.monotonic() > until:
                raise _refuse(key, admission, self._now())
            await asyncio.sleep(_LOOK)

    async def _judge(self, request: AdmittedRequest, dollars: float, *, last: bool) -> Admission:
        key = request.key
        try:
            found = await self._ask(lambda: self._budgets.reserve(key, request.id, dollars, last=last))
        except ArchiveUnavailable:
            waiting = sum(charge.dollars for charge in list(self._pending) if charge.key.purse == key.purse)
            spent = self._spent.get(key.purse, 0.0) + waiting
            if key.budget and spent >= key.budget:
                return Admission("spent", spent)
            return Admission("covered", spent)
        self._spent[key.purse] = found.spent
        return found

    def _highest_cost(self, key: TeamKey, plan: Plan, base: str) -> float:
        """Dollars that a request can cost at most, as far as anybody can know."""
        assert plan.caller is not None
        price = self._prices.of(plan.caller.model, base)
        if not key.budget:
            return 0.0
        if not price.known:
            raise TeamRefusal(
                403,
                f"The price of {plan.caller.model[:_NAME]!r} is not known, and this key has a budget.",
                "Ask your team to name its price in the setting `prices`.",
            )
        tokens = float(len(plan.body))
        if plan.prepared is not None and plan.prepared.tokens:
            tokens = _DOUBT * plan.prepared.tokens + _ADDED
        written = price.prompt_dollars(plain=0, read=0, write=tokens, hour=tokens)
        plain = price.prompt_dollars(plain=tokens, read=0, write=0, hour=0)
        return max(written, plain) + price.output_dollars(plan.answer_limit, tokens)

    def _write_pending(self) -> None:
        """Charge all that waits, in order; what cannot be charged waits on."""
        charges: list[Charge] = []
        while self._pending:
            charges.append(self._pending.popleft())
        if not charges:
            return
        try:
            self._budgets.settle(*charges)
        except ArchiveUnavailable:
            self._pending.extendleft(reversed(charges))
            return
        except Exception:
            log.exception("requests were not charged")
        for charge in charges:
            purse = charge.key.purse
            self._spent[purse] = self._spent.get(purse, 0.0) + charge.dollars
            self._running.pop(charge.request, None)
            if self._uncovered.get(purse) == charge.request:
                self._uncovered.pop(purse, None)

    async def _renew(self) -> None:
        """Hold what running requests reserved, and charge what could not be charged."""
        while True:
            await asyncio.sleep(LEASE / 4)
            with suppress(ArchiveUnavailable):
                await self._ask(lambda: self._budgets.renew(list(self._running)))
                await self._ask(self._write_pending)

    async def _ask(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._threads.submit(work))


def _refuse(key: TeamKey, admission: Admission, now: float) -> TeamRefusal:
    if admission.verdict == "revoked":
        return TeamRefusal(401, "This key was revoked, or has expired.", "Ask your team for another one.")
    if admission.verdict == "rate":
        return TeamRefusal(
            429, f"This key may ask {key.rate} times a minute.", "Wait for the next minute.", 60 - int(now % 60)
        )
    budget, spent = describe_budget(key), f"${admission.spent:.2f}"
    if admission.verdict == "wait":
        return TeamRefusal(
            429, f"Other requests of this key may use up the rest of its budget of {budget}.", "Try again.", 30
        )
    return TeamRefusal(402, f"The budget of this key is spent: {spent} of {budget}.", "Ask your team for more.")
