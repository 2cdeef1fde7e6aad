"""C and C++, whose declarators hide the name below pointers, references and arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.module_paths.included_files import locate_included
from laconic.index.parse.found import Found
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


def _wrap_declarator(inner: str, references: bool) -> str:
    """A declarator as it is, below one or two pointers, or below a reference."""
    forms = [inner, f"(pointer_declarator declarator: {inner})"]
    forms.append(f"(pointer_declarator declarator: (pointer_declarator declarator: {inner}))")
    if references:
        forms.append(f"(reference_declarator {inner})")
    return "[" + " ".join(forms) + "]"


def _definitions(cpp: bool) -> str:
    names = (
        "(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)"
        if cpp
        else "(identifier)"
    )
    function = _wrap_declarator(f"(function_declarator declarator: [{names}] @name)", cpp)
    variable = _wrap_declarator("[(identifier) @name (array_declarator declarator: (identifier) @name)]", cpp)
    member = _wrap_declarator(
        "[(field_identifier) @name (array_declarator declarator: (field_identifier) @name)]", cpp
    )
    prototype = _wrap_declarator(
        f"(function_declarator declarator: [{'(operator_name)' if cpp else ''} (field_identifier)] @name)", cpp
    )
    return f"""
(function_definition declarator: {function}) @function
(declaration declarator: {function}) @function
(declaration declarator: {variable}) @variable
(declaration declarator: (init_declarator declarator: {variable})) @variable
(field_declaration declarator: {member}) @field
(field_declaration declarator: {prototype}) @method
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))) @field
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(type_definition declarator: (type_identifier) @name) @type
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @macro
(preproc_include) @import
""" + (_CPP if cpp else "")


_CPP: Final = """
(class_specifier name: (_) @name body: (_)) @class
(class_specifier name: (_) @name (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base) body: (_)) @class
(struct_specifier name: (_) @name (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base) body: (_)) @struct
(namespace_definition name: (_) @name) @module
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(using_declaration) @import
"""

_REFERENCES: Final = """
(type_identifier) @type
(parameter_declaration declarator: (identifier) @local)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @local))
(parameter_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @local)))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @local))
(declaration declarator: (identifier) @local)
(declaration declarator: (pointer_declarator declarator: (identifier) @local))
(declaration declarator: (array_declarator declarator: (identifier) @local))
(declaration declarator: (init_declarator declarator: (identifier) @local))
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @local)))
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @local)))
(preproc_params (identifier) @skip)
(preproc_include) @in.import
"""
_CPP_REFERENCES: Final = """
[(identifier) (field_identifier) (type_identifier) (namespace_identifier) (this)] @id
(parameter_declaration declarator: (reference_declarator (identifier) @local))
(optional_parameter_declaration declarator: (identifier) @local)
(optional_parameter_declaration declarator: (reference_declarator (identifier) @local))
(declaration declarator: (init_declarator declarator: (reference_declarator (identifier) @local)))
(for_range_loop declarator: (identifier) @local)
(for_range_loop declarator: (reference_declarator (identifier) @local))
(structured_binding_declarator (identifier) @local)
(type_parameter_declaration (type_identifier) @local)
(optional_type_parameter_declaration name: (type_identifier) @local)
(new_expression type: (type_identifier) @call)
(new_expression type: (template_type name: (type_identifier) @call))
(compound_literal_expression type: (type_identifier) @call)
(destructor_name (identifier) @skip)
(template_function name: (identifier) @call)
(template_method name: (field_identifier) @call)
(field_initializer (field_identifier) @write)
(base_class_clause) @in.inherit
(using_declaration) @in.import
"""


def _locals(cpp: bool) -> str:
    name = _wrap_declarator("[(identifier) @name (array_declarator declarator: (identifier) @name)]", cpp)
    typed = f"""
