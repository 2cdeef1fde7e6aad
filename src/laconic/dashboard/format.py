"""Numbers for people. Each carries its place in the JSON document and its exact value."""

from __future__ import annotations

from datetime import UTC, datetime

from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.markup import Markup, tag


def count(node: JsonNode) -> Markup:
    """A whole number with separators."""
    return _data(node, f"{node.number:,.0f}")


def tokens(node: JsonNode) -> Markup:
    """Tokens, short."""
    return _data(node, short(node.number), exact=f"{node.number:,.0f} tokens")


def dollars(node: JsonNode) -> Markup:
    return _data(node, money(node.number), exact=f"${node.number:,.6f}")


def paid(sums: JsonNode, name: str = "dollars") -> Markup:
    """Dollars of sums, where all that they add up has a price; `about` where a provider did not report all."""
    node, unpriced = sums[name], sums["unpriced"].number
    if unpriced and unpriced >= sums["prompt"].number + sums["output"].number:
        return _data(node, "price unknown")
    text = money(node.number)
    if unpriced:
        text = f"at least {text}"
    elif sums["estimated"]:
        text = f"about {text}"
    return _data(node, text, exact=f"${node.number:,.6f}")


def share(node: JsonNode) -> Markup:
    """A share of one, in per cent; nothing to share is a dash."""
    return _data(node, "–" if node.value is None else percent(node.number))


def fewer(node: JsonNode) -> Markup:
    """A share of what would have been, as what was saved: `52 % fewer`."""
    if node.value is None:
        return _data(node, "–")
    if node.number > 1:
        return _data(node, f"{percent(node.number - 1)} more")
    return _data(node, f"{percent(1 - node.number)} fewer")


def less(node: JsonNode) -> Markup:
    """The same for money: `52 % less`."""
    if node.value is None:
        return _data(node, "–")
    if node.number > 1:
        return _data(node, f"{percent(node.number - 1)} more")
    return _data(node, f"{percent(1 - node.number)} less")


def milliseconds(node: JsonNode) -> Markup:
    number = node.number
    text = f"{number / 1000:,.1f} s"
    if number < 10:
        text = f"{number:.1f} ms"
    elif number < 10_000:
        text = f"{number:,.0f} ms"
    return _data(node, text)


def seconds(node: JsonNode) -> Markup:
    """A span of time, roughly."""
    return _data(node, span(node.number))


def when(node: JsonNode) -> Markup:
    """A point in time; the page's script says how long ago."""
    moment = datetime.fromtimestamp(node.number, UTC)
    return tag(
        "time",
        f"{moment.day} {moment:%b %Y %H:%M}",
        datetime=moment.isoformat(timespec="seconds"),
        data_at=node.path,
        data_value=_exact(node),
    )


def short(number: float) -> str:
    """Three figures and a letter."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit * 0.99995:
            size = number / limit
            if abs(size) >= 100:
                return f"{size:,.0f}{letter}"
            return f"{size:.3g}{letter}"
    return f"{number:,.0f}"


def money(number: float) -> str:
    number = round(number, 6)  # sums in another order differ in the last digits of a float, and would round otherwise
    if number and abs(number) < 0.01:
        return f"${number:.4f}"
    if abs(number) < 10_000:
        return f"${number:,.2f}"
    return f"${short(number)}"


def price(number: float) -> str:
    """Money on an axis: no cents where there are none."""
    return money(number).removesuffix(".00")


def percent(number: float) -> str:
    size = 100 * number
    if size >= 10 or size == 0:
        return f"{size:.0f} %"
    return f"{size:.1f} %"


def span(number: float) -> str:
    for limit, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if number >= 1.5 * limit:
            return f"{number / limit:.0f} {unit}"
    return f"{number:.0f} s"


def _data(node: JsonNode, text: str, exact: str | None = None) -> Markup:
    if exact not in (None, text, f"{text} tokens"):
        title = exact
    else:
        title = None
    return tag("data", text, value=_exact(node), data_at=node.path, title=title)


def _exact(node: JsonNode) -> str:
    if node.value is None:
        return ""
    return repr(node.value)
