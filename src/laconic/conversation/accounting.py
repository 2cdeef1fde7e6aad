"""The account of a turn: what it cost, and what it would have cost without Laconic.

Law: as long as no byte was changed and nothing of ours was added, both are equal, whatever the provider reports. Where
something was changed, the provider's own split into read, written and plain tokens is carried over to the longer prompt:
what a cache held for us it would have held without us, and what it no longer held for us it would not have held either,
unless we ourselves had just rewritten the history. Where that cannot be known the lower figure stands.

It is pure: what the previous requests of the session left behind comes in as a `Standing`, and the next one goes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import msgspec

from laconic.conversation.client_compaction import ClientCompaction, PromptSplit, compact_as_client, is_rewound
from laconic.models.model import Price
from laconic.wire.usage import Usage

_SLACK: Final = 1.1  # by which our count of a prompt's fixed part may fall short of the provider's
_DOUBT: Final = 0.02  # of a size: two counts of the same text may differ by so much
_ENOUGH: Final = 1_000  # tokens of new text whose counts say how tokenizers differ
_MOST: Final = 2.0  # by which a provider's count may differ from ours: more is no matter of tokenizers
_FAR: Final = 0.5  # of a client's limit: below it compacts its history so much later that a session rarely gets there
_UNTIL_SURE: Final = 5  # turns, after which a client that would have compacted its history has not done so with us
_STEPS: Final = 16  # prompts of which is remembered how much was removed
_BLOCK: Final = 128  # tokens by which providers round down what they read
_HOUR: Final = 3600.0
_SMALL: Final = 0.01  # dollars below which a bill shows hundredths of a cent


class TurnSizes(msgspec.Struct, frozen=True):
    """One request and what was reported about its answer. Sizes are in one unit of the caller's choice."""

    usage: Usage
    came: float  # size of the request as the client sent it
    went: float  # as it was sent on
    ours: float = 0.0  # of what came, what is there only because of us
    fixed: float = 0.0  # share of what went that stands before all messages, and is never changed
    rewritten: bool = False  # we changed something that had been sent before
    anew: bool = False  # the client changed it: the request does not go on from an earlier one
    recall: bool = False  # it only brought back what had been left out: without us it would not have been made
    at: float = 0.0  # seconds, of any clock that outlives the process
    compaction: ClientCompaction = ClientCompaction()  # how the client would have compacted its history

    @property
    def removed(self) -> float:
        return self.came - self.went

    @property
    def unchanged(self) -> bool:
        return self.came == self.went and not self.ours


class CountComparison(msgspec.Struct, frozen=True):
    """A provider's count of what a session grew by, beside ours."""

    ours: int = 0
    theirs: int = 0
    last: int = 0  # our count of the last prompt
    last_theirs: int = 0

    def add(self, ours: int, theirs: int, *, rewritten: bool) -> CountComparison:
        """One prompt more. What it grew by is compared where that is mostly text, and nothing else was changed."""
        grown, grown_theirs = ours - self.last, theirs - self.last_theirs
        if rewritten or not self.last or grown < _ENOUGH or grown_theirs <= 0:
            return CountComparison(self.ours, self.theirs, ours, theirs)
        return CountComparison(self.ours + grown, self.theirs + grown_theirs, ours, theirs)

    @property
    def ratio(self) -> float:
        """Tokens of the provider for one of ours, without what it adds to every prompt and message."""
        found = 1.0
        if self.ours:
            found = self.theirs / self.ours
        elif self.last:
            found = self.last_theirs / self.last
        return min(_MOST, max(1 / _MOST, found))


class CompactionCost(msgspec.Struct, frozen=True):
    """What a compaction would have cost without us."""

    tokens: float = 0.0
    dollars: float = 0.0
    turns: int = 0  # until it is counted


