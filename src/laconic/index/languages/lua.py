"""Lua."""

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
(function_declaration name: (dot_index_expression table: (_) @owner field: (identifier) @name)) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name)) @method
(assignment_statement (variable_list name: (dot_index_expression table: (_) @owner field: (identifier) @name)) (expression_list value: (function_definition))) @function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name)) @variable))
(chunk (assignment_statement (variable_list name: (identifier) @name)) @variable)
(assignment_statement (expression_list value: (function_call name: (identifier) @_require)) (#eq? @_require "require")) @import
"""

_REFERENCES: Final = """
(identifier) @id
(function_call name: (method_index_expression method: (identifier) @call))
(parameters name: (identifier) @local)
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(for_generic_clause (variable_list name: (identifier) @local))
(for_numeric_clause name: (identifier) @local)
(field name: (identifier) @write)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    text = (node.text or b"").decode("utf-8", "replace")
    target, _, call = text.partition("=")
    module = call.partition("require")[2].strip("()\"'[] \n")
    if module:
        yield Import(module, node.start_point[0] + 1, alias=target.replace("local", "").strip())


def _refine(each: DefinitionDraft, source: Source) -> None:
    line = source.lines[each.node.start_point[0]].lstrip()
    if line.startswith(b"local "):
        each.visibility = "private"
        each.modifiers.append("local")


LANGUAGE: Final = Language(
    name="lua",
    leaving='((function_call name: (identifier) @return) (#eq? @return "error"))',
    extensions=(".lua", ".luau", ".rockspec"),
    shebangs=("lua", "luajit"),
    grammar="tree_sitter_lua",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    refine=_refine,
    comments=("--",),
    ignored=frozenset({"self", "require", "pairs", "ipairs", "print"}),
)
