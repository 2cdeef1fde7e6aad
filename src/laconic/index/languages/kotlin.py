"""Kotlin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import (
    DeclaredValue,
    read_result_after_parameters,
    read_result_before_name,
    read_type_after_colon,
    read_type_before_name,
)
from laconic.index.language import Language
from laconic.index.languages.java import JVM
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration name: (identifier) @name) @class
(class_declaration name: (identifier) @name [(class_body) (enum_class_body)] @body) @class
(class_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base) (explicit_delegation . (user_type) @base)]))) @class
(object_declaration name: (identifier) @name) @object
(object_declaration name: (identifier) @name (class_body) @body) @object
(object_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base)]))) @object
(companion_object (class_body) @name @body) @object
(class_parameter ["val" "var"] (identifier) @name) @field
(enum_entry . (identifier) @name) @constant
(function_declaration name: (identifier) @name) @function
(function_declaration name: (identifier) @name (function_body) @body) @function
(function_declaration (user_type) @owner name: (identifier) @name) @function
(secondary_constructor (function_value_parameters) @name) @constructor
(source_file (property_declaration (variable_declaration . (identifier) @name)) @variable)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(type_alias type: (identifier) @name) @type
(package_header (_) @package)
(import) @import
"""

_REFERENCES: Final = """
[(identifier) (this_expression) (super_expression)] @id
(user_type (identifier) @type)
(annotation (user_type (identifier) @decorator))
(annotation (constructor_invocation (user_type (identifier) @decorator)))
(call_expression (identifier) @call (annotated_lambda))
(call_expression (navigation_expression (identifier) @call .) (annotated_lambda))
(callable_reference (identifier) @call .)
(parameter . (identifier) @local)
(class_parameter (identifier) @local)
(variable_declaration . (identifier) @local)
(catch_block (identifier) @local)
(type_parameter (identifier) @local)
(value_argument . (identifier) @skip . "=")
(delegation_specifier [(user_type) @in.inherit (constructor_invocation (user_type) @in.inherit) (explicit_delegation . (user_type) @in.inherit)])
(import) @in.import
(package_header) @in.import
"""

_LOCALS: Final = """
(parameter (identifier) @name (_) @type)
(property_declaration (variable_declaration . (identifier) @name . (_) @type))
(property_declaration (variable_declaration . (identifier) @name .) (_) @value .)
(for_statement (variable_declaration . (identifier) @name) . (_) @each)
(lambda_parameters (variable_declaration (identifier) @name))
(catch_block (identifier) @name (_) @type)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    text = (node.text or b"").decode("utf-8", "replace").strip().removeprefix("import").strip().rstrip(";")
    path, _, alias = text.partition(" as ")
    module, _, name = path.strip().rpartition(".")
    yield Import(module, node.start_point[0] + 1, name, alias.strip())


def _refine(each: DefinitionDraft, source: Source) -> None:
    node = each.node
    if node.type == "companion_object":
        name = next((child for child in node.children if child.type == "identifier"), None)
        if name is not None:
            each.name = (name.text or b"").decode()
        else:
            each.name = "Companion"
        each.modifiers, each.name_start = ["companion"], -1
    elif node.type == "secondary_constructor":
        each.name, each.name_start = "constructor", -1
    elif node.type == "class_declaration":
        words = set()
        for child in node.children:
            words.add(child.type)
        if "interface" in words:
            each.kind = "interface"
        elif "enum" in each.modifiers:
            each.kind = "enum"
    each.modifiers = [word for word in each.modifiers if word not in {"enum", "public"}]
    for word in ("private", "protected", "internal"):
        if word in each.modifiers:
            each.visibility = word
            each.modifiers.remove(word)
    if "const" in each.modifiers:
        each.kind = "constant"
    each.owner = each.owner.split("<", 1)[0]
    each.bases = [base.split("<", 1)[0].strip() for base in each.bases]
    each.test = any(name.rsplit(".", 1)[-1] in {"Test", "ParameterizedTest"} for name in each.decorators) or (
        each.kind == "class" and each.name.endswith(("Test", "Tests"))
    )


def _read_result(name: str, signature: str) -> str:
    """`fun name(): T`; a property has none."""
    if re.match(r".*\bfun\b", signature):
        return read_result_after_parameters(name, signature)
    return read_result_before_name(name, signature)


def _read_type(name: str, signature: str) -> DeclaredValue:
    """`val name: T`, else `val name = value`."""
    if re.match(r".*\b(?:val|var)\s", signature.strip()):
        return read_type_after_colon(name, signature)
    return read_type_before_name(name, signature)


KOTLIN: Final = replace(JVM, read_result=_read_result, read_type=_read_type)

_SCOPES: Final = frozenset({"block", "function_declaration", "lambda_literal", "for_statement", "catch_block"})

LANGUAGE: Final = Language(
    name="kotlin",
    aliases=("kt",),
    dialect=KOTLIN,
    extensions=(".kt", ".kts"),
    grammar="tree_sitter_kotlin",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    locals=_LOCALS,
    scopes=_SCOPES,
    blocks=_SCOPES,
    imports=_imports,
    refine=_refine,
    modifiers=frozenset(
        {
            "private",
            "protected",
            "internal",
            "public",
            "open",
            "abstract",
            "sealed",
            "data",
            "enum",
            "annotation",
            "inner",
            "override",
            "suspend",
            "inline",
            "operator",
            "infix",
            "tailrec",
            "external",
            "const",
            "lateinit",
            "value",
        }
    ),
    ignored=frozenset(
        {
            "it",
            "this",
            "super",
            "field",
            "Unit",
            "String",
            "Int",
            "Boolean",
            "Any",
            "Long",
            "null",
            "true",
            "false",
            "_",
        }
    ),
)
