"""Where the money of a session went, by cause, from what its requests used and what is known about them. Pure.

Every dollar has one cause. Text that the request before had sent, and that was not read from a cache, was lost: what it
cost above the price of reading it belongs to what lost it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from laconic.conversation.cause_texts import CAUSES, Cause
from laconic.conversation.prefix_change import Part, PrefixChange
from laconic.models.model import Price
from laconic.wire.cache_rules import FIVE_MINUTES, HOUR, LOOKBACK
from laconic.wire.usage import Usage

PriceOf = Callable[[str], Price]
_EARLY: Final = 0.98  # of a lifetime: clocks of clients and providers differ
_SHARE: Final = 0.05  # of what a cache held: less that is missing is no event
_SHRUNK: Final = 0.3  # the same, where a prompt became shorter
_FIXED: Final = 0.85  # of a first prompt: a request that reads less lost its tools or its system prompt
_FIXED_MARKED: Final = 0.3  # the same where only marked text is cached: the first message may be as long as the rest


_PARTS: Final[dict[Part, Cause]] = {
    "tools": "tools_changed",
    "tools_order": "tools_reordered",
    "tools_form": "json_rewritten",
    "system": "system_changed",
    "message": "message_changed",
    "rewind": "rewind",
    "compaction": "compaction",
    "marks": "marks_moved",
    "model": "model_switch",
}


class MeasuredRequest(msgspec.Struct, frozen=True):
    """One request with what its provider counted, and what is known of its circumstances."""

    usage: Usage
    at: float = 0.0  # seconds since 1970 at which it was sent; 0: not known
    model: str = ""
    compacted: bool = False  # the client says that it had just compacted
    blocks: int = 0  # that the request before did not have; 0: not known
    mode: str = ""  # why we rewrote what had been sent before; empty: we did not
    change: PrefixChange | None = None  # None: nobody compared the prompts
    repaired: str = ""  # what the gateway sent in its old form
    free: bool = False  # on a server of one's own


class MeasuredSession(msgspec.Struct, frozen=True):
    """A session with its requests, in order."""

    name: str
    requests: tuple[MeasuredRequest, ...]
    title: str = ""
    client: str = ""
    project: str = ""


class CostMoment(msgspec.Struct, frozen=True):
    """A request that paid for text which a cache had held."""

    session: str
    title: str
    client: str
    number: int  # of the request, from 1
    at: float
    cause: Cause
    label: str
    dollars: float  # above the price of reading it
    tokens: int  # that were not read
    pause: float  # seconds since the request before
    detail: str
    fix: str


class CauseTotal(msgspec.Struct, frozen=True):
    """All that one cause cost."""

    cause: Cause
    label: str
    count: int  # moments; requests where it is no waste
    tokens: int
    dollars: float
    share: float  # of all dollars, or of all tokens where no price is known
    fix: str


class CostReport(msgspec.Struct, frozen=True):
    """Sessions, by cause."""

    sessions: int
    requests: int
    dollars: float
    unpriced: int  # requests whose price is not known
    repaired: int  # changes of clients that the gateway undid
    causes: tuple[CauseTotal, ...]  # the dearest first
    moments: tuple[CostMoment, ...]  # the dearest first

    @property
    def avoidable(self) -> float:
        """Dollars that were paid for lost caches."""
        return sum(total.dollars for total in self.causes if total.fix and total.cause != "own_event")


class _Sums:
    def __init__(self) -> None:
        self.count = 0
        self.tokens = 0.0
        self.dollars = 0.0

    def add(self, tokens: float, dollars: float) -> None:
        self.count += 1
        self.tokens += tokens
        self.dollars += dollars


class CostExplainer:
    """Adds sessions up. `price_of` gives the price of a model."""

    def __init__(self, price_of: PriceOf) -> None:
        self._price_of = price_of
        self._sums: defaultdict[Cause, _Sums] = defaultdict(_Sums)
        self._prices: dict[str, Price] = {}
        self._moments: list[CostMoment] = []
        self._sessions = self._requests = self._unpriced = self._repaired = 0

    def add(self, session: MeasuredSession) -> None:
        """One session more."""
        self._sessions += 1
        has_cache = _has_cache(session)
        before: MeasuredRequest | None = None
        lifetime = 0.0
        first = 0  # tokens of the first prompt, or of the first behind a summary
        for number, request in enumerate(session.requests, 1):
            if not request.usage.prompt:
                continue
            price = self._prices.get(request.model)
            if price is None:
                price = self._prices[request.model] = self._price_of(request.model)
            if request.free:
                price = msgspec.structs.replace(price, dollars=0.0)
            self._requests += 1
            self._unpriced += not price.known
            self._repaired += bool(request.repaired)
            if request.compacted or not first:
                first = request.usage.prompt
            seen = _Circumstances(request, before, lifetime, first, price)
            self._divide(session, number, seen, seen.lost if has_cache else 0)
            lifetime = _lifetime_after(request.usage, price, lifetime)
            before = request

    def report(self, most: int = 0) -> CostReport:
        """Everything so far; with a limit, so many of the dearest moments."""
        dollars = tokens = 0.0
        for sums in self._sums.values():
            dollars += sums.dollars
            tokens += sums.tokens
        totals = []
        for cause, sums in self._sums.items():
            text = CAUSES[cause]
            share = sums.tokens / tokens if tokens else 0.0
            if dollars:
                share = sums.dollars / dollars
            totals.append(
                CauseTotal(
                    cause=cause,
                    label=text.label,
                    count=sums.count,
                    tokens=round(sums.tokens),
                    dollars=sums.dollars,
                    share=share,
                    fix=text.fix,
                )
            )
        totals.sort(key=lambda total: (total.dollars, total.tokens), reverse=True)
        moments = sorted(self._moments, key=lambda moment: (moment.dollars, moment.tokens), reverse=True)
        return CostReport(
            sessions=self._sessions,
            requests=self._requests,
            dollars=dollars,
            unpriced=self._unpriced,
            repaired=self._repaired,
            causes=tuple(totals),
            moments=tuple(moments[:most] if most else moments),
        )

    def _divide(self, session: MeasuredSession, number: int, seen: _Circumstances, missing: int) -> None:
        """Every dollar of a request to its cause."""
        usage, price, request = seen.request.usage, seen.price, seen.request
        new = usage.input + usage.cache_write
        lost = min(missing, new)
        per_read = price.prompt_dollars(plain=0, read=usage.cache_read, write=0, hour=0) / max(1, usage.cache_read)
        paid = price.prompt_dollars(
            plain=usage.input, read=usage.cache_read, write=usage.cache_write, hour=usage.long
        )
        if not usage.cache_read:
            per_read = price.prompt_dollars(plain=0, read=usage.prompt, write=0, hour=0) / usage.prompt
        per_new = (paid - per_read * usage.cache_read) / max(1, new)
        self._count("carried", usage.cache_read, per_read * (usage.cache_read + lost))
        self._count("answers", usage.output, price.output_dollars(usage.output, usage.prompt))
        grown: Cause = "growth"
        if seen.before is None:
            grown = "start"
        if new > lost:
            self._count(grown, new - lost, per_new * (new - lost))
        if not lost:
            return
        cause = seen.find_cause()
        wasted = (per_new - per_read) * lost
        self._count(cause, lost, wasted)
        self._moments.append(
            CostMoment(
                session=session.name,
                title=session.title,
                client=session.client,
                number=number,
                at=request.at,
                cause=cause,
                label=CAUSES[cause].label,
                dollars=wasted,
                tokens=lost,
                pause=seen.pause,
                detail=seen.describe(cause),
                fix=CAUSES[cause].fix,
            )
        )

    def _count(self, cause: Cause, tokens: float, dollars: float) -> None:
        self._sums[cause].add(tokens, dollars)


class _Circumstances:
    """One request beside the one before."""

    def __init__(
        self, request: MeasuredRequest, before: MeasuredRequest | None, lifetime: float, first: int, price: Price
    ) -> None:
        self.request = request
        self.before = before
        self.price = price
        self._lifetime = lifetime or price.lifetime
        self._first = first

    @property
    def pause(self) -> float:
        """Seconds since the request before; 0 where a time is not known."""
        if self.before is None or not self.before.at or not self.request.at:
            return 0.0
        return max(0.0, self.request.at - self.before.at)

    @property
    def lost(self) -> int:
        """Tokens that the request before left in a cache and that this one did not read; 0: about all were read."""
        if self.before is None:
            return 0
        usage, old = self.request.usage, self.before.usage
        if self._is_compacted():
            return usage.input + usage.cache_write  # without a summary none of it would have been written
        held = old.prompt
        if self.price.write > self.price.plain and old.cache_read + old.cache_write:
            held = old.cache_read + old.cache_write  # what no mark stands behind was not kept
        share = _SHARE
        if usage.prompt < held and self._may_be_rewound():
            share = _SHRUNK  # a rewound history ends with new text, which no cache ever held
        held = min(held, usage.prompt)
        missing = held - usage.cache_read
        if held < self.price.smallest or missing < max(self.price.smallest, share * held):
            return 0
        return missing

    def _may_be_rewound(self) -> bool:
        if self.request.mode:
            return False
        return self.request.change is None or self.request.change.part == "rewind"

    def _is_compacted(self) -> bool:
        change = self.request.change
        return self.request.compacted or (change is not None and change.part == "compaction")

    def find_cause(self) -> Cause:
        """What came first: without a cache by the clock, no change matters; then the order of a prompt's parts."""
        request, before = self.request, self.before
        assert before is not None
        if self.pause >= _EARLY * self._lifetime:
            if self.pause >= _EARLY * HOUR:
                return "pause_1h"
            return "pause_5m"
        if request.model != before.model:
            return "model_switch"
        if self._is_compacted():
            return "compaction"
        if request.change is None:
            return self._guess()
        part = request.change.part
        if request.mode and part in {"", "marks"}:
            return "own_event"
        if part and not (request.repaired and part in _REPAIRABLE):
            return _PARTS[part]
        if request.mode:
            return "own_event"
        if self._may_be_cold():
            return "pause_5m"
        return "provider"

    def _may_be_cold(self) -> bool:
        """Providers that cache by themselves promise no lifetime: after five minutes an entry may be gone."""
        return self.price.write <= self.price.plain and self.pause >= _EARLY * FIVE_MINUTES

    def _guess(self) -> Cause:
        """By how much was read, where nobody compared the prompts: a transcript holds no tools and no system prompt."""
        if self.request.mode:
            return "own_event"
        if self._may_be_cold():
            return "pause_5m"
        has_marks = self.price.write > self.price.plain
        fixed = _FIXED_MARKED if has_marks else _FIXED
        if self.request.usage.cache_read < fixed * self._first:
            return "prefix_changed"
        if self.request.blocks > LOOKBACK and has_marks:
            return "marks_moved"
        return "message_changed"

    def describe(self, cause: Cause) -> str:
        """What can be shown of it."""
        request = self.request
        if cause in {"pause_5m", "pause_1h"}:
            return f"pause of {_length(self.pause)}"
        if cause == "model_switch" and self.before is not None:
            return f"{self.before.model} -> {request.model}"
        if cause == "own_event":
            return request.mode
        if cause == "marks_moved" and request.change is None:
            return f"{request.blocks} new blocks; providers look back {LOOKBACK}"
        if request.change is not None and request.change.part:
            return request.change.detail
        if cause == "message_changed":
            return f"after the first {request.usage.cache_read:,} of {request.usage.prompt:,} tokens"
        return ""


