"""The syntax tree of a file, with what its grammar cannot read hidden from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from laconic.index.parse.compiled import CompiledLanguage

if TYPE_CHECKING:
    from tree_sitter import Node

Stretch = tuple[int, int]
_CONFLICT_MARK: Final = re.compile(rb"^(?:<{7} .*|\|{7}(?: .*)?|={7}|>{7} .*)\r?$", re.MULTILINE)


def parse_tree(ready: CompiledLanguage, data: bytes) -> Node:
    """The root of the tree; what the language hides reads as blanks, so that all places stay."""
    import tree_sitter  # loaded with the first grammar

    hidden = [*find_hidden(ready, data), *_find_conflict_marks(data)]
    return tree_sitter.Parser(ready.grammar).parse(_blank(data, hidden)).root_node


def find_hidden(ready: CompiledLanguage, data: bytes) -> list[Stretch]:
    """Where text is that the grammar cannot read."""
    if ready.language.hide:
        return ready.language.hide(data)
    return []


def _find_conflict_marks(data: bytes) -> list[Stretch]:
    """The lines with which git marks a conflict: without them both sides are read, one after the other."""
    if b"<<<<<<< " not in data:
        return []
    found: list[Stretch] = []
    for match in _CONFLICT_MARK.finditer(data):
        found.append(match.span())
    return found


def _blank(data: bytes, hidden: list[Stretch]) -> bytes:
    if not hidden:
        return data
    text = bytearray(data)
    for start, end in hidden:
        for at in range(start, end):
            if text[at] != 10:  # line breaks stay
                text[at] = 32
    return bytes(text)
