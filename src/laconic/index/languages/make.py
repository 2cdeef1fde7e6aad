"""Makefiles: targets and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(rule (targets (word) @name) (#not-match? @name "^[.][A-Z]")) @function
(variable_assignment name: (word) @name) @variable
(define_directive name: (word) @name) @macro
(include_directive) @import
"""

_REFERENCES: Final = """
(prerequisites (word) @id @call)
(variable_reference (word) @id @read)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    for path in (node.text or b"").decode("utf-8", "replace").split()[1:]:
        yield Import(path, node.start_point[0] + 1)


LANGUAGE: Final = Language(
    name="make",
    extensions=(".mk", ".mak"),
    filenames=("Makefile", "GNUmakefile", "BSDmakefile"),
    prefixes=("Makefile",),
    grammar="tree_sitter_make",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    comments=("#",),
)
