"""Compile a regular expression that somebody else wrote, with an engine that has a time limit.

A pattern may be hostile in three ways: it never ends (searching takes a timeout), it does not parse, or it needs all
memory before it has looked at anything. This module sees to the last two.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from laconic.errors import UsageError

if TYPE_CHECKING:
    from regex import Pattern

_LONGEST: Final = 10_000  # characters
_DEEPEST: Final = 100  # groups within groups
_REPEATS: Final = 100_000  # of one thing, counted repetitions within each other multiplied
_ON_A_LINE: Final = 0.4  # seconds
_WIDE: Final = 1_500  # characters of a line from which only what is around a match is given
_AROUND: Final = 200  # characters on either side of what was found in a very long line
_SHOWN: Final = 400  # and of what was found
_JOINED: Final = 600  # of places that are told as one
_TOLD: Final = 4_000  # of all places of one line
_PLACES: Final = 12  # of one line
_FEW: Final = 12  # lines that are found, up to which those around them are told too
_BESIDE: Final = 300  # characters of a line around
_RECURSIVE: Final = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")
_PART: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d*)(,?)(\d*)\}|.", re.DOTALL)


def compile_pattern(pattern: str, flags: int = 0) -> Pattern[str]:
    """The pattern, ready to search; raises UsageError where it is wrong or too large."""
    import regex  # takes a timeout, which `re` lacks

    problem = _excess(pattern)
    if not problem:
        try:
            return regex.compile(pattern, flags)
        except (regex.error, OverflowError, RecursionError, ValueError) as error:
            problem = f"is not a regular expression: {error}"
    raise UsageError(f"/{pattern[:80]}/ {problem}.", "Escape special characters, or simplify it.")


def find_lines(lines: Iterable[str], pattern: str, seconds: float) -> list[tuple[int, str]]:
    """The numbered lines that a pattern finds, of a very long one what is around it; raises TimeoutError."""
    rule = compile_pattern(pattern)
    until = time.monotonic() + seconds
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        left = min(_ON_A_LINE, max(0.001, until - time.monotonic()))
        if len(line) <= _WIDE:
            if rule.search(line, timeout=left):
                found.append((number, line))
        elif around := cut_around(line, (match.span() for match in rule.finditer(line, timeout=left))):
            found.append((number, around))
    return found


def find_passages(lines: Sequence[str], pattern: str, seconds: float, around: int = 0) -> list[tuple[int, str]]:
    """The numbered lines that a pattern finds, or, where it finds none, that it finds in other letters' case; with the
    lines around them if there are few."""
    found = find_lines(lines, pattern, seconds) or find_lines(lines, f"(?i:{pattern})", seconds)
    if not around or len(found) > _FEW:
        return found
    texts = dict(found)
    for number in list(texts):
        for near in range(max(1, number - around), min(len(lines), number + around) + 1):
            texts.setdefault(near, shorten_line(lines[near - 1]))
    return sorted(texts.items())


def shorten_line(line: str) -> str:
    """A line that is only there for what is beside it."""
    if len(line) <= _BESIDE:
        return line
    return f"{line[:_BESIDE]}…"


def cut_around(line: str, spans: Iterable[tuple[int, int]]) -> str:
    """What is around these places of a very long line, with … for what is between; empty where there are none."""
    parts: list[tuple[int, int]] = []
    for start, end in spans:
        first, last = max(0, start - _AROUND), min(len(line), min(end, start + _SHOWN) + _AROUND)
        if parts and end <= parts[-1][1]:
            continue
        if parts and first <= parts[-1][1] and last - parts[-1][0] <= _JOINED:
            parts[-1] = (parts[-1][0], last)
        elif len(parts) == _PLACES or sum(b - a for a, b in parts) > _TOLD:
            parts.append((len(line), len(line)))
            break
        else:
            parts.append((max(first, parts[-1][1] if parts else 0), last))
    if not parts:
        return ""
    text = "…".join(line[first:last] for first, last in parts)
    return f"{'…' if parts[0][0] else ''}{text}{'…' if parts[-1][1] < len(line) else ''}"


def _excess(pattern: str) -> str:
    if len(pattern) > _LONGEST:
        return f"has {len(pattern)} characters, more than {_LONGEST}"
    if _RECURSIVE.search(pattern):
        return "refers to itself"
    opened = [0]  # what has been built in each group that is open; one after the other adds up
    last = 0  # the part that a repetition repeats
    for part in _PART.finditer(pattern):
        if part[0] == "(":
            opened.append(0)
        elif part[0] == ")" and len(opened) > 1:
            last = max(1, opened.pop())
            opened[-1] += last
        elif part[1] or part[3]:
            times = max(int(number[:9]) for number in (part[1], part[3], "1") if number)
            opened[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            opened[-1] += 1
        if len(opened) > _DEEPEST:
            return f"nests more than {_DEEPEST} groups"
        if opened[-1] > _REPEATS:
            return f"repeats things more than {_REPEATS} times"
    return ""