class CacheState(msgspec.Struct, frozen=True):
    """What the requests of a session so far left behind."""

    at: float = 0.0  # of the last one
    came: float = 0.0
    went: float = 0.0
    cached: float = 0.0  # tokens of our prompt that a cache may hold
    cached_without: float = 0.0  # and of the prompt that would have been
    lifetime: float = 0.0  # seconds for which the cache keeps them; 0: by the model
    caches: bool = False  # the provider reported a cache
    writes: bool = False  # and what was written to it
    dropped: float = 0.0  # tokens that the client would have compacted away by now
    more: float = 0.0  # tokens that it compacted away only with us
    owed: CompactionCost = CompactionCost()  # by the side without us
    sent: float = 0.0  # tokens of the last prompt
    grown: float = 0.0  # tokens of the last prompt that would have been which no cache held
    # What is counted too little without us (or too much) if the last request was the client's own, for a summary.
    missed: float = 0.0
    missed_dollars: float = 0.0
    counts: CountComparison = CountComparison()
    # Of prompts that each begin with the one before: how much a cache may hold of it, and how much more without us.
    steps: tuple[tuple[float, float], ...] = ()

    @classmethod
    def read(cls, written: bytes) -> CacheState:
        """As `TurnCost.row` wrote it; nothing is the beginning of a session."""
        if written:
            return msgspec.json.decode(written, type=cls)
        return cls()

    def removed_from(self, read: float) -> float:
        """What we had removed from the first tokens of a prompt, at most: as much as from the shortest with them."""
        for cached, removed in self.steps:
            if cached >= read:
                return removed
        return math.inf

    @property
    def even(self) -> bool:
        """Nothing of ours is left in it."""
        return self.cached == self.cached_without


class PromptTokens(msgspec.Struct, frozen=True):
    """The tokens of a prompt by what they cost."""

    plain: float = 0.0
    read: float = 0.0
    write: float = 0.0
    hour: float = 0.0  # of those written, the ones that are kept for an hour

    @property
    def prompt(self) -> float:
        return self.plain + self.read + self.write

    @classmethod
    def of(cls, usage: Usage) -> PromptTokens:
        return cls(plain=usage.input, read=usage.cache_read, write=usage.cache_write, hour=usage.long)


class CompactedPrompt(msgspec.Struct, frozen=True):
    """The prompt that would have been, as its client would have compacted it."""

    prompt: PromptTokens
    dropped: float = 0.0  # tokens that its compactions took out so far
    summary: PromptTokens = PromptTokens()  # what it asks of the model before, in a request of its own
    more: float = 0.0  # tokens of the history that it compacted only with us
    is_counted: bool = True  # False: it is what was sent, and nothing is added to it


class TurnCost(msgspec.Struct, frozen=True):
    """One turn, with us and without. Dollars are for the prompt and the answer; 0 where no price is known."""

    usage: Usage
    tokens_without: float = 0.0  # of the prompt
    dollars: float = 0.0
    dollars_without: float = 0.0
    output_dollars: float = 0.0  # of the dollars, those for the answer
    priced: bool = True

    def row(self, standing: CacheState) -> dict[str, Any]:
        """As the record of turns has it, with what the next turn is accounted against."""
        usage = self.usage
        return {
            "input": usage.input,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "output": usage.output,
            "whole": self.tokens_without,
            "dollars": self.dollars,
            "dollars_whole": self.dollars_without,
            "long": usage.long,
            "output_dollars": self.output_dollars,
            "unpriced": 0 if self.priced else usage.prompt + usage.output,
            "estimated": usage.estimated,
            "standing": msgspec.json.encode(standing),
        }


# How the prompt would have been split without us. A simulation of the provider may take the place of `carry_over`.
Without = Callable[[TurnSizes, CacheState, Price], PromptTokens]


