"""Nix: bindings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(binding attrpath: (attrpath) @name expression: (function_expression body: (_) @body)) @function
(binding attrpath: (attrpath) @name) @key
(list_expression element: (path_expression) @import)
(apply_expression function: (variable_expression name: (identifier) @_import) argument: (path_expression) @import (#eq? @_import "import"))
"""

_REFERENCES: Final = """
(variable_expression name: (identifier) @id)
(formal name: (identifier) @local)
(function_expression universal: (identifier) @local)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    yield Import((node.text or b"").decode("utf-8", "replace"), node.start_point[0] + 1)


LANGUAGE: Final = Language(
    name="nix",
    tail_returns=True,
    extensions=(".nix",),
    grammar="tree_sitter_nix",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    comments=("#",),
    most=1000,
)
