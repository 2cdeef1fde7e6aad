"""The documents of this project as data: pages, their fenced blocks, their links and their figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^`]*)$")
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<image>[^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (?P<title>.+)$")
_FIGURE = re.compile(r"\d (?:%|ms\b|MB\b|times\b)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after it, and where it begins."""

    page: Path
    line: int
    language: str
    words: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Everything that people read; what is generated from the program is checked where it is made."""
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "reference" not in page.parts]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    fence, info, start, held = "", "", 0, list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        match = _FENCE.match(line)
        if not fence and match:
            fence, info, start, held = match["fence"], match["info"], number, []
        elif fence and line == fence:
            language, *words = info.split() or [""]
            yield Block(page, start, language, frozenset(words), "\n".join(held) + "\n")
            fence = ""
        elif fence:
            held.append(line)
    assert not fence, f"{page}:{start}: the block is not closed"


def prose(page: Path) -> list[str]:
    """The lines outside fenced blocks; those inside are empty, so that numbers stay."""
    inside, kept = False, list[str]()
    for line in page.read_text("utf-8").splitlines():
        fence = bool(_FENCE.match(line))
        kept.append("" if inside or fence else line)
        inside ^= fence
    return kept


def links(page: Path) -> Iterator[str]:
    """Where a page points."""
    for line in prose(page):
        for match in _LINK.finditer(line):
            yield match["target"] or match["image"]


def anchors(page: Path) -> set[str]:
    """The names of a page's headings as the usual renderers make them."""
    titles = [match["title"] for line in prose(page) if (match := _HEADING.match(line))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def claims(page: Path) -> Iterator[tuple[int, str, str]]:
    """Sections that state a measured figure: the line of their heading, the heading, and all their text."""
    lines = page.read_text("utf-8").splitlines()
    outside = prose(page)
    starts = [number for number, line in enumerate(outside) if _HEADING.match(line)] or [0]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if any(_FIGURE.search(line) for line in outside[start:end]):
            yield start + 1, lines[start], "\n".join(lines[start:end])
