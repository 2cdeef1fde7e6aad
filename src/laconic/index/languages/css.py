"""CSS: selectors, custom properties and animations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.language import Language
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(rule_set (selectors) @name (block) @body) @key
(declaration (property_name) @name (#match? @name "^--")) @variable
(keyframes_statement (keyframes_name) @name) @function
(import_statement) @import
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    text = (node.text or b"").decode("utf-8", "replace").split(None, 1)[-1].rstrip("; ")
    yield Import(text.removeprefix("url(").rstrip(")").strip("\"'"), node.start_point[0] + 1)


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.name = " ".join(each.name.split())[:120]


LANGUAGE: Final = Language(
    name="css",
    extensions=(".css", ".pcss"),
    grammar="tree_sitter_css",
    definitions=_DEFINITIONS,
    imports=_imports,
    refine=_refine,
    comments=("/*", "*"),
    most=1000,
)
