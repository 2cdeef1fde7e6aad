"""Where tokens went: by kind, tool, file and session."""

from __future__ import annotations

from typing import Final

from laconic.dashboard import format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import card, cards, join_spaced, link, live, page, periods, table
from laconic.dashboard.markup import Child, Markup, tag
from laconic.dashboard.pages.sessions import COLUMNS, session_row

_KINDS: Final = {
    "read": "files that were read",
    "search": "searches and listings",
    "edit": "results of edits",
    "run": "output of commands",
    "report": "reports of helpers and web pages",
    "task": "lists of tasks",
    "calls": "arguments of calls",
    "user": "what the user wrote",
    "assistant": "what the model wrote",
    "thinking": "thinking",
    "instructions": "system prompt and tools",
    "other": "everything else",
}


def spending_page(view: JsonNode) -> str:
    """The page."""
    return page(
        "Where tokens went",
        "spent",
        periods(view["days"]),
        live(
            "sums",
            cards(
                card("Tokens sent, over all turns", format.tokens(view["sent"])),
                card("without Laconic", format.tokens(view["whole"])),
            ),
            tag(
                "p",
                "Content in a conversation is sent again with every turn. Each row counts its tokens in every turn "
                "in which they were sent, by Laconic's own counter.",
                class_="hint",
            ),
        ),
        live("kinds", parts_table("By kind", "Kind", view["kinds"])),
        live("tools", parts_table("By tool", "Tool", view["tools"])),
        live("files", parts_table("By file", "File", view["files"])),
        live(
            "sessions",
            table(
                "By session, as providers counted",
                COLUMNS,
                map(session_row, view["sessions"]),
                "No session was recorded yet.",
            ),
            tag("p", link("sessions", "All sessions", order="prompt"), class_="more"),
        ),
        json=view.address,
    )


def parts_table(caption: str, column: str, rows: JsonNode) -> Markup:
    """Rows with a bar: sent in front of what would have been."""
    most = max((row["whole"].number for row in rows), default=0)
    named = _kind if column == "Kind" else _plain
    return table(
        caption,
        (column, "Sent", "#Tokens", "#Without", "-#Entered once", "-#Blocks"),
        (
            (
                named(row),
                _bar(row, most),
                format.tokens(row["sent"]),
                format.tokens(row["whole"]),
                format.tokens(row["entered"]),
                format.count(row["blocks"]),
            )
            for row in rows
        ),
        "Nothing was recorded yet.",
    )


def _bar(row: JsonNode, most: float) -> Markup:
    whole = 100 * row["whole"].number / most if most else 0
    sent = 100 * row["sent"].number / most if most else 0
    return tag(
        "svg",
        tag("rect", width=f"{whole:.1f}%", height="100%", rx=3, class_="without"),
        tag("rect", width=f"{sent:.1f}%", height="100%", rx=3, class_="with"),
        class_="wide meter",
        aria_hidden="true",
    )


def _plain(row: JsonNode) -> Child:
    return tag("code", row["name"].text or "–")


def _kind(row: JsonNode) -> Child:
    return join_spaced(tag("strong", row["name"].text), tag("small", _KINDS.get(row["name"].text, "")))
