"""Sentences in which a model says what it found out: what a recap quotes, and what a task came to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_FOUND: Final = re.compile(
    r"(?i)\b(?:decided|instead|because|found|caused by|the (?:fix|issue|problem|cause|bug)|root cause|will use|we need)\b"
)
_SHORTEST: Final = 30  # characters of a line that says something


def list_findings(text: str, most: int) -> list[str]:
    """The first lines of a text that say what was found out."""
    found: list[str] = []
    for line in text.split("\n"):
        if len(line) > _SHORTEST and _FOUND.search(line):
            found.append(line.strip())
    return found[:most]


def find_result(said: Sequence[str]) -> str:
    """What a task came to, from what the model said while it worked on it: most clients have no field for that."""
    for text in reversed(said):
        if found := list_findings(text, 1):
            return found[0]
    for text in reversed(said):
        for line in text.split("\n"):
            if line.strip():
                return line.strip()
    return ""
