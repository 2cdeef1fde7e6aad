"""The identifiers of a text that are distinctive: names that people made up, not words of a language."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z_][\w\-]*(?:\.[\w\-]+)+|[A-Za-z_][A-Za-z0-9_]{4,}")
_MADE_UP: Final = re.compile(r"[_.\d]|[a-z][A-Z]")


def identifiers(text: str) -> set[str]:
    """Words with an underscore, a digit, a dot or a capital inside."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        if len(word) >= 5 and _MADE_UP.search(word):
            found.add(word)
    return found


def is_comment(line: str) -> bool:
    """Whether a line of code is only a comment."""
    return line.lstrip().startswith(("//", "#", "*", "/*", '"""', "'''", "--", ";"))
