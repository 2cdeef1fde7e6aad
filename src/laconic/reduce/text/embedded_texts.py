"""Texts inside JSON that have a form of their own: a document in a string, a patch, a log, JSON once more. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_LINES: Final = 3  # line ends of a string that is a text
_SIZE: Final = 120  # characters of one
_BYTES: Final = 240  # characters from which a value without a space can be bytes
_ENCODED: Final = re.compile(r"(?:data:[\w/+.;=-]+,)?[A-Za-z0-9+/_\n\\-]{240,}={0,2}\s*")
_MIXED: Final = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d"))


def is_text(value: object) -> bool:
    """Whether a value is a string of several lines, which reads better outside the quotes."""
    return isinstance(value, str) and len(value) >= _SIZE and value.count("\n") >= _LINES


def open_document(value: object) -> object:
    """The document that a string holds, in place of the string; anything else as it is."""
    if not isinstance(value, str) or len(value) < _SIZE:
        return value
    text = value.strip()
    if (text[:1], text[-1:]) not in {("{", "}"), ("[", "]")}:
        return value
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return value
    return found if isinstance(found, dict | list) else value


def is_encoded(text: str) -> bool:
    """Whether a value is bytes written as letters (base64), which nobody reads."""
    if len(text) < _BYTES or _ENCODED.fullmatch(text) is None:
        return False
    return all(pattern.search(text, 0, _BYTES) for pattern in _MIXED)