def account(
    exchange: TurnSizes, before: CacheState, price: Price, without: Without | None = None
) -> tuple[TurnCost, CacheState]:
    """What a turn cost, and what it leaves behind for the next."""
    usage = exchange.usage
    sent = PromptTokens.of(usage)
    made = CompactedPrompt(sent, is_counted=False)
    if not (exchange.unchanged and before.even):
        made = _compact(exchange, before, (without or carry_over)(exchange, before, price))
    other = made.prompt
    answer = price.output_dollars(usage.output, sent.prompt)
    dollars = _dollars(sent, price) + answer
    after = _standing(exchange, before, sent, made)
    if exchange.recall:
        cost = TurnCost(
            usage=usage,
            tokens_without=0.0,
            dollars=dollars,
            dollars_without=0.0,
            output_dollars=answer,
            priced=price.known,
        )
        return cost, msgspec.structs.replace(after, cached_without=before.cached_without)
    tokens, full = float(usage.prompt), dollars
    if other != sent:
        tokens = other.prompt
        full = _dollars(other, price) + price.output_dollars(usage.output, other.prompt)
    if made.dropped:
        after = _correct_if_summary(exchange, after, (sent.prompt, dollars), (tokens, full))
    added, owed = _charge_compaction(exchange, before, made, price)
    after = msgspec.structs.replace(after, owed=owed)
    tokens, full = tokens + added.tokens, full + added.dollars
    if made.is_counted and is_rewound(exchange.came, before.came):
        tokens, full = max(0.0, tokens + before.missed), max(0.0, full + before.missed_dollars)
    return TurnCost(
        usage=usage,
        tokens_without=tokens,
        dollars=dollars,
        dollars_without=full,
        output_dollars=answer,
        priced=price.known,
    ), after


def _charge_compaction(
    exchange: TurnSizes, before: CacheState, made: CompactedPrompt, price: Price
) -> tuple[CompactionCost, CompactionCost]:
    """What a compaction without us adds to this turn, and to a later one.

    Where it is made apart, the client's own compaction soon after cannot be seen: it begins another conversation, which
    both sides pay for. So near the limit this one is counted only when the conversation goes on.
    """
    owed = before.owed
    if not made.summary.prompt:
        if owed.turns != 1:
            return CompactionCost(), msgspec.structs.replace(owed, turns=max(0, owed.turns - 1))
        return owed, CompactionCost()
    summary = _dollars(made.summary, price)
    is_far = exchange.usage.prompt < _FAR * exchange.compaction.limit
    if is_far or not exchange.compaction.is_apart:
        return CompactionCost(made.summary.prompt, summary), CompactionCost()
    rewritten = _dollars(made.prompt, price) - _dollars(PromptTokens(read=made.prompt.prompt), price)
    return CompactionCost(0.0, -rewritten), CompactionCost(made.summary.prompt, summary + rewritten, _UNTIL_SURE)


def _correct_if_summary(
    exchange: TurnSizes, after: CacheState, sent: tuple[float, float], counted: tuple[float, float]
) -> CacheState:
    """Without us the client asked for its summary before: that is counted where it is known what that costs."""
    if exchange.compaction.summarises:
        missed = (-counted[0], -counted[1])
    else:
        missed = (max(0.0, sent[0] - counted[0]), max(0.0, sent[1] - counted[1]))
    return msgspec.structs.replace(after, missed=missed[0], missed_dollars=missed[1])


def estimate_prompt(tokens: int, before: CacheState, price: Price, at: float) -> Usage:
    """The usage of a prompt about which nothing was reported: what a cache may have held counts as read from it."""
    read = 0
    if tokens >= price.smallest and _is_alive(at, before, price):
        read = min(tokens, round(before.cached))
    return Usage(input=tokens - read, cache_read=read, estimated=True)


def carry_over(exchange: TurnSizes, before: CacheState, price: Price) -> PromptTokens:
    """The reported split on the prompt that would have been."""
    sent = PromptTokens.of(exchange.usage)
    # for a unit of size
    if exchange.went:
        tokens = sent.prompt / exchange.went
    else:
        tokens = 0.0
    if exchange.went:
        whole = tokens * max(0.0, exchange.came - exchange.ours)
    else:
        whole = sent.prompt
    if not is_rewound(exchange.came, before.came):
        whole += before.more
    warm = min(whole, max(0.0, _warm(exchange, before, price, tokens)))
    new, cold = sent.plain + sent.write, whole - warm
    if not new:
        return PromptTokens(plain=cold, read=warm)
    return PromptTokens(
        plain=cold * sent.plain / new, read=warm, write=cold * sent.write / new, hour=cold * sent.hour / new
    )


