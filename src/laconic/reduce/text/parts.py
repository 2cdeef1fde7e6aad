"""Parts of a text with what each is worth, the choice among them, and the marks where something was left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

Cost = Callable[[str], int]

NOISE: Final = 0  # goes: progress bars, passing tests, repeats
COMMON: Final = 1  # goes unless there is room
DETAIL: Final = 2
RARE: Final = 3
EDGE: Final = 4  # the ends of the text
NEAR: Final = 5  # next to something that must stay
PLACE: Final = 6  # stays: locations, headings of what stays
KEY: Final = 8  # stays: errors, failures
TOP: Final = 9  # stays before all else: summaries, names of failing tests
ASKED: Final = 10  # what the caller looks for, and from here on how well it fits
STAYS: Final = PLACE

UNSAID: Final = ""  # a name for what is counted but not marked in place
HUNK_LINES: Final = (
    "diff lines"  # marked only after the last hunk of a file: a mark between hunks would break the patch
)

MARK: Final = re.compile(r"^\s*… [\d,]+ [a-z][a-z, \d…-]*$")
_COUNTED: Final = re.compile(r"([\d,]+) ([a-z][a-z -]*)")
_REPEAT_AFTER: Final = 220  # characters after which a heading is said again, so that a line never stands far from it


@dataclass(frozen=True, slots=True)
class TextPart:
    """Some lines that are shown or left out together."""

    text: str
    worth: int
    lines: int = 1  # how many lines of the input it stands for
    what: str = "lines"  # what it is called when it is left out
    head: int = -1  # the part that must be shown with it (a path, a header)
    whole: bool = True  # nothing of what it stands for is missing in it
    again: str = ""  # how this heading is repeated when its list grows long


@dataclass(frozen=True, slots=True)
class ChosenText:
    """A choice written out."""

    text: str
    shown: int  # lines of the input that the shown parts stand for
    left_out: int  # and the others; blank lines are neither
    whole: bool  # no part that is shown was shortened


def choose(parts: Sequence[TextPart], room: int, cost: Cost, floor: int = STAYS) -> list[bool]:
    """Which parts to show: all from `floor` up, then by worth while they fit; the ends before the middle."""
    keep = [False] * len(parts)
    used = 0
    for index in _rank_parts(parts):
        part = parts[index]
        if part.worth <= NOISE:
            continue
        chain = [index]
        while (head := parts[chain[-1]].head) >= 0 and not keep[head]:
            chain.append(head)
        price = 0
        for i in chain:
            price += cost(parts[i].text) + 1
        if part.worth < floor and used + price > (room if part.worth > COMMON else room // 2):
            continue
        used += price
        for i in chain:
            keep[i] = True
    return keep


def _rank_parts(parts: Sequence[TextPart]) -> list[int]:
    """By worth; among equals from both ends towards the middle."""
    by_worth: dict[int, list[int]] = {}
    for index, part in enumerate(parts):
        by_worth.setdefault(part.worth, []).append(index)
    order: list[int] = []
    for worth in sorted(by_worth, reverse=True):
        order += _from_both_ends(by_worth[worth])
    return order


def _from_both_ends(items: list[int]) -> list[int]:
    half = (len(items) + 1) // 2
    front, back = items[:half], items[half:][::-1]
    mixed: list[int] = []
    for pair in zip(front, back, strict=False):
        mixed.extend(pair)
    return mixed + front[len(back) :]


def write(parts: Sequence[TextPart], keep: Sequence[bool]) -> ChosenText:
    """The shown parts in order, with a mark for every gap."""
    out: list[str] = []
    missing: dict[str, int] = {}
    total = 0
    since, current = 0, -1

    def close() -> None:
        if missing:
            out.append(mark(missing))
            missing.clear()

    for index, (part, shown) in enumerate(zip(parts, keep, strict=True)):
        if not shown:
            if part.lines:
                for count, what in _inside(part) if part.what else ():
                    missing[what] = missing.get(what, 0) + count
                total += part.lines
            continue
        if part.what != HUNK_LINES:
            close()
        if part.again:
            since, current = 0, index
        elif part.head >= 0 and part.head == current and since > _REPEAT_AFTER and parts[current].again:
            out.append(parts[current].again)
            since = 0
        out.append(part.text)
        since += len(part.text) + 1
    close()
    whole = all(part.whole and "…[+" not in part.text for part, shown in zip(parts, keep, strict=True) if shown)
    stands_for = 0
    for part, kept in zip(parts, keep, strict=True):
        if kept:
            stands_for += part.lines
    return ChosenText("\n".join(out), stands_for, total, whole)


def shift_parts(parts: Sequence[TextPart], by: int) -> list[TextPart]:
    """The parts at another place of a longer list."""
    found: list[TextPart] = []
    for part in parts:
        found.append(part if part.head < 0 else replace(part, head=part.head + by))
    return found


def mark(missing: dict[str, int]) -> str:
    """`… 340 tests that passed, 12 lines`, say."""
    return "… " + ", ".join(f"{count:,} {what[:-1] if count == 1 else what}" for what, count in missing.items())


def _inside(part: TextPart) -> Iterable[tuple[int, str]]:
    """What a part that is left out stands for; a mark stands for what it counts."""
    if MARK.match(part.text):
        found = []
        for number, what in _COUNTED.findall(part.text):
            found.append((int(number.replace(",", "")), what.strip()))
        return found
    return [(part.lines, part.what)]


def marked_lines(text: str) -> int:
    """How many lines a mark stands for; 1 for any other line."""
    if not MARK.match(text):
        return 1
    return sum(int(number.replace(",", "")) for number, _ in _COUNTED.findall(text))


def shorten(line: str, most: int) -> str:
    """A long line with its middle cut out."""
    if len(line) <= most:
        return line
    head, tail = max(1, most * 2 // 3), most // 4
    return f"{line[:head]}…[+{len(line) - head - tail:,} characters]…{line[len(line) - tail :]}"
