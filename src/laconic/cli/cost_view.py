"""Where money went, for people at a terminal: causes by cost, then the dearest moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from laconic.conversation.cost_causes import CauseTotal, CostMoment, CostReport, MeasuredSession
from laconic.dashboard.format import money, short
from laconic.render.plural import count_of

_TITLE: Final = 48  # characters


def describe_costs(report: CostReport, sessions: Sequence[MeasuredSession], span: str) -> list[str]:
    """The lines of the answer; it fits a screen."""
    lines = [_describe_sessions(report, sessions, span), *_describe_losses(report), ""]
    for total in report.causes:
        lines.append(_describe_total(total))
    if report.moments:
        lines += ["", "Most expensive moments:"]
        for moment in report.moments:
            lines += _describe_moment(moment)
    return lines


def _describe_sessions(report: CostReport, sessions: Sequence[MeasuredSession], span: str) -> str:
    clients: Counter[str] = Counter()
    for session in sessions:
        clients[session.client.partition("/")[0] or "gateway"] += 1  # a program names its version and more behind it
    listed = ", ".join(f"{client} {number:,}" for client, number in clients.most_common())
    counted = f"{count_of(report.sessions, 'session')} ({listed}), {count_of(report.requests, 'request')}"
    unknown = ""
    if report.unpriced:
        unknown = f" (price unknown for {count_of(report.unpriced, 'request')}: see the setting `prices`)"
    return f"{span}: {counted}, {money(report.dollars)}{unknown}."


def _describe_losses(report: CostReport) -> Iterator[str]:
    if report.moments:
        share = report.avoidable / report.dollars if report.dollars else 0.0
        yield f"{money(report.avoidable)} ({share:.0%}) paid for text that a cache had held."
    else:
        yield "No cache was lost."
    if report.repaired:
        yield f"The gateway undid {count_of(report.repaired, 'change')} that would have lost one."


def _describe_total(total: CauseTotal) -> str:
    times = f"{total.count:,} x" if total.fix else ""
    return f"{total.share:>5.0%} {money(total.dollars):>9} {times:>7}  {total.label} ({short(total.tokens)} tokens)"


def _describe_moment(moment: CostMoment) -> Iterator[str]:
    title = moment.title or moment.session
    if len(title) > _TITLE:
        title = f"{title[: _TITLE - 1]}…"
    when = ""
    if moment.at:
        local = datetime.fromtimestamp(moment.at).astimezone()
        when = f"{local.day} {local:%b %H:%M}, "
    what = moment.label
    if moment.detail:
        what = f"{what}: {moment.detail}"
    cost = money(moment.dollars)
    yield f"{cost:>9}  {title} ({when}request {moment.number}, {short(moment.tokens)} tokens)"
    yield f"{'':>11}{what}"
    yield f"{'':>11}avoided by: {moment.fix}"