def _compact(exchange: TurnSizes, before: CacheState, other: PromptTokens) -> CompactedPrompt:
    """The prompt that would have been as its client would have compacted it."""
    habits = exchange.compaction
    if not habits.limit or not other.prompt:
        return CompactedPrompt(other)
    warm, more = other.read, before.more
    if before.dropped:
        warm = min(warm, before.cached_without)
    whole = PromptSplit(warm, other.prompt - warm, before.dropped)
    fixed = exchange.fixed * exchange.usage.prompt
    grown = min(whole.cold, exchange.came - before.came)
    if is_rewound(exchange.came, before.came):
        more = 0.0
        if before.dropped and habits.is_reached(before.sent):  # it had done so before without us, and goes on
            whole = habits.guess_uncompacted(whole.tokens - fixed, before.cached_without, before.grown)
            more = max(0.0, whole.tokens - other.prompt)
        grown = whole.cold
    made = compact_as_client(
        whole,
        fixed=fixed,
        limit=habits.limit,
        came=exchange.came,
        came_before=before.came,
        reported=before.cached_without if habits.late else None,
        kept=habits.count_kept(max(0.0, grown), before.grown),
    )
    summary = PromptTokens()
    if made.compacted:
        asked = habits.split_summary(before.cached_without, before.grown)
        summary = PromptTokens(plain=asked.cold, read=asked.warm)
    return CompactedPrompt(_split_alike(other, made), made.dropped, summary, more)


def _split_alike(other: PromptTokens, made: PromptSplit) -> PromptTokens:
    """What no cache held is plain and written in the same shares as in another prompt."""
    cold = other.plain + other.write
    if not cold:
        return PromptTokens(plain=made.cold, read=made.warm)
    share = made.cold / cold
    return PromptTokens(plain=other.plain * share, read=made.warm, write=other.write * share, hour=other.hour * share)


def _warm(exchange: TurnSizes, before: CacheState, price: Price, tokens: float) -> float:
    """Tokens of the prompt that would have been which a cache would have held."""
    read = exchange.usage.cache_read
    slack = _BLOCK if before.more else 0  # what was read is only what stands before all messages
    if before.caches and read >= before.cached - slack:
        return before.cached_without + read - before.cached
    if before.caches and _is_ours(exchange, before) and _is_alive(exchange.at, before, price):
        return before.cached_without
    if not read:
        return 0.0
    front = read - tokens * exchange.ours
    if read <= _SLACK * exchange.fixed * exchange.usage.prompt:
        return front
    removed = tokens * max(0.0, exchange.removed) + before.more
    most = min(front + removed, max(front, read + before.removed_from(read)))
    if before.caches:
        return min(most, max(front, before.cached_without))
    return most


def _is_ours(exchange: TurnSizes, before: CacheState) -> bool:
    """Whether it is by our doing that the history is not what was sent before. A client that changes it did it."""
    if exchange.anew:
        return False
    doubt = _DOUBT * exchange.came
    if exchange.came + doubt < before.came:
        return False
    return exchange.rewritten or exchange.removed + doubt < before.came - before.went


def _is_alive(at: float, before: CacheState, price: Price) -> bool:
    return at - before.at <= (before.lifetime or price.lifetime)


def _standing(exchange: TurnSizes, before: CacheState, sent: PromptTokens, made: CompactedPrompt) -> CacheState:
    """Providers that report no writes keep every prompt; the others keep what they read and wrote."""
    other = made.prompt
    writes = before.writes or sent.write > 0
    cached, cached_without = sent.prompt, other.prompt
    if writes:
        cached, cached_without = sent.read + sent.write, other.read + other.write
    return CacheState(
        at=exchange.at,
        came=exchange.came,
        went=exchange.went,
        cached=cached,
        cached_without=cached_without,
        lifetime=_HOUR if sent.hour else before.lifetime,
        caches=before.caches or sent.read > 0 or writes,
        writes=writes,
        dropped=made.dropped,
        more=made.more,
        sent=sent.prompt,
        grown=other.plain + other.write,
        steps=_add_step(exchange, before, cached, cached_without - cached),
    )


