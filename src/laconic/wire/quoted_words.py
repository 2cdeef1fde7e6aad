"""Whether the words of an error are the client's own: providers quote what they refuse, and it may say anything."""

from __future__ import annotations

import re
from typing import Final

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import value

_OTHERS: Final = re.compile(r"[^a-z0-9]+")


def is_quoted(words: str, request: bytes) -> bool:
    """Whether a request contains these words, however they are written there."""
    wanted = _letters(words)
    return wanted in _letters(request.decode("utf-8", "replace")) or wanted in _letters(_read_texts(request))


def _letters(text: str) -> str:
    return _OTHERS.sub("", text.lower())


def _read_texts(request: bytes) -> str:
    """All texts of a request in JSON, without its escapes; empty where it has none."""
    if b"\\" not in request:
        return ""
    try:
        left = [value(request)]
    except MalformedRequest:
        return ""
    found: list[str] = []
    while left:
        each = left.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            left.extend(each.values())
            left.extend(each)
        elif isinstance(each, list):
            left.extend(each)
    return "\0".join(found)
