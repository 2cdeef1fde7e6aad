"""Causes of cost: what the gateway's sessions paid for, and the moments that cost most."""

from __future__ import annotations

from laconic.dashboard import format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import card, cards, link, live, page, periods, table
from laconic.dashboard.markup import Child, Markup, tag


def causes_page(view: JsonNode) -> str:
    """The page."""
    report = view["report"]
    return page(
        "Causes of cost",
        "causes",
        periods(view["days"]),
        live(
            "sums",
            cards(
                card("Paid", format.dollars(report["dollars"])),
                card("for text that a cache had held", format.dollars(view["avoidable"])),
                card("Client changes undone", format.count(report["repaired"])),
            ),
            tag(
                "p",
                "A provider reads from its cache what an earlier request sent. Where it could not, the text was paid "
                "for again. `laconic why` explains the records of clients that did not use the gateway, too.",
                class_="hint",
            ),
            _limit(view),
        ),
        live("causes", _causes(report["causes"])),
        live("moments", _moments(report["moments"])),
        json=view.address,
    )


def _limit(view: JsonNode) -> Child:
    if not view["cut"]:
        return None
    requests = format.count(view["report"]["requests"])
    return tag("p", "These are the newest ", requests, " requests; `laconic why` covers all.", class_="hint")


def _causes(rows: JsonNode) -> Markup:
    written = []
    for row in rows:
        written.append(
            (
                row["label"].text,
                format.share(row["share"]),
                format.dollars(row["dollars"]),
                format.tokens(row["tokens"]),
                format.count(row["count"]),
                row["fix"].text or "–",
            )
        )
    return table(
        "By cause",
        ("Cause", "#Share", "#Cost", "-#Tokens", "-#Times", "-What would have avoided it"),
        written,
        "Nothing has been recorded yet.",
    )


def _moments(rows: JsonNode) -> Markup:
    written = []
    for row in rows:
        written.append(
            (
                link("session", row["title"].text or row["session"].text, name=row["session"].text),
                format.when(row["at"]),
                _describe(row),
                format.dollars(row["dollars"]),
                format.tokens(row["tokens"]),
            )
        )
    return table(
        "The most expensive moments",
        ("Session", "-When", "What happened", "#Cost", "-#Tokens"),
        written,
        "No cache was lost.",
    )


def _describe(row: JsonNode) -> Child:
    return tag("div", row["label"].text, tag("small", row["detail"].text), class_="named")