_REPAIRABLE: Final[frozenset[Part]] = frozenset({"tools_order", "tools_form", "marks"})


def explain(sessions: Iterable[MeasuredSession], price_of: PriceOf, most: int = 0) -> CostReport:
    """Where the money of these sessions went."""
    explainer = CostExplainer(price_of)
    for session in sessions:
        explainer.add(session)
    return explainer.report(most)


def without_doubles(
    sessions: Sequence[MeasuredSession], known: Sequence[MeasuredSession]
) -> Iterator[MeasuredSession]:
    """The sessions that are not recorded twice: by what the provider counted in at least half of their requests."""
    seen = set()
    for session in known:
        for request in session.requests:
            seen.add(_counted(request.usage))
    for session in sessions:
        doubles = 0
        for request in session.requests:
            doubles += _counted(request.usage) in seen
        if 2 * doubles < len(session.requests):
            yield session


def _has_cache(session: MeasuredSession) -> bool:
    """Whether the provider ever spoke of a cache."""
    return any(request.usage.cache_read or request.usage.cache_write for request in session.requests)


def _counted(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.cache_read, usage.cache_write, usage.output


def _lifetime_after(usage: Usage, price: Price, before: float) -> float:
    """Seconds that a cache keeps what a request wrote: what lives shortest decides."""
    if not usage.cache_write:
        return before or price.lifetime
    if usage.long >= usage.cache_write:
        return HOUR
    return min(FIVE_MINUTES, price.lifetime)


def _length(seconds: float) -> str:
    if seconds < HOUR:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * HOUR:
        return f"{seconds / HOUR:.1f} h"
    return f"{seconds / (24 * HOUR):.0f} days"
