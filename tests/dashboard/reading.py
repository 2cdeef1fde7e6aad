"""Read pages as a browser would: elements, their texts, and the figures that they claim to show."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "link", "input", "br", "hr", "img"}
_NAMES = {"code", "a", "strong", "small", "h1", "title", "th", "pre", "footer", "nav"}  # may hold digits of names


@dataclass
class Shown:
    """What a page holds."""

    figures: list[tuple[str, str]] = field(default_factory=list)  # pointer, exact value
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)  # texts that are neither figures nor names


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown = Shown()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.shown.elements.append((tag, given))
        if tag not in _VOID:
            self._open.append(tag)
        if "data-at" in given:
            self.shown.figures.append((given["data-at"] or "", given.get("value") or given.get("data-value") or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shown.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag, "elements are closed in order"

    def handle_data(self, data: str) -> None:
        if not {"data", "time", "figure", *_NAMES} & set(self._open) and data.strip():
            self.shown.loose.append(data.strip())


def read(html: str) -> Shown:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.shown


def at(document: Any, pointer: str) -> Any:
    """The value that a pointer names."""
    for step in pointer.split("/")[1:]:
        document = document[int(step) if isinstance(document, list) else step]
    return document


def exact(text: str) -> Any:
    return ast.literal_eval(text) if text else None
