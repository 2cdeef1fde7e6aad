"""Laws of what pages are made of."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from laconic.dashboard import format
from laconic.dashboard.charts import Chart, ChartMark, Series, draw_bars, draw_curve, draw_paired_bars
from laconic.dashboard.json_document import JsonNode
from laconic.dashboard.markup import clean, tag


class _Whole(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


@given(st.text(), st.text())
def test_any_text_survives_as_text(text: str, value: str) -> None:
    """What is written into an element or an attribute is read back, less what HTML cannot hold."""
    reader = _Whole()
    reader.feed(tag("p", text, title=value))
    reader.close()
    first, *rest = reader.seen
    assert first == ("p", [("title", clean(value))])
    assert "".join(str(part) for part in rest) == clean(text)


@given(st.lists(st.floats(0, 1e9), max_size=700), st.sets(st.integers(0, 699), max_size=40))
def test_charts_stay_inside_their_frame(values: list[float], marked: set[int]) -> None:
    """Any values, none, one or many: every height lies within the drawing, and every mark is drawn."""
    tips = [f"<{at}>" for at in range(len(values))]
    own = Series("own", "with", [value / 2 for value in values])
    chart = Chart("chart", (Series("all", "without", values), own), tips, ("a", "b"), format.short)
    marks = [ChartMark(at, "mark", "#x", 0.5) for at in sorted(marked) if at < len(values)]
    drawn = draw_curve(chart, marks)
    assert drawn.count("<circle") == len(marks)
    for html in (drawn, draw_bars(chart), draw_paired_bars(chart)):
        reader = _Whole()
        reader.feed(html)
        for element in reader.seen:
            if isinstance(element, tuple):
                for name, value in element[1]:
                    if name in {"y", "cy", "height"} and value.endswith("%"):
                        assert 0 <= float(value[:-1]) <= 100


@given(st.floats(0, 1e12))
def test_numbers_are_short_and_near(number: float) -> None:
    """At most five signs, within half a per cent, and the exact value beside it."""
    text = format.short(number)
    assert len(text) <= 5 or number >= 1e12 * 0.99
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1.0)
    near = float(text.rstrip("kMG").replace(",", "")) * scale
    assert abs(near - number) <= max(0.5, 0.006 * number)
    assert f'value="{number!r}"' in format.tokens(JsonNode(number, "/x"))
