"""The first page: tokens and money with and without Laconic, cache, quotas, the newest sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from laconic.dashboard import charts, format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import card, cards, join_spaced, link, live, page, periods, table
from laconic.dashboard.markup import Child, Markup, tag
from laconic.dashboard.pages.sessions import COLUMNS, output_share, session_row
from laconic.dashboard.pages.spending import parts_table


def overview_page(view: JsonNode) -> str:
    """The page."""
    choice = periods(view["days"])
    if not view["totals"]["turns"]:
        return page("Overview", "./", choice, live("totals", _nothing()), json=view.address)
    return page(
        "Overview",
        "./",
        choice,
        live("totals", _totals(view)),
        live("over-time", _over_time(view), class_="two"),
        live("quotas", _quotas(view)),
        live("kinds", parts_table("Where prompt tokens went", "Kind", view["kinds"])),
        live(
            "sessions",
            table("Newest sessions", COLUMNS, map(session_row, view["sessions"]), "No session in this period."),
            tag("p", link("sessions", join_spaced("All sessions")), class_="more"),
        ),
        json=view.address,
    )


def _nothing() -> Markup:
    return tag(
        "div",
        tag("h2", "Nothing was recorded in this period"),
        tag("p", "Turns that pass through the gateway appear here by themselves. To start it:"),
        tag("pre", "laconic gateway\nANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude"),
        tag("p", "or in one step: ", tag("code", "laconic wrap claude")),
        class_="panel",
    )


def _totals(view: JsonNode) -> Markup:
    sums = view["totals"]
    return cards(
        card(
            "Prompt tokens sent",
            format.tokens(sums["prompt"]),
            join_spaced("instead of", format.tokens(sums["prompt_without"])),
        ),
        card("Prompt tokens", format.fewer(sums["share"]), _saved_text(format.tokens(sums["saved"]))),
        card(
            "Paid",
            format.paid(sums),
            join_spaced("instead of about", format.paid(sums, "dollars_without"), output_share(sums)),
        ),
        card(
            "Money",
            format.less(sums["dollars_share"]),
            _saved_text(format.dollars(sums["dollars_saved"])),
        ),
        card(
            "Prompt cache hits",
            format.share(sums["cache_share"]),
            join_spaced(format.tokens(sums["cache_read"]), "tokens read"),
        ),
        card("Sessions", format.count(view["sessions_total"]), join_spaced(format.count(sums["turns"]), "turns")),
    )


def _saved_text(amount: Child) -> Markup:
    return join_spaced(amount, "saved")


def _over_time(view: JsonNode) -> list[Markup]:
    rows = view["buckets"].value
    pattern = "%b"
    if view["bucket"].value == "hour":
        pattern = "%b %H:00"
    moments = []
    for row in rows:
        moments.append(datetime.fromtimestamp(row["at"], UTC))
    names = []
    for moment in moments:
        names.append(f"{moment.day} {moment.strftime(pattern)}")
    ends = (names[0], names[-1]) if names else ("", "")
    sums = []
    for row in rows:
        sums.append(row["totals"])
    tokens = []
    for name, row in zip(names, sums, strict=True):
        tokens.append(
            f"{name}\n{format.short(row['prompt'])} tokens sent\n{format.short(row['prompt_without'])} without"
        )
    paid = []
    for name, row in zip(names, sums, strict=True):
        paid.append(f"{name}\n{format.money(row['dollars'])} paid\n{format.money(row['dollars_without'])} without")
    per = f"by {view['bucket'].text}, UTC"
    with_us = "with laconic"
    found: list[Markup] = []
    for title, what, own, tips, unit in (
        (
            "Prompt tokens",
            "prompt",
            charts.Series(with_us, "with", _values(sums, "prompt")),
            tokens,
            format.short,
        ),
        ("Money", "dollars", charts.Series(with_us, "money", _values(sums, "dollars")), paid, format.price),
    ):
        found.append(
            charts.draw_paired_bars(
                charts.Chart(
                    title=f"{title} {per}",
                    series=(_without(sums, f"{what}_without"), own),
                    tips=tips,
                    ends=ends,
                    unit=unit,
                )
            )
        )
    return found


def _without(sums: list[Any], what: str) -> charts.Series:
    return charts.Series("without Laconic", "without", _values(sums, what))


def _values(sums: list[Any], what: str) -> list[float]:
    found: list[float] = []
    for row in sums:
        found.append(row[what])
    return found


def _quotas(view: JsonNode) -> Markup:
    rows = []
    for row in view["quotas"]:
        rows.append(
            (
                join_spaced(tag("strong", row["model"].text), row["upstream"].text),
                join_spaced(charts.draw_meter(row["used_share"].number, 1, "mark"), format.share(row["used_share"])),
                format.tokens(row["left"]),
                format.tokens(row["limit"]) if row["limit"] else "not said",
                format.tokens(row["spent"]),
                join_spaced("runs out in", format.seconds(row["seconds"]))
                if row["seconds"].value is not None
                else "does not run out at this pace",
                format.when(row["at"]),
            )
        )
    return table(
        "Quota runway",
        ("Model", "Used", "#Left", "#Limit per minute", "#Last minute", "Runway", "Said"),
        rows,
        "No provider stated its limits in the last two minutes.",
    )
