"""One session: its context over time with every decision on the curve, the prompt cache, and what was left out."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from laconic.dashboard import charts, format
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.layout import card, cards, join_spaced, link, live, page, table
from laconic.dashboard.markup import Child, Markup, tag
from laconic.dashboard.pages.sessions import COLUMNS, name, output_share, session_row
from laconic.dashboard.pages.spending import parts_table

_REASONS: Final = {
    "ingest": "shortened on entry",
    "superseded": "out of date",
    "task": "task done",
    "age": "no longer used",
    "survival": "quota",
    "recap": "summarised",
    "trim": "to fit the window",
}
_TURNS: Final = 30  # in the table; the curves and the JSON have all


def session_page(view: JsonNode) -> str:
    """The page."""
    about = view["session"]
    return page(
        name(about),
        "sessions",
        tag(
            "p",
            join_spaced(
                tag("strong", about["model"].text),
                "·",
                tag("small", about["client"].text or about["upstream"].text),
                tag("code", about["project"].text) if about["project"] else None,
                "·",
            ),
            " began ",
            format.when(about["began"]),
            ", last turn ",
            format.when(about["last"]),
            class_="hint",
        ),
        live("totals", _totals(view)),
        live("context", _context(view)),
        live("cache", _cache(view), _money(view), class_="two"),
        live("evicted", _decisions(view), _older(view)),
        live("kinds", parts_table("Where its tokens went", "Kind", view["kinds"])),
        live("tools", parts_table("By tool", "Tool", view["tools"])),
        live("files", parts_table("By file", "File", view["files"])),
        live("side", _side(view)),
        live("turns", _turns(view)),
        json=view.address,
    )


def _totals(view: JsonNode) -> Markup:
    sums, about = view["session"]["totals"], view["session"]
    return cards(
        card(
            "Prompt tokens",
            format.tokens(sums["prompt"]),
            join_spaced("instead of", format.tokens(sums["prompt_without"])),
        ),
        card("Prompt tokens", format.fewer(sums["share"]), join_spaced(format.tokens(sums["saved"]), "saved")),
        card(
            "Paid",
            format.paid(sums),
            join_spaced("instead of about", format.paid(sums, "dollars_without"), output_share(sums)),
        ),
        card(
            "Prompt cache hits",
            format.share(sums["cache_share"]),
            join_spaced(format.tokens(sums["cache_read"]), "tokens read"),
        ),
        card("Turns", format.count(sums["turns"]), join_spaced(format.count(about["errors"]), "with an error")),
        card(
            "Decisions",
            format.count(view["decisions_total"]),
            join_spaced(format.tokens(view["evicted_tokens"]), "tokens out"),
        ),
    )


def _side(view: JsonNode) -> Markup | None:
    """What the client asked beside this conversation: titles, summaries, sub-agents."""
    if not view["side"]:
        return None
    return table("Asked on the side, under the same id", COLUMNS, map(session_row, view["side"]), "Nothing.")


def _ends(turns: list[Any]) -> tuple[str, str]:
    if turns:
        return (f"turn {turns[0]['number']}", f"turn {turns[-1]['number']}")
    return ("", "")


def _context(view: JsonNode) -> Markup:
    turns = view["turns"].value
    listed = set()
    for row in view["decisions"].value:
        listed.add(row["number"])
    place = {}
    for at, turn in enumerate(turns):
        place[turn["number"]] = at
    most = (
        max((event["saved"] for event in view["events"].value if set(event["reasons"]) != {"ingest"}), default=0) or 1
    )
    marks = []
    for event in view["events"].value:
        if event["number"] in place:
            marks.append(
                charts.ChartMark(
                    at=place[event["number"]],
                    text=f"turn {event['number']}: {event['decisions']} decisions,"
                    f" {format.short(event['saved'])} tokens out\n"
                    + ", ".join(
                        f"{_REASONS.get(reason, reason)}: {count}" for reason, count in event["reasons"].items()
                    ),
                    link=_place(view, event["number"], listed),
                    weight=min(1.0, max(0.0, event["saved"] / most)),
                    quiet=set(event["reasons"]) == {"ingest"},
                )
            )
    tips = []
    for turn in turns:
        tips.append(
            f"turn {turn['number']}\n{format.short(turn['sent'])} tokens sent\n{format.short(turn['without'])} without"
        )
    chart = charts.Chart(
        title="Context over time",
        series=(
            charts.Series("without Laconic", "without", [turn["without"] for turn in turns]),
            charts.Series("as sent", "with", [turn["sent"] for turn in turns]),
        ),
        tips=tips,
        ends=_ends(turns),
        unit=format.short,
        marks=(("left out", "mark"), ("shortened on entry", "mark quiet")) if marks else (),
    )
    return charts.draw_curve(chart, marks)


def _place(view: JsonNode, number: int, listed: set[int]) -> str:
    """Where the decisions of a turn are listed: on this page, or on the page that lists them up to that turn."""
    anchor = f"#decisions-{number}"
    if number in listed:
        return anchor
    return f"session?{urlencode({'name': view['session']['session'].text, 'until': number})}{anchor}"


def _cache(view: JsonNode) -> Markup:
    turns = view["turns"].value
    chart = charts.Chart(
        title="Prompt cache by turn",
        series=(
            charts.Series("read from the cache", "with", [turn["totals"]["cache_read"] for turn in turns]),
            charts.Series("written to it", "mark", [turn["cache_write"] for turn in turns]),
            charts.Series("neither", "without", [turn["input"] for turn in turns]),
        ),
        tips=[
            f"turn {turn['number']}\n{format.short(turn['totals']['cache_read'])} read, "
            f"{format.short(turn['cache_write'])} written, {format.short(turn['input'])} plain"
            for turn in turns
        ],
        ends=_ends(turns),
        unit=format.short,
    )
    return charts.draw_bars(chart)


def _money(view: JsonNode) -> Markup:
    turns = view["turns"].value
    paid, whole = [turn["paid"] for turn in turns], [turn["paid_without"] for turn in turns]
    chart = charts.Chart(
        title="Money so far",
        series=(charts.Series("without Laconic", "without", whole), charts.Series("paid", "money", paid)),
        tips=[
            f"turn {turn['number']}\n{format.money(own)} paid\n{format.money(full)} without"
            for turn, own, full in zip(turns, paid, whole, strict=True)
        ],
        ends=_ends(turns),
        unit=format.price,
    )
    return charts.draw_curve(chart)


def _decisions(view: JsonNode) -> Markup:
    seen: set[str] = set()
    rows = []
    for row in view["decisions"]:
        number = row["number"].text
        anchor = None if number in seen else f"decisions-{number}"
        seen.add(number)
        rows.append(
            (
                tag("span", "turn ", format.count(row["number"]), id=anchor),
                tag("span", _REASONS.get(row["reason"].text, row["reason"].text), class_="reason"),
                _what(row),
                format.tokens(row["before"]),
                format.tokens(row["after"]),
                _recall(row),
            )
        )
    return table(
        "What was left out, and when",
        ("Turn", "Why", "What", "#Tokens before", "#After", "Read it"),
        rows,
        "Nothing was left out of this session so far.",
        tall=True,
    )


def _older(view: JsonNode) -> Markup | None:
    """To the decisions before those that are listed."""
    oldest = min((row["number"] for row in view["decisions"].value), default=0)
    if view["events"].value and oldest > view["events"].value[0]["number"]:
        name = view["session"]["session"].text
        return tag("p", link("session", "Earlier decisions", name=name, until=oldest - 1), class_="more")
    return None


def _what(row: JsonNode) -> Child:
    words = []
    for word in (row["tool"].text, row["field"].text):
        if word:
            words.append(word)
    return join_spaced(
        " ".join(words) or row["kind"].text or "a block",
        tag("code", row["file"].text) if row["file"] else None,
        tag("small", "with its whole exchange") if row["gone"] else None,
    )


def _recall(row: JsonNode) -> Child:
    if not row["ref"]:
        return tag(
            "small", "nothing lost: it is elsewhere in the conversation" if not row["gone"] else "with its exchange"
        )
    if not row["kept"]:
        return tag("small", "no longer in the archive")
    return link("archive", tag("code", row["ref"].text), ref=row["ref"].text)


def _turns(view: JsonNode) -> Markup:
    rows = (
        (
            format.count(row["number"]),
            format.when(row["at"]),
            format.tokens(row["totals"]["prompt"]),
            format.tokens(row["totals"]["prompt_without"]),
            format.share(row["totals"]["cache_share"]),
            format.tokens(row["totals"]["output"]),
            format.paid(row["totals"]),
            format.milliseconds(row["milliseconds"]),
            format.count(row["decisions"]),
            join_spaced(row["mode"].text, row["rung"].text),
            format.count(row["status"]) if row["status"] else "left",
        )
        for row in reversed(list(view["turns"])[-_TURNS:])
    )
    columns = (
        "#Turn",
        "When",
        "#Prompt",
        "#Without",
        "#Cache",
        "#Output",
        "#Money",
        "#Time",
        "#Decisions",
        "Mode",
        "#Status",
    )
    whole = table("Turn by turn", columns, rows, "No turn was recorded.", tall=True)
    summary = tag("summary", "The newest turns as a table")
    return tag("details", summary, whole, id="all-turns")
