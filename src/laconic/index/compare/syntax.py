"""What some lines of a file say to a compiler: the shape of the tree, without comments, documentation and layout."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from laconic.index.compare.units import FileVersion, SymbolVersion
from laconic.index.parse.compiled import compile_language
from laconic.index.parse.tree import parse_bytes

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORT: Final = re.compile(r"^(import|use_|using_|extern_crate|include|require|preproc_include|namespace_use)")
_SPACE: Final = re.compile(r"\s+")
_CLOSERS: Final = frozenset({")", "]", "}", ">"})


class Syntax:
    """The tree of one version of a file, made when first asked for."""

    def __init__(self, side: FileVersion) -> None:
        self._side = side
        self._root: Node | None = None
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", side.data)), len(side.data) + 1]
        if side.parsed.language:
            ready = compile_language(side.parsed.language)
        else:
            ready = None
        if ready is not None:
            self._root = parse_bytes(ready, side.data)

    def meaning(self, lines: tuple[int, ...], *, imports: bool = True) -> tuple[str, ...]:
        """The nodes that start on these lines, in order; equal for versions that differ only in layout."""
        if self._root is None:
            return tuple(" ".join(self._side.lines[n - 1].split()) for n in lines if self._side.lines[n - 1].strip())
        rows = set()
        for number in lines:
            rows.add(number - 1)
        if not rows:
            return ()
        # Bytes, not points: reading many points of a node crashes some versions of the binding.
        first, last = self._starts[min(rows)], self._starts[max(rows) + 1]
        said: list[str] = []
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node.end_byte <= first or node.start_byte >= last:
                continue
            children = []
            for c in node.children:
                if not _silent(c) and (imports or not _IMPORT.search(c.type)):
                    children.append(c)
            if self._row(node) in rows:
                said.append(self._describe(node, children, rows))
            waiting.extend(reversed(children))
        return tuple(said)

    def find_definition(self, unit: SymbolVersion) -> str:
        """The text of a symbol's definition alone; nothing where no node holds just that."""
        if self._root is None:
            return ""
        line = unit.definition.line
        start = self._starts[line - 1]
        signature = _SPACE.sub("", unit.definition.signature)
        name = re.escape(unit.definition.name.encode())
        found = ""
        for place in re.finditer(rb"(?<!\w)%b(?!\w)" % name, self._side.data[start : self._starts[line] - 1]):
            node = self._root.descendant_for_byte_range(start + place.start(), start + place.end())
            while node is not None and self._row(node) >= unit.span.start - 1:
                text = self._side.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
                if signature in _SPACE.sub("", text):
                    if self._row(node) == unit.span.start - 1 and (not found or len(text) < len(found)):
                        found = text
                    break
                node = node.parent
        return found

    def _describe(self, node: Node, children: list[Node], rows: set[int]) -> str:
        if not children:
            return self._side.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
        return f"({node.type} {sum(self._row(child) in rows for child in children)}"

    def _row(self, node: Node) -> int:
        return bisect_right(self._starts, node.start_byte) - 1


def _silent(node: Node) -> bool:
    """Comments, documentation strings, and a comma before a closing bracket."""
    if "comment" in node.type:
        return True
    if node.type == ",":
        following = node.next_sibling
        return following is not None and following.type in _CLOSERS
    return node.type == "expression_statement" and _documentation(node)


def _documentation(node: Node) -> bool:
    """A string alone at the start of a Python body."""
    parent = node.parent
    return (
        node.child_count == 1
        and node.children[0].type == "string"
        and parent is not None
        and parent.type in {"block", "module"}
        and parent.named_children[0] == node
    )
