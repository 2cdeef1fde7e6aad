"""Charts as SVG in the page: they need no script, follow the colours of the page, and shrink to a phone.

Paths live in a drawing of 1,000 by 1,000 that is stretched; texts, marks and bars are placed in per cent and keep
their size. Colours are classes, because the page forbids styles in attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from laconic.dashboard.markup import Child, Markup, tag

_MOST: Final = 200  # points of a curve
_LEAST: Final = 1e-6  # what counts as something
_DENSE: Final = 100  # bars with gaps between them
_FEW: Final = 24  # marks that get a line each
_TOP: Final = 8.0  # per cent above the highest value


@dataclass(frozen=True, slots=True)
class Series:
    """One line or one part of each bar."""

    name: str
    look: str  # a class
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """Several series over the same points, each of which has a tip."""

    title: str
    series: Sequence[Series]
    tips: Sequence[str]
    ends: tuple[str, str]  # names of the first point and the last
    unit: Callable[[float], str]
    marks: Sequence[tuple[str, str]] = ()  # what its marks stand for: name and class


@dataclass(frozen=True, slots=True)
class ChartMark:
    """Something that happened at a point."""

    at: int
    text: str
    link: str
    weight: float  # 0 to 1
    quiet: bool = False  # it happens all the time


def draw_curve(chart: Chart, marks: Sequence[ChartMark] = ()) -> Markup:
    """Areas, the widest first, with marks on the last of them."""
    count = len(chart.tips)
    top = _top(chart)
    last = chart.series[-1].values
    few = sum(not mark.quiet for mark in marks) <= _FEW
    dots = []
    for mark in marks:
        dots.append(_dot(mark, _x(mark.at, count), _y(last[mark.at], top), few=few))
    layers = _draw_areas(chart, top, "area", {mark.at for mark in marks})
    return _draw_figure(chart, (*layers, dots), linked=bool(marks))


def draw_bars(chart: Chart) -> Markup:
    """Stacked bars, one for each tip; very many of them flow together into areas."""
    count = len(chart.tips)
    stacked = list(accumulate((list(line.values) for line in chart.series), _stack))
    top = _top(replace(chart, series=[Series("", "", values) for values in stacked]))
    if count > _DENSE:
        layers = []
        for line, up in zip(chart.series, stacked, strict=True):
            layers.append(Series(line.name, line.look, up))
        return _draw_figure(chart, _draw_areas(replace(chart, series=layers[::-1]), top, "solid"))
    drawn = []
    for line, up in zip(chart.series, stacked, strict=True):
        for at in range(count):
            drawn.append(_bar((at + 0.1) * 100 / count, 80 / count, (up[at], line.values[at]), top, line.look))
    return _draw_bar_chart(chart, drawn, top)


def draw_paired_bars(chart: Chart) -> Markup:
    """For each tip two bars at the same place: the first, usually the larger, behind the second."""
    count, top = len(chart.tips), _top(chart)
    width = 100 / max(1, count)
    drawn = []
    for at in range(count):
        for line, inset in zip(chart.series, (0.08, 0.24), strict=True):
            size = line.values[at]
            drawn.append(_bar((at + inset) * width, width * (1 - 2 * inset), (size, size), top, line.look))
    return _draw_bar_chart(chart, drawn, top)


def draw_meter(part: float, whole: float, look: str = "with") -> Markup:
    """A share as a short bar inside a table; the number stands beside it."""
    share = min(1.0, part / whole) if whole else 0.0
    return tag(
        "svg",
        tag("rect", width="100%", height="100%", rx=3, class_="rail"),
        tag("rect", width=f"{100 * share:.1f}%", height="100%", rx=3, class_=look),
        class_="meter",
        aria_hidden="true",
    )


def _stack(below: list[float], above: list[float]) -> list[float]:
    found: list[float] = []
    for under, size in zip(below, above, strict=True):
        found.append(under + size)
    return found


def _draw_areas(chart: Chart, top: float, look: str, needed: Collection[int] = ()) -> list[Child]:
    """Areas one over the other, the last in front."""
    picked = _pick_points(len(chart.tips), needed)
    drawing = tag(
        "svg",
        *(_area(line, picked, len(chart.tips), top, look) for line in chart.series),
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
        aria_hidden="true",
    )
    return [_grid(top), drawing, _scale(top, chart.unit), _strips(chart.tips, picked)]


def _draw_bar_chart(chart: Chart, drawn: Sequence[Markup], top: float) -> Markup:
    strips = _strips(chart.tips, range(len(chart.tips)))
    return _draw_figure(chart, (_grid(top), tag("g", *drawn), _scale(top, chart.unit), strips))


def draw_spread(low: float, high: float, top: float) -> Markup:
    """Two values on one rail: the usual and the rare."""
    shares = []
    for value in (high, low):
        shares.append(min(1.0, value / top) if top else 0.0)
    return tag(
        "svg",
        tag("rect", width="100%", height="100%", rx=3, class_="rail"),
        *(
            tag("rect", width=f"{100 * share:.1f}%", height="100%", rx=3, class_=look)
            for share, look in zip(shares, ("without", "with"), strict=True)
        ),
        class_="meter",
        aria_hidden="true",
    )


def _draw_figure(chart: Chart, parts: Sequence[Child], *, linked: bool = False) -> Markup:
    """With links inside it is a group, else one picture."""
    legend = tag(
        "ul",
        *(
            tag("li", tag("svg", tag("rect", width="100%", height="100%", rx=2, class_=line.look)), line.name)
            for line in chart.series
        ),
        *(
            tag("li", tag("svg", tag("circle", cx="50%", cy="50%", r=4, class_=look)), name)
            for name, look in chart.marks
        ),
        class_="legend",
    )
    role = "group" if linked else "img"
    drawing = tag("svg", *parts, class_="chart", role=role, aria_label=chart.title, width="100%")
    axis = tag("div", *(tag("span", end) for end in chart.ends), class_="axis")
    return tag("figure", tag("figcaption", tag("h2", chart.title), legend), drawing, axis)


def _top(chart: Chart) -> float:
    """The largest value; nothing at all is drawn as if it could be one."""
    top = max((max(line.values, default=0) for line in chart.series), default=0)
    if top >= _LEAST:
        return top
    return 1


def _dot(mark: ChartMark, x: str, y: str, *, few: bool) -> Markup:
    line = tag("line", x1=x, x2=x, y1="0" if few else y, y2="100%", class_="mark-line")
    size = 2.5
    if not mark.quiet:
        size = (4 if few else 3) + 4 * mark.weight
    return tag(
        "a",
        None if mark.quiet else line,
        tag("circle", cx=x, cy=y, r=round(size, 1), class_="mark quiet" if mark.quiet else "mark"),
        href=mark.link,
        data_tip=mark.text,
        aria_label=mark.text,
    )


def _area(line: Series, picked: Sequence[int], count: int, top: float, look: str) -> Markup:
    xs = []
    for at in picked:
        xs.append(1000 * (at + 0.5) / count)
    points = []
    for x, at in zip(xs, picked, strict=True):
        points.append((x, 10 * _height(line.values[at], top)))
    if len(points) == 1:
        points = [(0.0, points[0][1]), (1000.0, points[0][1])]
    path = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    if not points:
        return Markup("")
    return tag(
        "g",
        tag("path", d=f"M{points[0][0]:.1f} 1000 L{path} L{points[-1][0]:.1f} 1000 Z", class_=f"{look} {line.look}"),
        tag("path", d=f"M{path}", class_=f"stroke {line.look}") if look == "area" else None,
    )


def _bar(x: float, width: float, ends: tuple[float, float], top: float, look: str) -> Markup:
    """A bar up to the first of `ends`, as long as the second; none when it has no length."""
    until, size = ends
    if size <= 0:
        return Markup("")
    return tag(
        "rect",
        x=f"{x:.3f}%",
        y=_y(until, top),
        width=f"{width:.3f}%",
        height=f"{(100 - _TOP) * size / top:.2f}%",
        class_=look,
    )


def _strips(tips: Sequence[str], picked: Sequence[int]) -> Markup:
    """Invisible columns that the page's script reads when a pointer is over them."""
    count = len(tips)
    ends = [*picked[1:], count][: len(picked)]
    return tag(
        "g",
        *(
            tag(
                "rect",
                x=f"{100 * at / count:.3f}%",
                width=f"{100 * (end - at) / count:.3f}%",
                height="100%",
                data_tip=tips[at],
            )
            for at, end in zip(picked, ends, strict=True)
        ),
        class_="strips",
    )


