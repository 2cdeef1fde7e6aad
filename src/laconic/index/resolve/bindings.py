"""Where a function gives a local name its type or its value."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.declared import MARK, Given, compile_pattern
from laconic.index.dialect import LanguageDialect

_HEADER: Final = 6000  # characters of a list of parameters


def find_bindings(dialect: LanguageDialect, name: str, text: str, signature: str) -> list[Given]:
    """All places in a function where a local name is declared or assigned, in order; parameters come first."""
    word = re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])")
    found: list[Given] = []
    if dialect.documentation:
        text = compile_pattern(dialect.documentation).sub(_blank, text)
    header = f"{signature} {_header(text)}" if signature.endswith("…") else signature
    match = compile_pattern(dialect.parameter).search(word.sub(MARK, header)) if dialect.parameter else None
    if match is not None:
        found.append(Given(0, "type" if match[1] else "opaque", match[1] or ""))
    marked = word.sub(MARK, text)
    shrunk = len(name) - 1
    for kind, pattern in dialect.statements:
        for hit in compile_pattern(pattern).finditer(marked):
            at = hit.start() + shrunk * marked.count(MARK, 0, hit.start())
            found.append(Given(at, kind, (hit[1] if hit.groups() else "").replace(MARK, name)))
    found.sort(key=lambda given: given.at)
    return found


def _header(text: str) -> str:
    """The parameters of a function whose signature was cut."""
    start = re.search(r"\b(?:def|func|fn|function)\b[^(]*", text)
    at, depth = start.end() if start else len(text), 0
    for end in range(at, min(len(text), at + _HEADER)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[at : end + 1]
    return ""


def _blank(text: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", text[0])
