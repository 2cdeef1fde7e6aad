"""Escape characters that would control a terminal or hide text: names and contents are untrusted.

Line feeds and tabs of a text stay; in a name, which is part of a line, they are escaped too.
"""

from __future__ import annotations

import re
from typing import Final

_CODES: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all controls but tab and line feed
_ORDER: Final = "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"  # they reorder or break what is seen
_IN_TEXT: Final = re.compile(f"[{_CODES}{_ORDER}]")
_IN_NAME: Final = re.compile(f"[{_CODES}\t\n{_ORDER}]")


def visible(text: str) -> str:
    """A text that can be printed anywhere."""
    if _IN_TEXT.search(text):
        return _IN_TEXT.sub(_escape, text)
    return text


def visible_name(name: str) -> str:
    """A name that can be printed anywhere, on one line."""
    if _IN_NAME.search(name):
        return _IN_NAME.sub(_escape, name)
    return name


def visible_json(text: str) -> str:
    """JSON that can be printed anywhere, and means the same."""
    if _IN_TEXT.search(text):
        return _IN_TEXT.sub(_escape_json, text)
    return text


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"


def _escape_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
