"""What a team spent: by person, team, project, client, model and day."""

from __future__ import annotations

from typing import Final

from laconic.dashboard import format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import card, cards, live, page, periods, table
from laconic.dashboard.markup import Child, Markup, tag

NAVIGATION: Final = (("./", "Team"),)
_TABLES: Final = (
    ("person", "By person", "Person"),
    ("team", "By team", "Team"),
    ("project", "By project", "Project"),
    ("client", "By client", "Client"),
    ("model", "By model", "Model"),
    ("day", "By day", "Day"),
)
_WHOSE: Final = {"developer": "your figures", "lead": "the figures of your team", "admin": "the figures of all"}


def team_page(view: JsonNode) -> str:
    """The page, for somebody who sees what their role allows."""
    tables = []
    for name, caption, column in _TABLES:
        tables.append(live(name, _lines(caption, column, view[name])))
    return page(
        "Spending",
        "./",
        periods(view["days"]),
        live(
            "sums",
            cards(
                card("Spent", format.dollars(view["dollars"])),
                card("without Laconic", format.dollars(view["dollars_without"])),
                card("Requests", format.count(view["requests"])),
            ),
            tag("p", f"You see {_WHOSE[view['role'].text]}.", class_="hint"),
            tag("p", tag("a", "All rows as CSV", href=f"spending.csv?days={view['days'].text}"), class_="more"),
        ),
        *tables,
        live("keys", _keys(view["keys"])),
        json=view.address,
        navigation=NAVIGATION,
    )


def _lines(caption: str, column: str, rows: JsonNode) -> Markup:
    return table(
        caption,
        (column, "#Dollars", "#Without", "#Requests", "-#Prompt tokens", "-#Output tokens"),
        (
            (
                row["name"].text or "–",
                format.dollars(row["dollars"]),
                format.dollars(row["dollars_without"]),
                format.count(row["requests"]),
                format.tokens(row["prompt"]),
                format.tokens(row["output"]),
            )
            for row in rows
        ),
        "Nothing was spent yet.",
    )


def _keys(rows: JsonNode) -> Markup:
    return table(
        "Keys in force",
        ("Key", "Person", "Team", "Role", "-Models", "Budget", "#Spent"),
        (
            (
                tag("code", row["id"].text),
                row["owner"].text,
                row["team"].text or "–",
                row["role"].text,
                row["models"].text or "all",
                _budget(row),
                format.dollars(row["spent"]),
            )
            for row in rows
        ),
        "There are no keys.",
    )


def _budget(row: JsonNode) -> Child:
    if not row["budget"]:
        return "no limit"
    return [format.dollars(row["budget"]), f" a {row['period'].text}"]
