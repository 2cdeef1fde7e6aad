"""The signature of a function as it is in its file, where the index keeps only the beginning."""

from __future__ import annotations

from typing import Final

from laconic.index.resolve.code import Code
from laconic.index.store import Symbol

_LONGEST: Final = 80  # lines
_OPEN: Final = {"(": ")", "[": "]", "{": "}"}


def read_whole_signature(code: Code, symbol: Symbol) -> str:
    """All that is written before the body of a function."""
    kept = symbol.signature
    if not kept.endswith("…") and "(" in kept and kept.count("(") == kept.count(")"):
        return kept
    key = ("signature", symbol.id)
    found = code.derived.get(key)
    if not isinstance(found, str):
        lines = code.lines(symbol.file)[symbol.line - 1 : min(symbol.end, symbol.line + _LONGEST)]
        colon = code.sources[symbol.file].language == "python"
        found = code.derived[key] = " ".join(_cut_body(" ".join(lines), colon=colon).split())
    return found


def _cut_body(text: str, *, colon: bool) -> str:
    """The text up to the brace, the semicolon or (in Python) the colon that follows the parameters."""
    closing: list[str] = []
    called = False
    for at, letter in enumerate(text):
        if colon and letter == ":" and not closing and called:
            return text[:at]
        if not closing and called and (letter == ";" or (letter == "{" and not _begins_type(text, at))):
            return text[:at]
        if letter in _OPEN:
            called = called or letter == "("
            closing.append(_OPEN[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
    return text


def _begins_type(text: str, at: int) -> bool:
    """Whether a brace opens a type (`): { a: T }`), not a body."""
    return text[:at].rstrip()[-1:] in {":", "|", "&", ">"} and text[:at].rstrip()[-2:] != "=>"
