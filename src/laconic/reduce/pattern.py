"""Compile a regular expression that somebody else wrote, with an engine that has a time limit.

A pattern may be hostile in three ways: it never ends (searching takes a timeout), it does not parse, or it needs all
memory before it has looked at anything. This module sees to the last two.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from laconic.errors import UsageError

if TYPE_CHECKING:
    from regex import Pattern

_LONGEST: Final = 10_000  # characters
_DEEPEST: Final = 100  # groups within groups
_REPEATS: Final = 100_000  # of all counted repetitions, multiplied
_RECURSIVE: Final = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")
_COUNTED: Final = re.compile(r"\{(\d*),?(\d*)\}")


def compiled(pattern: str, flags: int = 0) -> Pattern[str]:
    """The pattern, ready to search; raises UsageError where it is wrong or too large."""
    import regex  # takes a timeout, which `re` lacks

    problem = _excess(pattern)
    if not problem:
        try:
            return regex.compile(pattern, flags)
        except (regex.error, OverflowError, RecursionError, ValueError) as error:
            problem = f"is not a regular expression: {error}"
    raise UsageError(f"/{pattern[:80]}/ {problem}.", "Escape special characters, or simplify it.")


def _excess(pattern: str) -> str:
    if len(pattern) > _LONGEST:
        return f"has {len(pattern)} characters, more than {_LONGEST}"
    repeats = 1
    for found in _COUNTED.finditer(pattern):
        repeats *= max(1, *(int(number[:9]) for number in found.groups() if number), 1)
        if repeats > _REPEATS:
            return f"repeats things more than {_REPEATS} times"
    if _RECURSIVE.search(pattern):
        return "refers to itself"
    depth = 0
    for char in pattern:
        depth += (char == "(") - (char == ")")
        if depth > _DEEPEST:
            return f"nests more than {_DEEPEST} groups"
    return ""
