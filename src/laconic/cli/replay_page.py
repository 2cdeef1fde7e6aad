"""Replayed sessions as a page that stands alone, in the dashboard's style: a table, and a chart with axes for each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from laconic.cli.first_look import SessionEstimate
from laconic.cli.session_replay import ReplayedSession
from laconic.conversation.accounting import describe_change
from laconic.dashboard import charts
from laconic.dashboard.format import money, percent, short
from laconic.dashboard.layout import card, cards, table
from laconic.dashboard.markup import Markup, tag

_COLUMNS = (
    "Session",
    "-Client",
    "-#Requests",
    "#Prompt tokens",
    "#With laconic",
    "#Cost",
    "#With laconic ",
    "-#Recalls",
)


def render_page(
    found: Sequence[ReplayedSession], summary: Sequence[str] = (), looked: Sequence[SessionEstimate] = ()
) -> str:
    """The page; with a summary and a table where sessions were looked for."""
    style = files("laconic.dashboard").joinpath("static", "dashboard.css").read_text("utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "laconic replay"),
        tag("style", Markup(style)),
    )
    body = tag(
        "body",
        tag("header", tag("span", "laconic", class_="brand")),
        tag(
            "main",
            tag("h1", "What these sessions would have sent"),
            *(tag("p", line) for line in summary if line),
            tag("section", _table(looked)) if looked else None,
            *(tag("section", _session(one)) for one in found),
        ),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _table(looked: Sequence[SessionEstimate]) -> Markup:
    rows = []
    for one in sorted(looked, key=lambda one: one.dollars, reverse=True):
        outcome = one.replayed.outcome
        rows.append(
            (
                tag("div", one.title or one.name, tag("small", one.model), class_="named"),
                one.client,
                f"{one.requests:,}",
                short(one.prompt),
                short(one.prompt_with_us),
                _money(one.dollars, one.priced),
                _money(one.dollars_with_us, one.priced),
                f"{outcome.lines - outcome.lines_kept:,}",
            )
        )
    return table("Sessions", _COLUMNS, rows, "No session was found.", "Figures with laconic are estimates.")


def _session(one: ReplayedSession) -> Markup:
    outcome = one.outcome
    points = outcome.points
    chart = charts.Chart(
        title=f"{one.label} · {one.policy}",
        series=(
            charts.Series("prompt tokens as the client sent them", "without", [point.sent for point in points]),
            charts.Series("as passed on", "with", [point.passed for point in points]),
        ),
        tips=[
            f"request {number}\n{short(point.sent)} tokens\n{short(point.passed)} passed on"
            for number, point in enumerate(points, 1)
        ],
        ends=("request 1", f"request {len(points)}"),
        unit=short,
        marks=(("earlier text was rewritten", "mark"),) if outcome.events else (),
    )
    marks = []
    for at, point in enumerate(points):
        if point.rewritten:
            marks.append(charts.ChartMark(at, f"request {at + 1}: earlier text was rewritten", "#", 0.2))
    return tag("div", _figures(one), charts.draw_curve(chart, marks))


def _figures(one: ReplayedSession) -> Markup:
    outcome = one.outcome
    change = "no tokens"
    if outcome.tokens:
        change = describe_change(outcome.passed, outcome.tokens)
    if outcome.lines:
        kept = outcome.lines_kept / outcome.lines
    else:
        kept = 1.0
    return cards(
        card("Prompt tokens", short(outcome.passed), f"instead of {short(outcome.tokens)}, {change}"),
        card("Cost", _money(one.dollars_passed, one.priced), f"instead of {_money(one.dollars, one.priced)}"),
        card("Needed lines kept", percent(kept), f"{outcome.lines_kept:,} of {outcome.lines:,}"),
    )


def _money(dollars: float, priced: bool) -> str:
    if priced:
        return money(dollars)
    return "price unknown"
