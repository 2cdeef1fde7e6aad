"""Zig."""

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
(function_declaration name: (identifier) @name) @function
(variable_declaration . (identifier) @name [(struct_declaration) (opaque_declaration)] @body) @struct
(variable_declaration . (identifier) @name (enum_declaration) @body) @enum
(variable_declaration . (identifier) @name (union_declaration) @body) @union
(source_file (variable_declaration . (identifier) @name) @variable)
(struct_declaration (variable_declaration . (identifier) @name) @variable)
(container_field name: (identifier) @name) @field
(test_declaration [(string (string_content) @name) (identifier) @name]) @test
(variable_declaration (builtin_function (builtin_identifier) @_import) (#eq? @_import "@import")) @import
"""

_REFERENCES: Final = """
(identifier) @id
(parameter name: (identifier) @local)
(variable_declaration . (identifier) @local)
(payload (identifier) @local)
(field_initializer . (identifier) @write)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    target = node.named_child(0)
    module = (node.text or b"").decode("utf-8", "replace").partition("@import(")[2].partition(")")[0].strip('" ')
    if target is not None and module:
        yield Import(module, node.start_point[0] + 1, alias=(target.text or b"").decode("utf-8", "replace"))


def _refine(each: DefinitionDraft, source: Source) -> None:
    line = source.lines[each.node.start_point[0]].lstrip()
    if each.kind == "variable" and b"@import" in (each.node.text or b"")[:200]:
        each.kind = ""  # an import
    elif each.kind == "test":
        each.test = True
    elif each.kind != "field":
        if line.startswith((b"pub ", b"export ")):
            each.visibility = "public"
        else:
            each.visibility = "private"


LANGUAGE: Final = Language(
    name="zig",
    extensions=(".zig", ".zon"),
    grammar="tree_sitter_zig",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    refine=_refine,
    comments=("//",),
    ignored=frozenset({"self", "_", "std"}),
    safe=False,
)
