"""Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import bind_last_word
from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.module_paths.declared_packages import find_package_part, locate_package, publish_declared
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration name: (identifier) @name) @class
(class_declaration name: (identifier) @name superclass: (superclass (_) @base)) @class
(class_declaration name: (identifier) @name interfaces: (super_interfaces (type_list (_) @base))) @class
(interface_declaration name: (identifier) @name) @interface
(interface_declaration name: (identifier) @name (extends_interfaces (type_list (_) @base))) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(annotation_type_element_declaration name: (identifier) @name) @method
(enum_declaration name: (identifier) @name) @enum
(enum_declaration name: (identifier) @name interfaces: (super_interfaces (type_list (_) @base))) @enum
(enum_constant name: (identifier) @name) @constant
(enum_constant name: (identifier) @name body: (class_body) @body) @class
(record_declaration name: (identifier) @name) @record
(record_declaration name: (identifier) @name interfaces: (super_interfaces (type_list (_) @base))) @record
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @field))
(method_declaration name: (identifier) @name) @method
[(constructor_declaration name: (identifier) @name) (compact_constructor_declaration name: (identifier) @name)] @constructor
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
(object_creation_expression type: (_) @name (class_body) @body) @object
(package_declaration (_) @package)
(import_declaration) @import
(module_declaration name: (_) @name) @module
"""

_REFERENCES: Final = """
[(identifier) (type_identifier) (this) (super)] @id
(type_identifier) @type
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
(object_creation_expression type: (scoped_type_identifier (type_identifier) @call .))
(annotation name: (identifier) @decorator)
(marker_annotation name: (identifier) @decorator)
(annotation name: (scoped_identifier name: (identifier) @decorator))
(marker_annotation name: (scoped_identifier name: (identifier) @decorator))
(element_value_pair key: (identifier) @skip)
(method_reference (identifier) @call .)
(formal_parameter name: (identifier) @local)
(spread_parameter (variable_declarator name: (identifier) @local))
(catch_formal_parameter name: (identifier) @local)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(enhanced_for_statement name: (identifier) @local)
(inferred_parameters (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(resource name: (identifier) @local)
(instanceof_expression name: (identifier) @local)
(type_pattern (identifier) @local)
(record_pattern_component (identifier) @local)
(type_parameter (type_identifier) @local)
(labeled_statement . (identifier) @skip)
(break_statement (identifier) @skip)
(continue_statement (identifier) @skip)
(superclass) @in.inherit
(super_interfaces) @in.inherit
(extends_interfaces) @in.inherit
(permits) @in.type
(import_declaration) @in.import
(package_declaration) @in.import
"""

_LOCALS: Final = """
(formal_parameter type: (_) @type name: (identifier) @name)
(spread_parameter (variable_declarator name: (identifier) @name))
(catch_formal_parameter (catch_type . (_) @type .) name: (identifier) @name)
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name) (#not-eq? @type "var"))
(local_variable_declaration type: (_) @_var declarator: (variable_declarator name: (identifier) @name value: (_) @value) (#eq? @_var "var"))
(enhanced_for_statement type: (_) @type name: (identifier) @name (#not-eq? @type "var"))
(enhanced_for_statement type: (_) @_var name: (identifier) @name value: (_) @each (#eq? @_var "var"))
(resource type: (_) @type name: (identifier) @name)
(instanceof_expression right: (_) @type name: (identifier) @name)
(type_pattern (_) @type (identifier) @name)
(record_pattern_component (_) @type (identifier) @name)
(lambda_expression parameters: (identifier) @name)
(inferred_parameters (identifier) @name)
(method_invocation object: (_) @each arguments: (argument_list (lambda_expression parameters: (identifier) @name)))
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    words = (node.text or b"").decode("utf-8", "replace").removesuffix(";").split()
    path = "".join(word for word in words if word not in {"import", "static"})
    module, _, name = path.rpartition(".")
    yield Import(module, node.start_point[0] + 1, name)


def _refine(each: DefinitionDraft, source: Source) -> None:
    if each.kind == "object":  # an anonymous class
        each.name, each.bases = f"new {each.name}", [each.name]
        each.modifiers, each.visibility, each.kind = ["anonymous"], "private", "class"
        each.signature = f"new {each.bases[0]}() {{}}"
        each.name_start = -1  # the name there is a reference
    each.bases = [base.split("<", 1)[0].strip() for base in each.bases]
    if each.node.type == "enum_constant":
        each.modifiers = ["enum"] if each.kind == "class" else []
        if each.kind == "class" and each.parent is not None:
            each.bases = [each.parent.name]  # a constant with a body is a class below its enum
    else:
        _visibility(each)
    if each.kind == "field" and {"static", "final"} <= set(each.modifiers):
        each.kind = "constant"
    if each.node.type == "annotation_type_declaration":
        each.modifiers.append("annotation")
    names = set()
    for decorator in each.decorators:
        names.add(decorator.rsplit(".", 1)[-1])
    for word in ("Override", "Deprecated"):
        if word in names:
            each.modifiers.append(word.lower())
    each.test = bool(names & _TESTS) or (each.kind == "class" and each.name.endswith(("Test", "Tests", "IT")))


def _visibility(each: DefinitionDraft) -> None:
    given = next((word for word in ("public", "protected", "private") if word in each.modifiers), "")
    if given:
        each.modifiers.remove(given)
    elif each.parent is None or each.parent.kind != "interface":
        given = "public"
        if each.kind != "field" or each.node.type == "field_declaration":
            given = "internal"
        if "anonymous" in each.modifiers:
            given = each.visibility
    each.visibility = given or "public"


_TESTS: Final = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"})

_BUILT_IN_TYPES: Final = split_words(
    "int long short byte char float double boolean void String Object Integer Long Short Byte Character Float "
    "Double Boolean Number List ArrayList LinkedList Map HashMap LinkedHashMap TreeMap ConcurrentHashMap Set "
    "HashSet TreeSet LinkedHashSet Collection Collections Iterator Iterable Optional Stream Class StringBuilder "
    "Thread Runnable System Math Arrays Objects Exception RuntimeException Throwable Any Unit Int Array Sequence "
    "MutableList MutableMap "
)

JVM: Final = LanguageDialect(
    family="jvm",
    bare_members=True,
    shared="package",
    by_parameters=True,
    two_spaces=True,
    reach={"private": "file", "internal": "home"},
    typed_lists=re.compile(r"new\s+([\w.]+<[^()<>]+>)\s*\("),
    passing=split_words("get orElse orElseThrow orElseGet join"),
    builtin=_BUILT_IN_TYPES,
    locate=locate_package,
    publish=publish_declared,
    find_part=find_package_part,
    bind=bind_last_word,
)

_SCOPES: Final = frozenset(
    {
        "block",
        "constructor_body",
        "method_declaration",
        "constructor_declaration",
        "lambda_expression",
        "for_statement",
        "enhanced_for_statement",
        "catch_clause",
        "try_with_resources_statement",
        "switch_block_statement_group",
        "switch_rule",
    }
)

LANGUAGE: Final = Language(
    name="java",
    extensions=(".java",),
    grammar="tree_sitter_java",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    locals=_LOCALS,
    scopes=_SCOPES,
    blocks=_SCOPES,
    method_wrapper=("class _ { ", " }"),
    imports=_imports,
    refine=_refine,
    modifiers=frozenset(
        (
            "public",
            "protected",
            "private",
            "static",
            "final",
            "abstract",
            "synchronized",
            "native",
            "default",
            "sealed",
        )
    ),
    ignored=frozenset({"this", "super", "var", "String", "Object", "Override"}),
    dialect=JVM,
)
