"""Tools, models, archived texts, and the page for unknown addresses."""

from __future__ import annotations

from laconic.dashboard import charts, format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import join_spaced, link, live, page, table
from laconic.dashboard.markup import Markup, tag
from laconic.dashboard.pages.spending import parts_table


def tools_page(view: JsonNode) -> str:
    """What tools cost."""
    top = max((row["p95"].number for row in view["ours"]), default=0)
    ours = table(
        "Calls of Laconic's own tools",
        (
            *("Tool", "#Calls", "#Errors", "-#Repaired", "-#Cut", "-Tokens", "#p50", "#p95", "-#Largest"),
            *("-#Time p50", "#Time p95", "-#Longest"),
        ),
        (
            (
                tag("code", row["tool"].text),
                format.count(row["calls"]),
                format.count(row["errors"]),
                format.count(row["repaired"]),
                format.count(row["cut"]),
                charts.draw_spread(row["p50"].number, row["p95"].number, top),
                format.count(row["p50"]),
                format.count(row["p95"]),
                format.count(row["largest"]),
                format.milliseconds(row["ms_p50"]),
                format.milliseconds(row["ms_p95"]),
                format.milliseconds(row["ms_largest"]),
            )
            for row in view["ours"]
        ),
        "No tool of the code plane has been called yet: `laconic setup claude` offers them to an agent.",
        "Repaired: guessed argument names that were understood. Cut: answers that left something out to fit.",
    )
    return page(
        "Tools",
        "tools",
        live("ours", ours),
        live("seen", parts_table("All tools, by what they put into conversations", "Tool", view["seen"])),
        json=view.address,
    )


def models_page(view: JsonNode) -> str:
    """What models cost, and their malformed calls."""
    used = table(
        "Models",
        (
            "Model",
            "#Sessions",
            "#Turns",
            "#Prompt tokens",
            "#Output",
            "#Money",
            "#of it for output",
            "#Malformed calls",
            "#per turn",
        ),
        (
            (
                join_spaced(tag("strong", row["model"].text or "not named"), tag("small", row["upstream"].text)),
                format.count(row["sessions"]),
                format.count(row["turns"]),
                format.tokens(row["prompt"]),
                format.tokens(row["output"]),
                _money(row, "dollars"),
                _money(row, "output_dollars"),
                format.count(row["malformed"]),
                format.share(row["malformed_share"]),
            )
            for row in view["models"]
        ),
        "No model has answered yet.",
    )
    most = max((row["count"].number for row in view["malformed"]), default=0)
    broken = table(
        "Calls that could not be used, by reason",
        ("Model", "Provider", "Reason", "", "#Calls", "Last"),
        (
            (
                tag("strong", row["model"].text or "not named"),
                row["upstream"].text,
                row["reason"].text,
                charts.draw_meter(row["count"].number, most, "mark"),
                format.count(row["count"]),
                format.when(row["last"]),
            )
            for row in view["malformed"]
        ),
        "Every call could be used so far.",
        "Only models that write calls as text can fail here. A truncated call that writes is never run.",
    )
    return page("Models", "models", live("models", used), live("malformed", broken), json=view.address)


def _money(row: JsonNode, name: str) -> Markup:
    if row["unpriced"] and not row[name]:
        return tag("span", "price unknown")
    return format.dollars(row[name])


def archive_page(view: JsonNode) -> str:
    """A text that was left out."""
    whole = view["shown"].value == view["lines"].value
    return page(
        view["note"].text or view["ref"].text,
        "sessions",
        tag(
            "p",
            tag("code", view["ref"].text),
            " put away ",
            format.when(view["stored"]),
            ", ",
            format.count(view["size"]),
            " bytes, ",
            format.count(view["lines"]),
            " lines. ",
            link("session", "Its session", name=view["session"].text),
            " · ",
            link("archive.txt", "as plain text", ref=view["ref"].text),
            class_="hint",
        ),
        None if whole else tag("p", "The first ", format.count(view["shown"]), " lines:", class_="hint"),
        tag("pre", view["text"].text, class_="archived", tabindex=0),
        json=view.address,
    )


def failure_page(title: str, text: str) -> str:
    """A page that says what is wrong."""
    return page(title, "", tag("p", text, class_="panel"))
