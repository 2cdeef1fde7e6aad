"""Recorded sessions through the engine, as figures: what they cost, and what they would have cost."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from laconic.clients.registry import compaction_limit
from laconic.config import Settings
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import RequestLimits
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.replay import ReplayClock, ReplayOutcome, replay
from laconic.exchange.exchange_parts import engine_options
from laconic.models.find_model import window_of
from laconic.models.price_lookup import Prices
from laconic.sessions.transcripts import Transcript
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse

_MILLION = 1_000_000
_FILLER = " the"  # stands in for what is not recorded
_LARGEST = 500_000  # tokens of tools and instructions that anybody has
_MANY = 1_000


class ReplayedSession(msgspec.Struct, frozen=True):
    """One session under one policy, with what it costs in dollars."""

    session: str
    policy: str
    priced: bool  # the price of the model is known; where it is not, dollars are 0
    output: int  # tokens that the model wrote, by our count
    dollars: float  # for prompts and output, with caching, as it was sent by the client
    dollars_passed: float  # with caching, as passed on
    dollars_plain: float  # without caching
    dollars_plain_passed: float
    dollars_output: float  # of each of them, those for output
    outcome: ReplayOutcome
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or self.session[-36:]


def _find_window(session: Transcript, model: str, fixed: int, count: Callable[[str], int]) -> int:
    """What the model takes. A session that outgrew that had a larger window, and nobody recorded which."""
    window = window_of(model)
    size = fixed
    for message in session.messages:
        size += count(msgspec.json.encode(message.get("content")).decode())
    if size > window:
        return 0
    return window


def replay_session(
    session: Transcript,
    policy: str,
    model: str,
    settings: Settings,
    *,
    fixed: int = 0,
    title: str = "",
    client: str = "",
) -> ReplayedSession:
    """Replay a session through an engine of its own; `fixed` are tokens of each prompt that the record lacks."""
    count, price = counter(model), Prices(settings.text("prices")).of(model)
    options = engine_options(settings)
    if policy == "ingest":
        options = msgspec.structs.replace(options, economic=False, semantic=1 << 60, standard=0)
    elif policy == "tasks":
        options = msgspec.structs.replace(options, economic=False, standard=0)
    clock = ReplayClock()
    engine = ConversationEngine(MemoryStore(), MemoryArchive(), clock, count, options)
    format = format_named("anthropic")
    head: dict[str, object] = {"model": model, "max_tokens": 8000}
    if fixed:
        head["system"] = _FILLER * round(min(fixed, _LARGEST) * _MANY / count(_FILLER * _MANY))
    window = _find_window(session, model, fixed, count)
    limits = RequestLimits(window, compacts_at=compaction_limit(client, model, window))
    found = replay(
        session.name,
        head,
        session.messages,
        lambda body: engine.prepare(session.name, parse(format, body), limits).body,
        count=count,
        price=price,
        clock=clock,
        times=session.times,
    )
    output = sum(
        count(msgspec.json.encode(message.get("content")).decode())
        for message in session.messages
        if message.get("role") == "assistant"
    )
    dollar, written = (price.dollars or 0.0) / _MILLION, price.output_dollars(output, 0)
    return ReplayedSession(
        session=session.name,
        policy=policy,
        priced=price.known,
        output=output,
        dollars=found.cost * dollar + written,
        dollars_passed=found.passed_cost * dollar + written,
        dollars_plain=found.tokens * dollar + written,
        dollars_plain_passed=found.passed * dollar + written,
        dollars_output=written,
        outcome=found,
        title=title,
    )
