"""How a person knows a session: by how they began it, without what clients write around that, and by its project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 120  # characters
_WRAPPED: Final = re.compile(r"\s*<([a-zA-Z][\w-]*)\b[^>]*>.*?</\1>", re.DOTALL)  # <environment_context>...
_FOLDER: Final = re.compile(
    r"<cwd>\s*([^<\n\\]+?)\s*</cwd>"
    r"|(?:[Ww]orking|[Cc]urrent) directory:\s*([^\n\\<\"]+)"
    r"|Workspace Directories:[\s*-]*([^\n\\<\"]+)"
)
_CAVEAT: Final = ("Caveat: the messages below", "[Request interrupted")


def choose_title(texts: Iterable[str]) -> str:
    """The first of the user's texts that says something of its own; empty when none does."""
    for text in texts:
        own = _unquote(_unwrap(text).strip())
        if own and not own.startswith(("<", *_CAVEAT)):
            return " ".join(own[: 4 * _LONGEST].split())[:_LONGEST]
    return ""


def _unquote(text: str) -> str:
    """Without the quotes that some clients put around a prompt from the command line."""
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return text[1:-1].strip()
    return text


def _unwrap(text: str) -> str:
    """The text without the tagged parts that stand before it."""
    while found := _WRAPPED.match(text):
        text = text[found.end() :]
    return text


def find_project(texts: Iterable[str]) -> str:
    """The folder that a client says it works in; empty when it says none."""
    for text in texts:
        if found := _FOLDER.search(text):
            return next(part for part in found.groups() if part).strip()[:_LONGEST]
    return ""
