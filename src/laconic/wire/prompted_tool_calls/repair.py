"""Read JSON that a model wrote by hand. Repairs happen outside strings only: no byte inside one ever changes."""

from __future__ import annotations

import ast
import json
import re
from typing import Final

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_WORD: Final = re.compile(r"\b(True|False|None)\b")
_BARE_KEY: Final = re.compile(r"([{,]\s*)([A-Za-z_][\w-]*)(\s*:)")
_TRAILING: Final = re.compile(r",(\s*[}\]])")


def decode(text: str) -> object:
    """The value; raises ValueError when no repair helps."""
    for attempt in (_plain, _repair, _literal):
        try:
            return attempt(text)
        except (ValueError, RecursionError):
            continue
    raise ValueError("not JSON")


def _plain(text: str) -> object:
    return json.loads(text, strict=False)  # line breaks inside strings are common, and harmless


def _repair(text: str) -> object:
    pieces: list[str] = []
    at = 0
    for match in _STRING.finditer(text):
        pieces += (_outside(text[at : match.start()]), match[0])
        at = match.end()
    pieces.append(_outside(text[at:]))
    return json.loads("".join(pieces), strict=False)


def _outside(text: str) -> str:
    """Trailing commas, bare keys and Python's words, in what stands between two strings."""
    text = _TRAILING.sub(r"\1", text)
    text = _BARE_KEY.sub(r'\1"\2"\3', text)
    return _WORD.sub(lambda match: _WORDS[match[1]], text)


def _literal(text: str) -> object:
    """Python's own notation, which its own reader understands."""
    try:
        return ast.literal_eval(text.strip())
    except (SyntaxError, TypeError, MemoryError) as error:
        raise ValueError(str(error)) from None
