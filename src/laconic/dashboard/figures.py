"""What each page shows, computed once: the JSON and the pages are both written from these records."""

from __future__ import annotations

import msgspec

from laconic.conversation.cost_causes import CostReport
from laconic.sessions.spending import MalformedCalls, SpendingPart
from laconic.sessions.tool_call_log import ToolCallFigures


class Totals(msgspec.Struct, frozen=True):
    """Sums, with us and without."""

    turns: int = 0
    prompt: int = 0
    prompt_without: int = 0
    saved: int = 0
    share: float | None = None  # of the prompt tokens that would have been
    dollars: float = 0.0
    dollars_without: float = 0.0
    dollars_saved: float = 0.0
    dollars_share: float | None = None
    cache_read: int = 0
    cache_share: float | None = None  # of the prompt
    output: int = 0
    output_dollars: float = 0.0  # of the dollars, those for output
    unpriced: int = 0  # tokens whose price is not known
    estimated: int = 0  # turns of which the provider did not report all


class CausesPage(msgspec.Struct, frozen=True):
    """Where the money of the last days went, by cause."""

    days: int
    cut: bool  # only the newest sessions were looked at
    avoidable: float  # dollars that lost caches cost
    report: CostReport


class Bucket(msgspec.Struct, frozen=True):
    """An hour or a day."""

    at: int
    totals: Totals


class SessionFigures(msgspec.Struct, frozen=True):
    """One session."""

    session: str
    title: str
    client: str
    upstream: str
    model: str
    began: float
    last: float
    errors: int
    decisions: int
    totals: Totals
    project: str = ""
    side: int = 0  # conversations that its client had beside it, added up with it


class Runway(msgspec.Struct, frozen=True):
    """A quota of tokens per minute: what is left, how fast it goes, and how long it lasts at that pace."""

    upstream: str
    model: str
    at: float
    limit: int  # 0: not said
    left: int
    spent: int  # in the last minute
    used_share: float | None
    seconds: float | None  # None: at this pace it does not run out


class Overview(msgspec.Struct, frozen=True):
    """The first page."""

    days: int  # 0: all
    sessions_total: int
    totals: Totals
    bucket: str  # hour or day
    buckets: list[Bucket]
    quotas: list[Runway]
    kinds: list[SpendingPart]
    sessions: list[SessionFigures]


class Sessions(msgspec.Struct, frozen=True):
    """One page of the list."""

    order: str
    page: int
    pages: int
    total: int
    sessions: list[SessionFigures]
    totals: Totals  # of all sessions that were asked for, on this page and on others
    client: str  # what was asked for; empty: all
    project: str
    words: str
    clients: list[str]
    projects: list[str]


class TurnFigures(msgspec.Struct, frozen=True):
    """One turn of a session."""

    number: int
    at: float
    status: int
    milliseconds: int
    mode: str
    rung: str
    decisions: int
    saved: int  # tokens that its decisions took out
    input: int
    cache_write: int
    sent: int  # prompt tokens as the provider counted them, or as we did when it did not say
    without: int
    paid: float  # dollars up to this turn
    paid_without: float
    totals: Totals


class DecisionFigures(msgspec.Struct, frozen=True):
    """A decision of the ledger: what became smaller, and where the whole is."""

    number: int  # of the turn it was made in
    reason: str
    kind: str
    tool: str
    file: str
    field: str
    before: int
    after: int
    saved: int
    gone: bool
    ref: str  # of the archive; empty: nothing was lost
    kept: bool  # the archive still has it
    note: str


class DecisionEvent(msgspec.Struct, frozen=True):
    """All decisions of one turn: a mark on the curve."""

    number: int
    decisions: int
    saved: int
    reasons: dict[str, int]


class SessionPage(msgspec.Struct, frozen=True):
    """A session in full."""

    session: SessionFigures
    turns: list[TurnFigures]
    events: list[DecisionEvent]
    decisions_total: int
    evicted_tokens: int
    decisions: list[DecisionFigures]  # the newest of them, newest first
    kinds: list[SpendingPart]
    tools: list[SpendingPart]
    files: list[SpendingPart]
    side: list[SessionFigures]


class SpendingPage(msgspec.Struct, frozen=True):
    """Where tokens went."""

    days: int  # 0: ever
    sent: int
    whole: int
    kinds: list[SpendingPart]
    tools: list[SpendingPart]
    files: list[SpendingPart]
    sessions: list[SessionFigures]


class Tools(msgspec.Struct, frozen=True):
    """What tools cost: ours call by call, all of them by what they put into conversations."""

    ours: list[ToolCallFigures]
    seen: list[SpendingPart]


class ModelFigures(msgspec.Struct, frozen=True):
    """A model, and how often its calls could not be used."""

    upstream: str
    model: str
    sessions: int
    turns: int
    prompt: int
    output: int
    dollars: float
    output_dollars: float
    unpriced: int
    malformed: int
    malformed_share: float | None  # per turn


class Models(msgspec.Struct, frozen=True):
    """All models."""

    models: list[ModelFigures]
    malformed: list[MalformedCalls]


class ArchivedText(msgspec.Struct, frozen=True):
    """Something that was left out of a conversation."""

    ref: str
    session: str
    task: str
    note: str
    stored: float
    size: int
    lines: int
    shown: int  # lines of it in `text`
    text: str