def _grid(top: float) -> Markup:
    ticks = []
    for value in _ticks(top):
        ticks.append(_y(value, top))
    return tag("g", *(tag("line", x1="0", x2="100%", y1=y, y2=y, class_="grid") for y in ticks))


def _scale(top: float, unit: Callable[[float], str]) -> Markup:
    """What the lines of the grid stand for; written over the bars."""
    ticks = []
    for value in _ticks(top):
        if value:
            ticks.append(value)
    return tag("g", *(tag("text", unit(value), x="2", y=_y(value, top), dy="-4", class_="tick") for value in ticks))


def _ticks(top: float) -> list[float]:
    """Round values from nothing to the top, three to five of them."""
    size = 10.0 ** math.floor(math.log10(top / 2))
    step = next(size * factor for factor in (5, 2, 1) if size * factor * 2 <= top)
    found: list[float] = []
    for number in range(int(top / step) + 1):
        found.append(step * number)
    return found


def _pick_points(count: int, needed: Collection[int]) -> list[int]:
    """Points that are drawn: all, or evenly some, and those that carry a mark."""
    every = -(-count // _MOST)
    if count:
        found: list[int] = []
        for at in range(count):
            if at % every == 0 or at == count - 1 or at in needed:
                found.append(at)
        return found
    return []


def _height(value: float, top: float) -> float:
    return 100 - (100 - _TOP) * value / top


def _x(at: int, count: int) -> str:
    return f"{100 * (at + 0.5) / count:.3f}%"


def _y(value: float, top: float) -> str:
    return f"{_height(value, top):.2f}%"
