"""XML: elements with an identifier, and the modules and dependencies of a Maven project."""

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
(element (STag (Attribute (Name) @_id (AttValue) @name) (#any-of? @_id "id" "name" "android:id" "x:Name"))) @key
(element (EmptyElemTag (Attribute (Name) @_id (AttValue) @name) (#any-of? @_id "id" "name" "android:id" "x:Name"))) @key
(document root: (element (STag (Name) @name)) @key)
(element (STag (Name) @_module) (content (CharData) @name) (#eq? @_module "module")) @module
(element (STag (Name) @_dependency) (#eq? @_dependency "dependency")) @import
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    text = (node.text or b"").decode("utf-8", "replace")
    group, artifact = (text.partition(f"<{tag}>")[2].partition("<")[0].strip() for tag in ("groupId", "artifactId"))
    if artifact:
        yield Import(f"{group}:{artifact}", node.start_point[0] + 1)


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.name = each.name.strip("\"' \n")
    each.signature = source.first_line(each.start, each.end, 100)


LANGUAGE: Final = Language(
    name="xml",
    extensions=(
        ".xml",
        ".xsd",
        ".xsl",
        ".xslt",
        ".csproj",
        ".vbproj",
        ".props",
        ".targets",
        ".plist",
        ".xaml",
        ".pom",
    ),
    grammar="tree_sitter_xml",
    entry="language_xml",
    definitions=_DEFINITIONS,
    imports=_imports,
    refine=_refine,
    comments=(),
    most=400,
)
