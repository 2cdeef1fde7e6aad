"""HTML: headings and identifiers."""

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
(element (start_tag (tag_name) @_tag) . (text) @name (#any-of? @_tag "title" "h1" "h2" "h3" "h4")) @heading
(_ (start_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)) (#eq? @_id "id"))) @key
(_ (self_closing_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)) (#eq? @_id "id"))) @key
(script_element (start_tag (attribute (attribute_name) @_src (quoted_attribute_value (attribute_value)))) (#eq? @_src "src")) @import
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    for attribute in node.children[0].named_children:
        text = (attribute.text or b"").decode("utf-8", "replace")
        if text.startswith("src="):
            yield Import(text[4:].strip("\"'"), node.start_point[0] + 1)


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.signature = source.first_line(each.start, each.end, 100)


LANGUAGE: Final = Language(
    name="html",
    extensions=(".html", ".htm", ".xhtml"),
    grammar="tree_sitter_html",
    definitions=_DEFINITIONS,
    imports=_imports,
    refine=_refine,
    comments=(),
    most=400,
)
