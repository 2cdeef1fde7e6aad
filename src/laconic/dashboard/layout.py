"""What all pages share: head, navigation, tables, cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from laconic import __version__
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.markup import Child, Markup, join, tag

_NAVIGATION: Final = (
    ("./", "Overview"),
    ("sessions", "Sessions"),
    ("spent", "Where tokens went"),
    ("causes", "Causes of cost"),
    ("tools", "Tools"),
    ("models", "Models"),
)

PERIODS: Final = ((1, "24 hours"), (7, "7 days"), (30, "30 days"), (0, "all"))


def page(
    title: str, here: str, *content: Child, json: str = "", navigation: Sequence[tuple[str, str]] = _NAVIGATION
) -> str:
    """A whole page. `here` is the link of the navigation that it belongs to, `json` where its figures are."""
    links = []
    for link, each in navigation:
        links.append(tag("a", each, href=link, aria_current="page" if link == here else None))
    body = tag(
        "body",
        tag("a", "Skip to the figures", href="#main", class_="skip"),
        tag(
            "header",
            tag("a", "laconic", href="./", class_="brand"),
            tag("nav", *links, aria_label="Pages"),
            tag("span", "live", id="live", role="status", hidden=True),
        ),
        tag("main", tag("h1", title), *content, id="main"),
        tag(
            "footer",
            f"laconic {__version__}",
            [" · every figure is also JSON: ", tag("a", "this page", id="json", href=json)] if json else None,
        ),
        tag("div", id="tip", role="tooltip", hidden=True),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · laconic"),
        tag("link", rel="stylesheet", href="static/dashboard.css"),
        tag("link", rel="icon", href="static/icon.svg", type="image/svg+xml"),
        tag("script", src="static/dashboard.js", defer=True),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en")


def live(name: str, *content: Child, class_: str = "") -> Markup:
    """A part of the page that is exchanged when its figures change."""
    return tag("section", *content, id=name, data_live=True, class_=class_ or None)


def card(name: str, value: Child, about: Child = None) -> Markup:
    """One large figure."""
    return tag("div", tag("dt", name), tag("dd", value), tag("dd", about, class_="about") if about else None)


def cards(*content: Markup) -> Markup:
    return tag("dl", *content, class_="cards")


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Child]],
    empty: str,
    hint: str = "",
    *,
    tall: bool = False,
    orders: Mapping[str, ColumnOrder] | None = None,
) -> Markup:
    """A real table; the first column heads its row. `#` before a column's name: it holds numbers; `-`: not on a phone.

    `tall` ones may have many rows and scroll in a box of their own. Columns in `orders` are links that sort by them.
    """
    orders = orders or {}
    written = list(rows)
    if not written:
        return tag("div", tag("h2", caption), tag("p", empty, class_="empty"), class_="panel")
    head = tag("tr", *(_heading(name, orders.get(name.lstrip("-#"))) for name in columns))
    body = []
    for row in written:
        body.append(
            tag(
                "tr",
                *(
                    tag("td" if at else "th", cell, scope=None if at else "row", class_=_look(columns[at]))
                    for at, cell in enumerate(row)
                ),
            )
        )
    whole = tag("table", tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", *body))
    box = tag("div", whole, class_="scroll tall" if tall else "scroll", tabindex=0, role="region", aria_label=caption)
    return tag("div", tag("h2", caption), tag("p", hint, class_="hint") if hint else None, box, class_="panel")


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """Where a table is sorted by a column, and whether it is already."""

    link: str
    chosen: bool


def _heading(name: str, order: ColumnOrder | None) -> Markup:
    text: Child = name.lstrip("-#")
    if order is None:
        return tag("th", text, scope="col", class_=_look(name))
    sort = "descending" if order.chosen else None
    return tag("th", tag("a", text, href=order.link), scope="col", class_=_look(name), aria_sort=sort)


def periods(chosen: JsonNode) -> Markup:
    """Links to the same page for other periods."""
    return tag(
        "nav",
        *(
            tag("a", name, href=f"?days={days}", aria_current="true" if days == chosen.value else None)
            for days, name in PERIODS
        ),
        class_="periods",
        aria_label="Period",
    )


def link(page_name: str, text: Child, **query: str | int) -> Markup:
    """To another page of ours."""
    return tag("a", text, href=f"{page_name}?{urlencode(query)}" if query else page_name)


def join_spaced(*children: Child) -> Markup:
    return join([children[0], *(part for child in children[1:] for part in (" ", child))])


def _look(name: str) -> str | None:
    """The classes of a column."""
    marks = name[: len(name) - len(name.lstrip("-#"))]
    return " ".join(look for mark, look in (("#", "number"), ("-", "minor")) if mark in marks) or None
