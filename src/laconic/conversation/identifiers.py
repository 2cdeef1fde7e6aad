"""The identifiers of a text that are distinctive (made up by people, no words of a language), and its imports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z_][\w\-]*(?:\.[\w\-]+)+|[A-Za-z_][A-Za-z0-9_]{4,}")
_MADE_UP: Final = re.compile(r"[_.\d]|[a-z][A-Z]")
_IMPORT: Final = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|package\s+\w|use\s+[\w:]+|#include\b|.*\brequire\(|\"[\w./\-]+\"$)"
)


def identifiers(text: str) -> set[str]:
    """Words with an underscore, a digit, a dot or a capital inside."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        if len(word) >= 5 and _MADE_UP.search(word):
            found.add(word)
    return found


def find_identifiers(lines: Iterable[str], most: int) -> dict[str, list[int]]:
    """The same of each line: the first rows in which a word is, at most so many."""
    found: dict[str, list[int]] = {}
    plain: set[str] = set()  # words that are not: most recur
    for row, line in enumerate(lines):
        for word in _WORD.findall(line):
            rows = found.get(word)
            if rows is not None:
                if len(rows) < most and rows[-1] != row:
                    rows.append(row)
            elif word not in plain:
                if len(word) >= 5 and _MADE_UP.search(word):
                    found[word] = [row]
                else:
                    plain.add(word)
    return found


def is_import(line: str) -> bool:
    """Whether a line of code only says what it builds on: imports, includes, its package."""
    return _IMPORT.match(line) is not None
