"""What is left out of a request, and why now: quota, window, completed tasks, thresholds, and what pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from laconic.conversation.cache_clock import is_warm, price_of
from laconic.conversation.cache_economics import best_start, could_pay, turns_to_come
from laconic.conversation.engine_options import EngineOptions, RequestLimits
from laconic.conversation.eviction import EvictionCandidate, Evictor, candidates, keep_imports, savings
from laconic.conversation.history import History
from laconic.conversation.ladder import Ladder
from laconic.conversation.last_imports import LastImports
from laconic.conversation.ledger import Decision, Removal
from laconic.conversation.provider_settings import for_provider
from laconic.conversation.quota import Quota
from laconic.conversation.rollup import ExchangeRollup, most_savings
from laconic.conversation.staleness import find_finished, useless
from laconic.conversation.transaction import LedgerTransaction
from laconic.models.model import Price
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.thinking import most_output

_ANSWER_SHARE: Final = 25  # of the window
_LONG_ANSWER: Final = 8_192  # tokens
_COLD_EDGE: Final = (
    0.75  # of the edge of the window: when nothing is in the cache, what will have to go soon goes now
)
_SOON: Final = 1.5


class Maintenance:
    """Decides whether a request is an event, and makes its decisions. It remembers nothing."""

    def __init__(
        self,
        options: EngineOptions,
        writing: LedgerTransaction,
        clock: Callable[[], float],
        count: Callable[[str], int],
    ) -> None:
        self._options = options
        self._writing = writing
        self._clock = clock
        self._count = count

    def maintain(
        self, history: History, conversation: ParsedRequest, bounds: RequestLimits, fixed: int, quota: Quota
    ) -> tuple[str, str, list[Decision | Removal]]:
        """The first mode that has a reason to act. Survival comes first and asks nobody."""
        options, output = self._options, most_output(conversation)
        evictor = Evictor(history.session, self._writing, self._count)
        ladder = Ladder(history, evictor, self._count, fixed)
        answer = quota.output(output)
        warm = is_warm(history.branch, self._clock())
        mode, rung = "", ""
        if quota.known and quota.prompt(ladder.tokens, warm=warm) + answer > quota.left:
            room = max(0, quota.left - answer)  # for all of it: behind a change nothing is read from a cache
            mode, rung = "survival", ladder.climb(room, max(room, fixed), "survival")
        economy = self._economy(history, conversation)
        most = _find_room(bounds.window, output)
        edge = options.high_water * most
        again = round(edge)
        if not economy[1]:
            edge *= _COLD_EDGE
        if most and ladder.tokens > edge:  # also where a low quota found nothing that it could leave out
            rung = ladder.climb(round(options.low_water * again), most, "trim", again)
            return "window", rung, ladder.made
        if mode:
            return mode, rung, ladder.made
        apart = for_provider(options.least_turns, bounds.provider, conversation.format.provider) or 1
        if history.event >= 0 and history.tracker.turn - history.event < apart:
            return "", "", []  # the lock: after an event some turns pass before the next, also across a restart
        completed = history.tracker.completed and ladder.tokens >= options.semantic
        if completed and (made := self._finish(history, evictor, economy)):
            return "semantic", "task", [*made]
        if options.standard and ladder.tokens > options.standard and not _compacts_soon(bounds, options.standard):
            rung = ladder.climb(round(options.low_water * options.standard), options.standard, "age")
            return "standard", rung, ladder.made
        if options.economic and (left := self._economise(history, evictor, conversation, economy)):
            return "economic", "age", left
        return "", "", []

    def _economy(self, history: History, conversation: ParsedRequest) -> tuple[Price, bool]:
        """What a rewrite costs now: the price, and whether there is a cache to lose.

        Of a branch that was never sent nobody knows, so it counts as warm.
        """
        branch = history.branch
        return price_of(conversation), branch.time == 0 or is_warm(branch, self._clock())

    def _finish(self, history: History, evictor: Evictor, economy: tuple[Price, bool]) -> list[Decision | Removal]:
        """Tasks were completed: their outputs go, if that pays."""
        done = {}
        for each in history.tracker.completed:
            done[each.id] = each
        made: list[Decision] = []
        found = []
        for one in candidates(history.tracker, find_finished):
            if any(tracked.task in done for tracked, _ in one.rows):
                found.append(one)
        giving = {candidate.key: candidate.tokens for candidate in found}
        start = self._start(history, giving, economy, self._options.weights.task_payback)
        told: set[str] = set()  # tasks whose result a tombstone carries: one is enough
        for candidate in _from(history, found, start):
            task = done[next(tracked.task for tracked, _ in candidate.rows if tracked.task in done)]
            result = task.result if task.id not in told else ""
            made += evictor.decide(history.tracker, [candidate], "task", history.original, (task.title, result))
            told.add(task.id)
        return history.commit(made)

    def _economise(
        self, history: History, evictor: Evictor, conversation: ParsedRequest, economy: tuple[Price, bool]
    ) -> list[Decision | Removal]:
        """What is no longer of use goes as soon as that pays."""
        warm, patience = economy[1], 1.0
        if not warm:
            patience = self._options.rules.cold
        grown = history.tracker.tokens - history.landed
        if warm and history.event >= 0 and grown < self._options.weights.apart:
            return []
        found = candidates(history.tracker, partial(useless, patience=patience))
        giving = {}
        for candidate in found:
            giving[candidate.key] = candidate.tokens
        weights = self._options.weights
        if warm and not could_pay(most_savings(history.tracker, giving), economy[0], weights, weights.payback):
            return []  # most requests: it is not asked which exchanges could go
        imports = LastImports(history.tracker, history.list_carried())
        found = keep_imports(history.tracker, found, imports)
        giving = {candidate.key: candidate.tokens for candidate in found}
        roller = ExchangeRollup(history, conversation, evictor, self._count, imports, patience=patience)
        for key, tokens in roller.savings(giving).items():
            giving[key] = giving.get(key, 0.0) + tokens
        start = self._start(history, giving, economy, weights.payback)
        if start is None:
            return []
        made = history.commit(evictor.decide(history.tracker, _from(history, found, start), "age", history.original))
        # Behind the first change everything is written anew: what is spent there goes.
        return [*made, *history.commit([], roller.decide(start))]

    def _start(
        self, history: History, giving: Mapping[str, float], economy: tuple[Price, bool], payback: float
    ) -> int | None:
        """The place from which on blocks give back what they can; None when that does not pay."""
        if not giving:
            return None
        price, warm = economy
        return best_start(
            savings(history.tracker, giving),
            turns_to_come(history.tracker.turn, self._options.weights),
            price,
            self._options.weights,
            warm=warm,
            payback=payback,
        )


def _find_room(window: int, output: int) -> int:
    """Tokens that a prompt may have in a window so that an answer fits too; 0: the window is not known.

    A rewrite that the window forces costs more than the rest of many sessions pays back, so it comes as late as it can.
    Clients ask for much longer answers than they get: of a large window, a small share is enough for one.
    """
    return window - min(output, max(window // _ANSWER_SHARE, min(_LONG_ANSWER, window // 2)))


def _compacts_soon(bounds: RequestLimits, threshold: int) -> bool:
    """Whether the client itself compacts not long after a threshold: then a rewrite of ours would be one more."""
    return 0 < bounds.compacts_at <= _SOON * threshold


def _from(history: History, found: Sequence[EvictionCandidate], start: int | None) -> list[EvictionCandidate]:
    """The candidates from a place on."""
    if start is None:
        return []
    return [candidate for candidate in found if history.present[candidate.key] >= start]
