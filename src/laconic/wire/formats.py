"""The formats that we know, by name."""

from __future__ import annotations

from typing import Final

from laconic.errors import UnknownName
from laconic.wire import anthropic, chat, gemini, responses
from laconic.wire.model import Format

FORMATS: Final[dict[str, Format]] = {
    format.name: format for format in (anthropic.FORMAT, chat.FORMAT, responses.FORMAT, gemini.FORMAT)
}


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownName("format", name, tuple(FORMATS))
    return FORMATS[name]