(parameter_declaration type: (_) @type declarator: {name})
(declaration type: (_) @type declarator: {name} (#not-eq? @type "auto"))
(declaration type: (_) @type declarator: (init_declarator declarator: {name}) (#not-eq? @type "auto"))
"""
    return typed + (_CPP_LOCALS if cpp else "")


_CPP_LOCALS: Final = """
(optional_parameter_declaration type: (_) @type declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (reference_declarator (identifier) @name)])
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (reference_declarator (identifier) @name)] value: (_) @value))
(for_range_loop type: (_) @type declarator: [(identifier) @name (reference_declarator (identifier) @name)] (#not-match? @type "auto"))
(for_range_loop type: (placeholder_type_specifier) declarator: [(identifier) @name (reference_declarator (identifier) @name)] right: (_) @each)
"""
_SCOPES: Final = frozenset(
    {
        "compound_statement",
        "function_definition",
        "lambda_expression",
        "for_statement",
        "for_range_loop",
        "if_statement",
        "catch_clause",
    }
)


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    line = node.start_point[0] + 1
    text = (node.text or b"").decode("utf-8", "replace")
    if node.type == "preproc_include":
        path = node.child_by_field_name("path")
        if path is not None:
            yield Import((path.text or b"").decode("utf-8", "replace").strip('<>"'), line)
        return
    named = text.removeprefix("using").strip().rstrip(";")
    if named.startswith("namespace "):
        yield Import(named.removeprefix("namespace ").strip(), line, "*")
    else:
        module, _, name = named.rpartition("::")
        yield Import(module, line, name)


def _refine(each: Found, source: Source) -> None:
    node = each.node
    if node.type == "declaration" and each.parent is not None and each.parent.kind in {"function", "method"}:
        each.kind = ""  # a local variable that looks like a prototype
        return
    if "::" in each.name:
        scope, _, name = each.name.rpartition("::")
        each.name_start += len(each.name) - len(name)
        each.owner, each.name = scope.split("<", 1)[0].rsplit("::", 1)[-1], name
        each.kind = "method" if each.kind == "function" and each.owner else each.kind
    if node.type == "declaration" and each.kind == "variable":
        each.fixed_parent = True  # a type that is declared in the same breath is not inside the variable
    if node.type in {"declaration", "field_declaration"} and each.kind in {"function", "method"}:
        each.modifiers.append("declaration")
    each.bases = [base.split("<", 1)[0] for base in each.bases]
    if each.kind in {"function", "method"} and each.name == (each.parent.name if each.parent else each.owner or None):
        each.kind = "constructor"
    if each.parent is not None and each.parent.kind in {"class", "struct"} and node.type != "enumerator":
        each.visibility = _access(node, each.parent.kind)
    elif "static" in each.modifiers:
        each.visibility = "internal"
    if "const" in each.modifiers and each.kind in {"variable", "field"}:
        each.kind = "constant"
    each.test = each.kind == "function" and each.name in {"TEST", "TEST_F", "TEST_P", "TEST_CASE"}


def _access(node: Node, kind: str) -> str:
    """The access specifier above a member."""
    member = node.parent if node.type.endswith("_specifier") and node.parent is not None else node
    sibling, steps = member.prev_named_sibling, 0
    while sibling is not None and steps < 300:
        if sibling.type == "access_specifier":
            return (sibling.text or b"public").decode().rstrip(": ")
        sibling, steps = sibling.prev_named_sibling, steps + 1
    return "private" if kind == "class" else "public"


_MODIFIERS: Final = frozenset({"static", "extern", "inline", "virtual", "const", "constexpr", "explicit", "friend"})
_BUILT_IN: Final = frozenset(
    {"this", "NULL", "size_t", "std", "uint8_t", "int32_t", "uint32_t", "int64_t", "uint64_t"}
)

_BUILT_IN_TYPES: Final = split_words("int char short long float double void bool size_t unsigned signed auto FILE ")

C_DIALECT: Final = LanguageDialect(
    family="c",
    bare_members=True,
    shared="all",
    home="all",
    declared_apart=True,
    builtin=_BUILT_IN_TYPES,
    locate=locate_included,
)
_CPP_HEADER: Final = re.compile(rb"^\s*(?:class|namespace|template|using|public:|private:)\b", re.MULTILINE)


def _tell(name: str, head: bytes) -> str:
    """A header may be in either language."""
    return "cpp" if name.endswith(".h") and _CPP_HEADER.search(head) else "c"


LANGUAGES: Final = (
    Language(
        name="c",
        extensions=(".c", ".h"),
        grammar="tree_sitter_c",
        definitions=_definitions(cpp=False),
        references="[(identifier) (field_identifier) (type_identifier)] @id" + _REFERENCES,
        locals=_locals(cpp=False),
        scopes=_SCOPES,
        blocks=_SCOPES,
        imports=_imports,
        refine=_refine,
        modifiers=_MODIFIERS,
        ignored=_BUILT_IN,
        tell=_tell,
        dialect=C_DIALECT,
    ),
    Language(
        name="cpp",
        extensions=(
            ".cpp",
            ".cc",
            ".cxx",
            ".c++",
            ".hpp",
            ".hh",
            ".hxx",
            ".h++",
            ".ipp",
            ".inl",
            ".tpp",
            ".cu",
            ".cuh",
        ),
        grammar="tree_sitter_cpp",
        definitions=_definitions(cpp=True),
        references=_CPP_REFERENCES + _REFERENCES,
        locals=_locals(cpp=True),
        scopes=_SCOPES,
        blocks=_SCOPES,
        imports=_imports,
        refine=_refine,
        wrappers=frozenset({"template_declaration"}),
        modifiers=_MODIFIERS,
        ignored=_BUILT_IN,
        aliases=("c++",),
        dialect=C_DIALECT,
    ),
)
