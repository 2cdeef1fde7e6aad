"""What an agent takes from the text of a task: names, words, paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from laconic.index.search.terms import extract_terms, find_identifiers, find_paths

_MOST: Final = 10  # of each
_OF_TRACKERS: Final = frozenset(
    {
        "fix",
        "fixes",
        "fixed",
        "feat",
        "feature",
        "refactor",
        "chore",
        "add",
        "added",
        "adds",
        "issue",
        "issues",
        "bug",
    }
    | {"description", "expected", "behavior", "behaviour", "actual", "version", "reproduction", "reproduce", "steps"}
    | {"describe", "problem", "summary", "change", "changes", "should", "true", "false", "none", "null", "self"}
    | {"return", "returns", "value", "function", "method", "class", "file", "files", "string", "error"}
)


@dataclass(frozen=True, slots=True)
class Clues:
    """What is worth searching for."""

    names: tuple[str, ...]  # written as code
    words: tuple[str, ...]
    paths: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Clues:
        names = {name.lower(): name for name in reversed(find_identifiers(text)) if name.lower() not in _OF_TRACKERS}
        words = [
            term.word for term in extract_terms(text) if len(term.word) > 2 and re.fullmatch(r"[^\W\d]\w*", term.word)
        ]
        return cls(
            tuple([*reversed(names.values())][:_MOST]),
            tuple([word for word in words if word not in _OF_TRACKERS][:_MOST]),
            tuple(find_paths(text)[:_MOST]),
        )

    @property
    def pattern(self) -> str:
        return "|".join(re.escape(word) for word in self.words)
