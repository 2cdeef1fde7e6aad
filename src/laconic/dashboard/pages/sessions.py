"""The list of sessions, page by page."""

from __future__ import annotations

from typing import Final

from laconic.dashboard import charts, format
from laconic.dashboard.document import Node
from laconic.dashboard.layout import join_spaced, link, live, page, table
from laconic.dashboard.markup import Child, Markup, tag
from laconic.sessions.spending import Order

COLUMNS: Final = (
    *("Session", "-Last", "-#Turns", "#Tokens", "-#Without", "Share"),
    *("#Money", "-#Without ", "-#Cache", "-#Decisions"),
)
ORDERS: Final[tuple[tuple[Order, str], ...]] = (
    ("last", "newest"),
    ("prompt", "most tokens"),
    ("dollars", "most money"),
    ("saved", "most saved"),
    ("turns", "most turns"),
    ("decisions", "most decisions"),
)


def sessions_page(view: Node) -> str:
    """The page."""
    orders = tag(
        "nav",
        *(
            tag("a", name, href=f"?order={order}", aria_current="true" if order == view["order"].value else None)
            for order, name in ORDERS
        ),
        class_="periods",
        aria_label="Order",
    )
    rows = table("All sessions", COLUMNS, map(session_row, view["sessions"]), "No session was recorded yet.")
    about = tag(
        "p",
        format.count(view["total"]),
        " sessions, page ",
        format.count(view["page"]),
        " of ",
        format.count(view["pages"]),
    )
    return page("Sessions", "sessions", orders, live("list", about, rows, _turn_links(view)), json=view.address)


def session_row(row: Node) -> list[Child]:
    """A session in a table."""
    sums = row["totals"]
    return [
        tag(
            "div",
            link("session", name(row), name=row["session"].text),
            tag("small", join_spaced(row["model"].text, "·", row["client"].text or row["upstream"].text)),
            class_="named",
        ),
        format.when(row["last"]),
        format.count(sums["turns"]),
        format.tokens(sums["prompt"]),
        format.tokens(sums["prompt_without"]),
        join_spaced(
            charts.draw_meter(sums["prompt"].number, sums["prompt_without"].number), format.share(sums["share"])
        ),
        format.paid(sums),
        format.paid(sums, "dollars_without"),
        format.share(sums["cache_share"]),
        format.count(row["decisions"]),
    ]


def output_share(sums: Node) -> Markup | None:
    """What of the money went for output, and what of the tokens has no price."""
    unpriced = tag("span", "; price unknown for ", format.tokens(sums["unpriced"]), " tokens")
    return tag(
        "span",
        join_spaced("·", format.dollars(sums["output_dollars"]), "for output"),
        unpriced if sums["unpriced"] else None,
    )


def name(row: Node) -> str:
    """What a person knows a session by."""
    return row["title"].text or row["session"].text[:12]


def _turn_links(view: Node) -> Markup:
    at, last, order = int(view["page"].number), int(view["pages"].number), view["order"].text
    return tag(
        "nav",
        link("sessions", "newer", order=order, page=at - 1) if at > 1 else None,
        link("sessions", "older", order=order, page=at + 1) if at < last else None,
        class_="periods",
        aria_label="Pages of the list",
    )
