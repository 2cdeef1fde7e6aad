"""HTML as the text a reader would see: headings, paragraphs, lists, links; scripts and styles go."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from laconic.reduce.text.parts import KEY, NEAR, RARE, TextPart, shorten

_GONE: Final = re.compile(
    r"(?is)<(script|style|svg|noscript|template|iframe)\b[^>]*>.*?</\1\s*>|<!--.*?-->|<!doctype[^>]*>"
    r"|<\?[^>]*\?>"
)
_BYTES: Final = re.compile(r"data:[\w/+.;=-]+,[\w+/=%-]{80,}")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_HEADING: Final = re.compile(r"(?is)<h([1-6])\b[^>]*>(.*?)</h\1\s*>")
_LINK: Final = re.compile(r"(?is)<a\b[^>]*?href=[\"']?([^\"'>\s]+)[^>]*>(.*?)</a\s*>")
_ITEM: Final = re.compile(r"(?i)<li\b[^>]*>")
_CELL: Final = re.compile(r"(?i)</t[dh]\s*>")
_BREAK: Final = re.compile(
    r"(?i)</?(?:p|div|br|tr|ul|ol|table|section|article|header|footer|main|nav|pre|blockquote|form|dl|dt"
    r"|dd|title|h\d)\b[^>]*>"
)
_TAG: Final = re.compile(r"(?s)<[a-zA-Z/!][^<>]*>")
_LINK_MOST: Final = 120


def markup_parts(text: str) -> list[TextPart]:
    """The readable lines of a page; navigation made of links only is worth less."""
    title = _TITLE.search(text)
    text = _GONE.sub(" ", text)
    text = _HEADING.sub(lambda found: f"\n{'#' * int(found[1])} {_flat(found[2])}\n", text)
    text = _LINK.sub(_link, text)
    text = _ITEM.sub("\n- ", text)
    text = _CELL.sub(" | ", text)
    text = _TAG.sub("", _BREAK.sub("\n", text))
    lines = []
    for line in unescape(text).split("\n"):
        lines.append(" ".join(line.split()))
    shown: set[str] = set()
    parts: list[TextPart] = []
    if title:
        name = f"title: {_flat(title[1])}"
        parts.append(TextPart(name, KEY))
        shown |= {name, _flat(title[1])}
    for line in lines:
        if not line.strip("|- ") or line in shown:
            continue
        shown.add(line)
        if line.startswith("#"):
            worth = KEY
        elif re.fullmatch(r"- \[[^\]]*\]\([^)]*\)", line):
            worth = RARE
        else:
            worth = NEAR
        parts.append(TextPart(shorten(line.strip(" |"), 1500), worth))
    return parts


def is_fragment(text: str) -> bool:
    """Whether markup is a part of a page, which somebody asked for who wants its tags."""
    start = text.lstrip()[:2_000].lower()
    return not start.startswith(("<!doctype", "<html", "<?xml")) and "<head" not in start


def slim_markup(text: str) -> str:
    """Markup without scripts, styles, drawings, bytes and white space."""
    text = _BYTES.sub("data:…", _GONE.sub("", text))
    return re.sub(r"\s+", " ", text).strip()


def _flat(html: str) -> str:
    return " ".join(unescape(_TAG.sub("", html)).split())


def _link(found: re.Match[str]) -> str:
    target, label = found[1], _flat(found[2])
    if not label:
        return " "
    if target.startswith(("#", "javascript:")) or len(target) > _LINK_MOST or target == label:
        return label
    return f"[{label}]({target})"