def _add_step(
    exchange: TurnSizes, before: CacheState, cached: float, removed: float
) -> tuple[tuple[float, float], ...]:
    """Of requests from which the same was removed, the last stands for all. A changed history begins anew."""
    steps = before.steps
    if exchange.rewritten or exchange.anew or exchange.came < before.came or cached < before.cached:
        steps = ()
    if steps and abs(steps[-1][1] - removed) < 1:
        steps = steps[:-1]
    return (*steps, (cached, removed))[-_STEPS:]


def _dollars(split: PromptTokens, price: Price) -> float:
    return price.prompt_dollars(plain=split.plain, read=split.read, write=split.write, hour=split.hour)


class Bill(msgspec.Struct):
    """Turns added up."""

    turns: int = 0
    tokens: int = 0  # of prompts
    tokens_without: float = 0.0
    output: int = 0
    dollars: float = 0.0
    dollars_without: float = 0.0
    output_dollars: float = 0.0
    unpriced: int = 0  # tokens, sent and received, whose price is not known
    estimated: int = 0  # turns of which the provider did not report all

    def add(self, cost: TurnCost) -> None:
        self.turns += 1
        self.tokens += cost.usage.prompt
        self.tokens_without += cost.tokens_without
        self.output += cost.usage.output
        self.dollars += cost.dollars
        self.dollars_without += cost.dollars_without
        self.output_dollars += cost.output_dollars
        self.unpriced += 0 if cost.priced else cost.usage.prompt + cost.usage.output
        self.estimated += cost.usage.estimated

    def __add__(self, other: Bill) -> Bill:
        return Bill(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))


def describe(bill: Bill) -> str:
    """A bill in one line."""
    if not bill.tokens:
        return "no answer reported its usage"
    about = "about " if bill.estimated else ""
    prompts = f"{about}{bill.tokens:,} prompt tokens"
    if bill.tokens_without and not _reads_alike(bill):
        change = describe_change(bill.tokens, bill.tokens_without)
        prompts += f" instead of about {round(bill.tokens_without):,} ({change})"
    return f"{prompts}, {about}{bill.output:,} output tokens; {describe_money(bill, about)}"


def describe_change(now: float, before: float) -> str:
    """`25% fewer`, `3% more`."""
    word = "more" if now > before else "fewer"
    return f"{abs(1 - now / before):.0%} {word}"


def describe_money(bill: Bill, about: str = "") -> str:
    """The money of a bill, and what is not known of it."""
    everything = bill.tokens + bill.output
    if bill.unpriced >= everything:
        return "price unknown (set `prices`)"
    largest = max(bill.dollars, bill.dollars_without)
    paid = f"{about}{_money(bill.dollars, largest)}"
    if _money(bill.dollars, largest) != _money(bill.dollars_without, largest):
        paid += f" instead of about {_money(bill.dollars_without, largest)}"
    paid += f", {_money(bill.output_dollars, largest)} of it for output"
    if bill.unpriced:
        paid += f"; price unknown for {bill.unpriced:,} tokens"
    return paid


def _reads_alike(bill: Bill) -> bool:
    """Whether both figures are the same as they are printed."""
    largest = max(bill.dollars, bill.dollars_without)
    same_money = _money(bill.dollars, largest) == _money(bill.dollars_without, largest)
    return same_money and bill.tokens == round(bill.tokens_without)


def _money(dollars: float, largest: float) -> str:
    """Every amount of a sentence with as many digits as its largest."""
    digits = 4 if largest < _SMALL else 2
    return f"${round(dollars, 6):,.{digits}f}"
