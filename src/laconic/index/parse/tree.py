"""The syntax tree of a file, with what its grammar cannot read hidden from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laconic.index.parse.compiled import CompiledLanguage

if TYPE_CHECKING:
    from tree_sitter import Node

Stretch = tuple[int, int]


def parse_tree(ready: CompiledLanguage, data: bytes) -> Node:
    """The root of the tree; what the language hides reads as blanks, so that all places stay."""
    import tree_sitter  # loaded with the first grammar

    return tree_sitter.Parser(ready.grammar).parse(_blank(data, find_hidden(ready, data))).root_node


def find_hidden(ready: CompiledLanguage, data: bytes) -> list[Stretch]:
    """Where text is that the grammar cannot read."""
    if ready.language.hide:
        return ready.language.hide(data)
    return []


def _blank(data: bytes, hidden: list[Stretch]) -> bytes:
    if not hidden:
        return data
    text = bytearray(data)
    for start, end in hidden:
        for at in range(start, end):
            if text[at] != 10:  # line breaks stay
                text[at] = 32
    return bytes(text)
