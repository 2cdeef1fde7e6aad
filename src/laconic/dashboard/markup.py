"""HTML from Python: every text and every attribute is escaped, and only what this module made counts as safe."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

Child = object  # text, Markup, None, or a list of these
Attribute = str | int | float | bool | None
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "rect", "line", "circle", "path", "polyline"})
_REPLACED: Final = {
    point: "\N{REPLACEMENT CHARACTER}"
    for point in (*range(32), *range(0x7F, 0xA0), *range(0xD800, 0xE000))
    if point not in {9, 10}
}


class Markup(str):
    """HTML that may be written as it is."""

    __slots__ = ()


def tag(element: str, *children: Child, **attributes: Attribute) -> Markup:
    """An element. Attributes: `class_` and `for_` lose their underscore, others have it as a hyphen."""
    written = "".join(_attribute(name, value) for name, value in attributes.items() if value not in (None, False))
    if element in _VOID and not children:
        return Markup(f"<{element}{written}/>")
    return Markup(f"<{element}{written}>{join(children)}</{element}>")


def join(children: Iterable[Child]) -> Markup:
    """Children one after the other."""
    return Markup("".join(_write(child) for child in children))


def _write(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return str(child)
    if isinstance(child, list | tuple):
        return join(child)
    return clean(escape(str(child), quote=False))


def _attribute(name: str, value: Attribute) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{clean(escape(str(value)))}"'


def clean(text: str) -> str:
    """Without what HTML has no place for: control characters, halves of surrogate pairs."""
    if text.isprintable():
        return text
    return text.translate(_REPLACED)
