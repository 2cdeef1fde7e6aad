"""To which definition a line of code belongs, with its signature, and which lines say nothing by themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from laconic.index.store import Store, Symbol
from laconic.index.symbol_kinds import RANKED_TYPES, WITH_BODY
from laconic.records import Span
from laconic.reduce.line_choice import CodeBlock, Place

_SIGNATURE: Final = 6  # lines of a signature that are shown
_OUTER: Final = 80  # lines of a function with which the functions in it are shown
_OPENS: Final = re.compile(r"[{:;]\s*(?:(?:#|//).*)?$|=>\s*$|=\s*$")
_IMPORT: Final = re.compile(
    r"(?:import|package|use|using|mod|extern crate|require|require_relative|pub use)\b|from\s+\S+\s+import\b"
    r"|#\s*include\b|\}\s*from\b|export\s.*\bfrom\s|(?:const|let|var)\s.*=\s*require\(|\s+(?:\w+\s+)?\"[\w./-]+\"$"
)
_COMMENT: Final = re.compile(r"\s*(?:#(?!\[|include|define|if|end)|//|/\*|\*|<!--|--|;)")
_DOCSTRING: Final = re.compile(r"""\s*[rRuU]?(\"{3}|'{3}|"|')""")


class CodeBlocks:
    """To which definition a line belongs, and which lines say nothing without their definition."""

    def __init__(self, store: Store, lines_of: Callable[[str], Sequence[str]]) -> None:
        self._store = store
        self._lines_of = lines_of
        self._around: dict[str, dict[int, list[Symbol]]] = {}
        self._blocks: dict[Symbol, CodeBlock] = {}
        self._preambles: dict[str, int] = {}
        self._first_lines: dict[str, frozenset[int]] = {}
        self._docstrings: dict[str, frozenset[int]] = {}

    def find(self, place: Place) -> CodeBlock:
        """The innermost function around a line, or the type; else the line stands for itself."""
        path, line = place
        if path not in self._around:
            self._around[path] = self._find_around(path)
        around = self._around[path].get(line)
        if around is None:
            return CodeBlock(path, Span(line, line))
        chosen = around[0]
        for outer in around[1:]:
            if chosen.kind in WITH_BODY and outer.kind in WITH_BODY and len(outer.span) <= _OUTER:
                chosen = outer  # a function in a function is shown where it stands
        if chosen not in self._blocks:
            self._blocks[chosen] = self._make_block(path, chosen)
        return self._blocks[chosen]

    def _find_around(self, path: str) -> dict[int, list[Symbol]]:
        """The functions and types around each line of a file, the innermost first."""
        inner = []
        for symbol in self._store.symbols_of_path(path):
            if symbol.kind in WITH_BODY or symbol.kind in RANKED_TYPES:
                inner.append(symbol)
        around: dict[int, list[Symbol]] = {}
        for symbol in sorted(inner, key=lambda each: len(each.span)):
            for line in range(symbol.start, symbol.end + 1):
                around.setdefault(line, []).append(symbol)
        return around

    def _make_block(self, path: str, symbol: Symbol) -> CodeBlock:
        lines = self._lines_of(path)
        last = min(symbol.end, len(lines))
        signature = [symbol.line]
        while signature[-1] < min(last, symbol.line + _SIGNATURE - 1) and not _OPENS.search(lines[signature[-1] - 1]):
            signature.append(signature[-1] + 1)
        first = symbol.start
        while first < symbol.line and _is_comment(lines[first - 1]):
            first += 1
        if first < symbol.line and lines[first - 1].rstrip().endswith("{"):
            signature.insert(0, first)  # a type that is named where it ends
        owner = symbol.qualified.removesuffix(symbol.name).rstrip(".:#/")
        return CodeBlock(path, Span(first, last), tuple(signature), f" in {owner}" if owner else "")

    def is_docstring(self, place: Place) -> bool:
        """Whether a line belongs to the text with which a definition begins."""
        path, line = place
        return line in self._find_docstrings(path)

    def is_comment_above(self, place: Place) -> bool:
        """Whether a line belongs to the comment before a definition: lines of it would come before the signature."""
        path, line = place
        lines = self._lines_of(path)
        if line > len(lines) or not _is_comment(lines[line - 1]):
            return False
        below = line
        while below < len(lines) and _is_comment(lines[below]):
            below += 1
        return below + 1 in self._starts(path)

    def _starts(self, path: str) -> frozenset[int]:
        """The lines with which the code of definitions begins."""
        if path not in self._first_lines:
            lines = self._lines_of(path)
            found: set[int] = set()
            for symbol in self._store.symbols_of_path(path):
                if symbol.kind not in WITH_BODY and symbol.kind not in RANKED_TYPES:
                    continue
                first = min(symbol.start, len(lines))
                while first < symbol.line and _is_comment(lines[first - 1]):
                    first += 1
                found.add(first)
            self._first_lines[path] = frozenset(found)
        return self._first_lines[path]

    def is_preamble(self, place: Place) -> bool:
        """Whether a line belongs to the comment with which a file begins: a licence, mostly."""
        path, line = place
        if path not in self._preambles:
            lines = self._lines_of(path)
            first = 0
            while first < len(lines) and (not lines[first].strip() or _is_comment(lines[first])):
                first += 1
            self._preambles[path] = first
        return line <= self._preambles[path]

    def is_import(self, place: Place) -> bool:
        """Whether a line outside of definitions only brings in names of other files."""
        path, line = place
        lines = self._lines_of(path)
        return line <= len(lines) and _IMPORT.match(lines[line - 1]) is not None and not self.find(place).signature

    def _find_docstrings(self, path: str) -> frozenset[int]:
        """The lines of texts with which definitions of Python begin."""
        if path in self._docstrings:
            return self._docstrings[path]
        found: set[int] = set()
        if path.endswith((".py", ".pyi")):
            lines = self._lines_of(path)
            for symbol in self._store.symbols_of_path(path):
                if symbol.kind in WITH_BODY or symbol.kind in RANKED_TYPES:
                    found.update(_docstring(lines, symbol))
        self._docstrings[path] = frozenset(found)
        return self._docstrings[path]


def _docstring(lines: Sequence[str], symbol: Symbol) -> range:
    """The lines of the text that a definition begins with; none where it has none."""
    last = min(symbol.end, len(lines))
    first = symbol.line
    while first < last and not _OPENS.search(lines[first - 1]):
        first += 1
    start = first + 1
    if start > last or not (opened := _DOCSTRING.match(lines[start - 1])):
        return range(0)
    end = start
    if opened[1] not in lines[start - 1][opened.end() :]:
        end += 1
        while end < last and opened[1] not in lines[end - 1]:
            end += 1
    return range(start, end + 1)


def _is_comment(line: str) -> bool:
    return _COMMENT.match(line) is not None
