"""PHP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.dialect import LanguageDialect
from laconic.index.language import Language
from laconic.index.module_paths.declared_packages import find_package_part, locate_package, publish_declared
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration name: (name) @name) @class
(class_declaration name: (name) @name (base_clause (_) @base)) @class
(class_declaration name: (name) @name (class_interface_clause (_) @base)) @class
(class_declaration name: (name) @name body: (declaration_list (use_declaration (_) @base))) @class
(interface_declaration name: (name) @name) @interface
(interface_declaration name: (name) @name (base_clause (_) @base)) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_declaration name: (name) @name (class_interface_clause (_) @base)) @enum
(enum_case name: (name) @name) @constant
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(property_declaration (property_element name: (variable_name) @name)) @field
(property_promotion_parameter name: (variable_name) @name) @field
(const_declaration (const_element . (name) @name)) @constant
(function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name))) (#eq? @_define "define")) @constant
(namespace_definition name: (_) @package)
(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @import
"""

_REFERENCES: Final = """
(name) @id
(variable_name (name) @skip)
(named_type (name) @type)
(named_type (qualified_name (name) @type))
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name (name) @call))
(attribute (name) @decorator)
(attribute (qualified_name (name) @decorator))
(argument name: (name) @skip)
(base_clause) @in.inherit
(class_interface_clause) @in.inherit
(use_declaration) @in.inherit
(namespace_use_declaration) @in.import
(namespace_definition name: (_) @in.import)
"""

_LOCALS: Final = """
(simple_parameter type: (_) @type name: (variable_name (name) @name))
(simple_parameter !type name: (variable_name (name) @name))
(assignment_expression left: (variable_name (name) @name) right: (_) @value)
(foreach_statement (_) @each . (variable_name (name) @name))
(catch_clause type: (_) @type name: (variable_name (name) @name))
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    line = node.start_point[0] + 1
    if node.type != "namespace_use_declaration":
        texts = []
        for child in node.named_children:
            if child.type in {"string", "encapsed_string"}:
                texts.append(child)
        if texts:
            yield Import((texts[0].text or b"").decode("utf-8", "replace").strip("\"'"), line)
        return
    group = next((child for child in node.named_children if child.type == "namespace_use_group"), None)
    prefix = next((_text(child) for child in node.named_children if child.type == "namespace_name"), "")
    for clause in (group or node).named_children:
        if clause.type != "namespace_use_clause":
            continue
        alias = clause.child_by_field_name("alias")
        path = _text(clause.named_children[0]).lstrip("\\")
        module, _, name = (f"{prefix}\\{path}" if prefix else path).rpartition("\\")
        yield Import(module, clause.start_point[0] + 1, name, _text(alias) if alias is not None else "")


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.name = each.name.lstrip("$")
    for word in ("private", "protected", "public"):
        if word in each.modifiers:
            each.visibility = word
            each.modifiers.remove(word)
    if each.kind == "method" and each.name == "__construct":
        each.kind = "constructor"
    each.bases = [base.lstrip("\\") for base in each.bases]
    each.test = (each.kind == "class" and each.name.endswith("Test")) or (
        each.kind in {"method", "function"} and (each.name.startswith("test") or "Test" in each.decorators)
    )


_DIALECT: Final = LanguageDialect(
    family="php",
    dynamic=True,
    me=frozenset({"$this", "self", "static"}),
    above=frozenset({"parent"}),
    shared="all",
    locate=locate_package,
    publish=publish_declared,
    find_part=find_package_part,
)

LANGUAGE: Final = Language(
    name="php",
    dialect=_DIALECT,
    extensions=(".php", ".phtml", ".inc"),
    shebangs=("php",),
    grammar="tree_sitter_php",
    entry="language_php",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    locals=_LOCALS,
    scopes=frozenset({"method_declaration", "function_definition", "anonymous_function"}),
    blocks=frozenset({"compound_statement", "method_declaration", "function_definition"}),
    method_wrapper=("<?php class _ { ", " }"),
    imports=_imports,
    refine=_refine,
    comments=("//", "/*", "*", "#"),
    modifiers=frozenset({"public", "protected", "private", "static", "final", "abstract", "readonly"}),
    ignored=frozenset({"this", "self", "parent", "static", "true", "false", "null"}),
)
