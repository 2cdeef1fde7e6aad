"""The syntax tree of a file, with what its grammar cannot read hidden from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from laconic.index.parse.compiled import CompiledLanguage

if TYPE_CHECKING:
    from tree_sitter import Node

Stretch = tuple[int, int]
_MICROSECONDS: Final = 2_000_000  # that a grammar may take
_PER_BYTE: Final = 3  # and so many more for each byte
_CONFLICT_MARK: Final = re.compile(rb"^(?:<{7} .*|\|{7}(?: .*)?|={7}|>{7} .*)\r?$", re.MULTILINE)


def parse_tree(ready: CompiledLanguage, data: bytes) -> Node | None:
    """The root of the tree; what the language hides reads as blanks, so that all places stay.

    Nothing where the grammar takes too long: some texts would keep it busy for ever, and take all memory.
    """
    hidden = [*find_hidden(ready, data), *_find_conflict_marks(data)]
    return parse_bytes(ready, _blank(data, hidden))


def parse_bytes(ready: CompiledLanguage, data: bytes) -> Node | None:
    """The same of bytes as they are."""
    import tree_sitter  # loaded with the first grammar

    parser = tree_sitter.Parser(ready.grammar, timeout_micros=_MICROSECONDS + _PER_BYTE * len(data))
    try:
        return parser.parse(data).root_node
    except ValueError:  # the time is over
        return None


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
