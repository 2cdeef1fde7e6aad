"""Recorded sessions under several policies, as figures and as a page with a chart per session."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import msgspec

from laconic.config import Settings
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import options_from
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.replay import Outcome, Point, replay
from laconic.models.prices import Prices
from laconic.render.table import Cell
from laconic.sessions.transcripts import Transcript
from laconic.tokens.count import counter
from laconic.wire.formats import format_named

_WIDE, _HIGH = 640, 160  # of a chart
_MILLION = 1_000_000
UNPRICED = "price unknown"


class Replayed(msgspec.Struct, frozen=True):
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
    outcome: Outcome


def replay_session(session: Transcript, policy: str, model: str, settings: Settings) -> Replayed:
    """Replay a session through an engine of its own."""
    count, price = counter(model), Prices(settings.text("prices")).of(model)
    options = options_from(settings)
    if policy == "ingest":
        options = msgspec.structs.replace(options, economic=False, semantic=1 << 60, standard=0)
    elif policy == "tasks":
        options = msgspec.structs.replace(options, economic=False, standard=0)
    engine = ConversationEngine(MemoryStore(), MemoryArchive(), lambda: 0.0, count, options)
    format = format_named("anthropic")
    found = replay(
        session.name,
        {"model": model, "max_tokens": 8000},
        session.messages,
        lambda body: engine.prepare(session.name, format, body).body,
        count=count,
        price=price,
    )
    output = sum(
        count(msgspec.json.encode(message.get("content")).decode())
        for message in session.messages
        if message.get("role") == "assistant"
    )
    dollar, written = (price.dollars or 0.0) / _MILLION, price.output_dollars(output, 0)
    return Replayed(
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
    )


def make_row(one: Replayed) -> dict[str, Cell]:
    """One line of the table."""
    out = one.outcome
    return {
        "session": one.session[-36:],
        "policy": one.policy,
        "turns": out.turns,
        "tokens": out.tokens,
        "sent": out.passed / max(1, out.tokens),
        "$ cached": _money(one, one.dollars, one.dollars_passed),
        "cost": out.passed_cost / max(1e-9, out.cost),
        "$ uncached": _money(one, one.dollars_plain, one.dollars_plain_passed),
        "$ output": f"{one.dollars_output:.2f}" if one.priced else UNPRICED,
        "peak": f"{out.peak // 1000}k -> {out.passed_peak // 1000}k",
        "lines": f"{out.lines_kept}/{out.lines}",
        "names": f"{out.names_kept}/{out.names}",
        "events": out.events,
    }


def _money(one: Replayed, before: float, after: float) -> str:
    return f"{before:.2f} -> {after:.2f}" if one.priced else UNPRICED


def render_page(found: Sequence[Replayed]) -> str:
    """A page that stands alone: a chart per session and policy, light and dark."""
    body = "\n".join(_section(one) for one in found)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>laconic replay</title><style>"
        ":root{color-scheme:light dark}body{font:15px/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}"
        "h2{font-size:1rem;margin:2rem 0 .2rem}p{margin:.2rem 0}svg{width:100%;height:auto}"
        ".was{fill:none;stroke:#999}.now{fill:none;stroke:#1a7f5a;stroke-width:2}.at{stroke:#c0392b}</style>"
        "<h1>What these sessions would have sent</h1>"
        "<p>Grey: as the client sent it. Green: as passed on. Red marks: earlier text was rewritten.</p>"
        f"{body}</html>\n"
    )


def _section(one: Replayed) -> str:
    out = one.outcome
    money = UNPRICED
    if one.priced:
        money = f"${one.dollars:.2f} to ${one.dollars_passed:.2f}, ${one.dollars_output:.2f} of each for output"
    facts = (
        f"{out.turns} requests, {out.passed / max(1, out.tokens):.0%} of the tokens, "
        f"{out.passed_cost / max(1e-9, out.cost):.0%} of the cost with caching "
        f"({money}), needed lines kept {out.lines_kept} of {out.lines}"
    )
    return f"<h2>{escape(one.session)} · {escape(one.policy)}</h2><p>{facts}</p>{_chart(out.points)}"


def _chart(points: Sequence[Point]) -> str:
    top = max((point.sent for point in points), default=1) or 1
    step = _WIDE / max(1, len(points) - 1)

    def path(values: Sequence[int]) -> str:
        return " ".join(f"{n * step:.1f},{_HIGH - value / top * _HIGH:.1f}" for n, value in enumerate(values))

    marks = "".join(
        f'<line class=at x1="{n * step:.1f}" x2="{n * step:.1f}" y1="{_HIGH - 6}" y2="{_HIGH}" />'
        for n, point in enumerate(points)
        if point.rewritten
    )
    return (
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" role=img aria-label="prompt tokens by request">'
        f'<polyline class=was points="{path([p.sent for p in points])}" />'
        f'<polyline class=now points="{path([p.passed for p in points])}" />{marks}</svg>'
    )
