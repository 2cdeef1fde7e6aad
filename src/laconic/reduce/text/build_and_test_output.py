"""Reduce output that comes as lines of events: test runs, builds, installs, logs, stack traces, and mixtures of them.

Every line gets a worth; repeats by template are counted on their first line; runs of frames keep their ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from laconic.reduce.text import signals
from laconic.reduce.text.failed_tests import failure_worth, section_worths
from laconic.reduce.text.outliers import outliers
from laconic.reduce.text.parts import (
    COMMON,
    DETAIL,
    EDGE,
    KEY,
    MARK,
    NEAR,
    NOISE,
    PLACE,
    RARE,
    TOP,
    UNSAID,
    TextPart,
    marked_lines,
    shorten,
)
from laconic.reduce.text.repeated_lines import thin_lines
from laconic.reduce.text.stack_traces import frame_worths

_LONGEST: Final = 600  # characters of one line
_UNITTEST: Final = re.compile(r"^\w+ \([\w.]+\)$")
_WORDS: Final = re.compile(r"[^\W\d_]{4,}")
_HEAD: Final = 3
_TAIL: Final = 5
_TOLD: Final = 12  # times that the same error is told outside of logs: each failing test has its reason
_FOLLOWERS: Final = 4  # indented lines after an error that belong to it


@dataclass(slots=True)
class _Line:
    text: str
    worth: int = -1  # not decided
    what: str = "lines"
    times: int = 1
    head: int = -1
    alike: bool = False  # what it stands for differs in its numbers


def output_parts(lines: Sequence[str], *, log: bool = False, dense: bool = False) -> list[TextPart]:
    """Parts of lines of events.

    In a `log` a line that stands for many must stay. `dense` says that errors are the rule: only rare ones must stay.
    """
    rows = []
    for text, times in thin_lines(lines):
        rows.append(_Line(text, times=times))
    _sections(rows)
    _frames(rows)
    for row in rows:
        if row.worth < 0:
            row.worth, row.what = _alone(row.text)
    _documented_tests(rows)
    _repeats(rows, log, dense)
    _neighbours(rows)
    _edges(rows)
    found: list[TextPart] = []
    for row in rows:
        found.append(_part(row))
    return found


def _sections(rows: list[_Line]) -> None:
    for index, worth in section_worths([row.text for row in rows]).items():
        rows[index].worth = worth
        if worth <= NOISE:
            rows[index].what = UNSAID


def _frames(rows: list[_Line]) -> None:
    for index, (worth, frame) in frame_worths([row.text for row in rows]).items():
        row = rows[index]
        if row.worth < PLACE:
            row.worth = worth
            row.what = "frames" if index == frame else UNSAID
            row.head = -1 if index == frame else frame


def _alone(line: str) -> tuple[int, str]:
    """What a line is worth by itself."""
    if not line.strip():
        return NOISE, "blank lines"
    if MARK.match(line):
        return NOISE, "lines"
    if signals.is_passing(line):
        return NOISE, "passing tests"
    if signals.RULE.match(line) or signals.CARETS.match(line):
        return NOISE, UNSAID
    if line.lstrip().startswith("Traceback (most recent call last)"):
        return DETAIL, UNSAID
    if signals.SHELL_TRACE.match(line):
        return COMMON, "lines"
    if signals.is_summary(line):
        return TOP, "lines"
    worth = failure_worth(line)
    if worth >= PLACE or signals.is_error(line):
        return worth if worth >= PLACE else KEY, "lines"
    if worth:
        return worth, "lines"
    if signals.is_warning(line):
        return NEAR, "lines"
    if signals.is_bar(line):
        return NOISE, "progress lines"
    if signals.is_progress(line):
        return RARE if signals.VERSIONED.search(line) else COMMON, "progress lines"
    return RARE, "lines"


def _documented_tests(rows: list[_Line]) -> None:
    """unittest prints a test's documentation on a second line, which then holds the outcome."""
    for row, following in pairwise(rows):
        if row.worth in {RARE, KEY} and _UNITTEST.match(row.text):
            row.worth, row.what = (NOISE, UNSAID) if following.what == "passing tests" else (KEY, "lines")


def _repeats(rows: list[_Line], log: bool, dense: bool) -> None:
    """Of lines alike but for numbers, the first stays with a count; numeric outliers stay too."""
    groups: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        if row.worth > NOISE and row.what not in {"frames", UNSAID}:
            groups.setdefault(signals.template(row.text.strip()), []).append(index)
    for shape, members in groups.items():
        if len(members) == 1:
            continue
        if not _WORDS.search(shape) and not _is_one_line(rows, members):
            _sample(rows, members)
            continue
        first = rows[members[0]]
        if len(members) > 7:
            special = outliers([rows[i].text for i in members])
        else:
            special = set()
        for position, index in enumerate(members[1:], 1):
            row = rows[index]
            if position in special:
                row.worth = max(row.worth, PLACE)
            elif first.worth < PLACE or (len(members) > 3 and log) or position > _TOLD:
                row.worth, row.what = NOISE, "lines"
                first.times += 1
                first.alike = first.alike or row.text.strip() != first.text.strip()
            elif dense:
                row.worth = min(row.worth, NEAR)
        if first.times > 3:  # one line that stands for many
            first.worth = max(first.worth, PLACE if log else EDGE)


def _is_one_line(rows: list[_Line], members: list[int]) -> bool:
    """Whether one and the same line repeats so often that a sample of it would say nothing but how often."""
    return len(members) > _HEAD + _TAIL and len({rows[index].text for index in members}) == 1


def _sample(rows: list[_Line], members: list[int]) -> None:
    """Lines of nothing but numbers and ids: each says something else, so some from both ends stay."""
    if len(members) <= _HEAD + _TAIL:
        return
    for index in [*members[:_HEAD], *members[-_TAIL:]]:
        rows[index].worth = max(rows[index].worth, EDGE)
    for index in members[_HEAD:-_TAIL]:
        if rows[index].worth < PLACE:
            rows[index].worth, rows[index].what = NOISE, "lines"


def _neighbours(rows: list[_Line]) -> None:
    """Indented lines after an error explain it; so does the line before."""
    for index, row in enumerate(rows):
        if row.worth != KEY:
            continue
        depth = _indent(row.text)
        for after in rows[index + 1 : index + 1 + _FOLLOWERS]:
            if after.worth not in {RARE, DETAIL} or _indent(after.text) <= depth:
                break
            after.worth = NEAR
        if index and rows[index - 1].worth == RARE:
            rows[index - 1].worth = EDGE


def _edges(rows: list[_Line]) -> None:
    solid = []
    for row in rows:
        if row.text.strip() and not MARK.match(row.text):
            solid.append(row)
    for row in [*solid[:_HEAD], *solid[-_TAIL:]]:
        if row.worth > NOISE:
            row.worth = max(row.worth, EDGE)
    for row in [*solid[:1], *solid[-2:]]:
        if row.worth > NOISE:
            row.worth = max(row.worth, NEAR)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _part(row: _Line) -> TextPart:
    text = shorten(row.text, _LONGEST)
    if row.times > 1:
        text = f"{text}  [×{row.times}{', numbers differ' if row.alike else ''}]"
    lines = 0
    if row.text.strip():
        lines = marked_lines(row.text)
    return TextPart(text=text, worth=row.worth, lines=lines, what=row.what, head=row.head)
