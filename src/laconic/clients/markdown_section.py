"""Laconic's section in a Markdown file, between two marks. Pure."""

from __future__ import annotations

import re
from typing import Final

START: Final = "<!-- laconic:start -->"
END: Final = "<!-- laconic:end -->"
_SECTION: Final = re.compile(rf"{START}.*?{END}", re.DOTALL)
_WITH_GAP: Final = re.compile(rf"(\r?\n)*{START}.*?{END}(\r?\n)*", re.DOTALL)


def put(text: str, body: str) -> str:
    """The text with the section once: where it was, or at the end."""
    section = f"{START}\n{body.strip()}\n{END}"
    if _SECTION.search(text):
        first, *rest = _SECTION.split(text)
        kept = []
        for part in (first, section, *(part.strip("\r\n") for part in rest[:-1])):
            if part:
                kept.append(part)
        return "".join(kept) + rest[-1]
    if text.strip():
        return text.rstrip() + "\n\n" + section + "\n"
    return section + "\n"


def take(text: str) -> str:
    """The text without the section."""
    if not _SECTION.search(text):
        return text
    left = _WITH_GAP.sub("\n\n", text)
    if left.strip():
        return left.strip("\n") + "\n"
    return ""


def extract(text: str) -> str:
    """The section itself, without the marks; empty when there is none."""
    found = _SECTION.search(text)
    if found is None:
        return ""
    return found[0].removeprefix(START).removesuffix(END).strip()
