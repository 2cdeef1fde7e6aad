"""The list of sessions, page by page."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from laconic.dashboard import charts, format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import ColumnOrder, join_spaced, link, live, page, table
from laconic.dashboard.markup import Child, Markup, tag
from laconic.sessions.spending import Order

COLUMNS: Final = (
    *("Session", "-Last", "-#Turns", "#Tokens", "-#Without", "Saved"),
    *("#Money", "-#Without ", "-#Output", "-#Cache", "-#Decisions"),
)
ORDERS: Final[tuple[tuple[Order, str], ...]] = (  # each with the column that it sorts by
    ("last", "Last"),
    ("turns", "Turns"),
    ("prompt", "Tokens"),
    ("whole", "Without"),
    ("saved", "Saved"),
    ("dollars", "Money"),
    ("output", "Output"),
    ("cache", "Cache"),
    ("decisions", "Decisions"),
)


def sessions_page(view: JsonNode) -> str:
    """The page."""
    orders = {}
    for order, column in ORDERS:
        orders[column] = ColumnOrder(f"?{urlencode({**_asked(view), 'order': order})}", order == view["order"].value)
    rows = map(session_row, view["sessions"])
    listed = table("Sessions", COLUMNS, rows, "No session has been recorded yet, or none matches.", orders=orders)
    sums = view["totals"]
    about = tag(
        "p",
        format.count(view["total"]),
        " sessions, ",
        format.tokens(sums["prompt"]),
        " prompt tokens, ",
        format.fewer(sums["share"]),
        ", ",
        format.paid(sums),
        " ",
        output_share(sums),
        "; page ",
        format.count(view["page"]),
        " of ",
        format.count(view["pages"]),
    )
    return page(
        "Sessions", "sessions", _filters(view), live("list", about, listed, _turn_links(view)), json=view.address
    )


def _asked(view: JsonNode) -> dict[str, str]:
    """What the page was asked for, without the page's number."""
    names = ("client", "project", "words")
    found = {}
    for name in names:
        if view[name].value:
            found[name] = view[name].text
    return {**found, "order": view["order"].text}


def _filters(view: JsonNode) -> Markup:
    """A form that needs no script."""
    return tag(
        "form",
        _choice("client", "Client", view),
        _choice("project", "Project", view),
        tag("label", "Search", tag("input", type="search", name="words", value=view["words"].text)),
        tag("input", type="hidden", name="order", value=view["order"].text),
        tag("button", "Show"),
        class_="filters",
        role="search",
    )


def _choice(name: str, title: str, view: JsonNode) -> Markup:
    chosen = view[name].text
    options = [tag("option", "all", value="", selected=not chosen)]
    for known in view[f"{name}s"]:
        options.append(tag("option", tag("data", known.text), value=known.text, selected=known.text == chosen))
    return tag("label", title, tag("select", *options, name=name))


def session_row(row: JsonNode) -> list[Child]:
    """A session in a table."""
    sums = row["totals"]
    return [
        tag(
            "div",
            link("session", name(row), name=row["session"].text),
            tag("small", join_spaced(row["model"].text, "·", row["client"].text or row["upstream"].text)),
            tag("small", "and ", format.count(row["side"]), " asked on the side") if row["side"] else None,
            class_="named",
        ),
        format.when(row["last"]),
        format.count(sums["turns"]),
        format.tokens(sums["prompt"]),
        format.tokens(sums["prompt_without"]),
        join_spaced(
            charts.draw_meter(sums["prompt"].number, sums["prompt_without"].number), format.fewer(sums["share"])
        ),
        format.paid(sums),
        format.paid(sums, "dollars_without"),
        format.paid(sums, "output_dollars"),
        format.share(sums["cache_share"]),
        format.count(row["decisions"]),
    ]


def output_share(sums: JsonNode) -> Markup | None:
    """What of the money went for output, and what of the tokens has no price."""
    unpriced = tag("span", "; price unknown for ", format.tokens(sums["unpriced"]), " tokens")
    return tag(
        "span",
        join_spaced("·", format.dollars(sums["output_dollars"]), "for output"),
        unpriced if sums["unpriced"] else None,
    )


def name(row: JsonNode) -> str:
    """What a person knows a session by."""
    return row["title"].text or row["session"].text[:12]


def _turn_links(view: JsonNode) -> Markup:
    at, last, asked = int(view["page"].number), int(view["pages"].number), _asked(view)
    return tag(
        "nav",
        link("sessions", "previous page", **asked, page=at - 1) if at > 1 else None,
        link("sessions", "next page", **asked, page=at + 1) if at < last else None,
        class_="periods",
        aria_label="Pages of the list",
    )
