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


def _wrap(pattern: str, inner: str, cpp: bool) -> str:
    """A pattern whose DECLARATOR is as it is, below one or two pointers, or below a reference: a pattern each."""
    pointer = "(pointer_declarator declarator: {})"
    forms = [inner, pointer.format(inner), pointer.format(pointer.format(inner))]
    if cpp:
        forms.append(f"(reference_declarator {inner})")
    return "".join(pattern.replace("DECLARATOR", form) + "\n" for form in forms)


_FUNCTION_NAMES: Final = ("(identifier)", "(parenthesized_declarator (identifier) @name)")
_CPP_NAMES: Final = (
    "(field_identifier)",
    "(qualified_identifier)",
    "(destructor_name)",
    "(operator_name)",
    "(operator_cast)",
)
_ARRAYS: Final = (
    "({kind}) @name",
    "(array_declarator declarator: ({kind}) @name)",
    "(array_declarator declarator: (array_declarator declarator: ({kind}) @name))",
)


def _definitions(cpp: bool) -> str:
    """Definitions whose name is below a declarator, spelled out: alternatives inside alternatives lose some."""
    parts: list[str] = []
    for name in (*_FUNCTION_NAMES, *(_CPP_NAMES if cpp else ())):
        inner = name if "@name" in name else f"{name} @name"
        function = f"(function_declarator declarator: {inner})"
        parts.append(_wrap("(function_definition declarator: DECLARATOR) @function", function, cpp))
        parts.append(_wrap("(declaration declarator: DECLARATOR) @function", function, cpp))
    for name in ("(field_identifier)", *(_CPP_NAMES[2:] if cpp else ())):
        prototype = f"(function_declarator declarator: {name} @name)"
        parts.append(_wrap("(field_declaration declarator: DECLARATOR) @method", prototype, cpp))
    for array in _ARRAYS:
        variable, member = array.format(kind="identifier"), array.format(kind="field_identifier")
        parts.append(_wrap("(declaration declarator: DECLARATOR) @variable", variable, cpp))
        parts.append(
            _wrap("(declaration declarator: (init_declarator declarator: DECLARATOR)) @variable", variable, cpp)
        )
        parts.append(_wrap("(field_declaration declarator: DECLARATOR) @field", member, cpp))
    alias = _wrap("(type_definition declarator: DECLARATOR) @type", "(type_identifier) @name", cpp)
    return "".join(parts) + alias + _SHARED + (_CPP if cpp else "")


_SHARED: Final = """
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))) @field
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))) @variable
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(type_definition declarator: (array_declarator declarator: (type_identifier) @name)) @type
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (type_identifier) @name))) @type
(type_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (type_identifier) @name))) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(type_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))) @type
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @macro
(preproc_include) @import
"""

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
(preproc_params (identifier) @local @skip)
(preproc_def value: (preproc_arg) @words)
(preproc_function_def value: (preproc_arg) @words)
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
    parts: list[str] = []
    for array in _ARRAYS[:2]:
        name = array.format(kind="identifier")
        parts.append(_wrap("(parameter_declaration type: (_) @type declarator: DECLARATOR)", name, cpp))
        parts.append(_wrap("(declaration type: (_) @type declarator: DECLARATOR)", name, cpp))
        initialised = '(declaration type: (_) @type declarator: (init_declarator declarator: DECLARATOR) (#not-eq? @type "auto"))'
        parts.append(_wrap(initialised, name, cpp))
    return "".join(parts) + (_CPP_LOCALS if cpp else "")


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


_MACRO: Final = re.compile(rb"\b[A-Z][A-Z0-9_]{2,}\b")
_IN_CLASS: Final = re.compile(rb"\b(?P<word>class|struct|union|enum)(?:\s+class)?\s+$")
_CLASS_BODY: Final = re.compile(
    rb"(?P<end>(?:\([^()\n]*\))?\s+)[A-Za-z_]\w*(?:<[^<>{};]*>)?\s*(?:final\s*)?(?P<mark>\{|:[^:]|;)"
)
_EXPORTS: Final = re.compile(rb"EXPORT|API|PUBLIC|DLL")
_ARGUMENTS: Final = re.compile(rb"(?P<end>\s*\([^();{}]*\))\s*[;{:=]")
_AFTER_PARAMETERS: Final = re.compile(rb"\)(?:\s*(?:const|noexcept|override|final)\b)*\s*$")
_AFTER_MEMBER: Final = re.compile(
    rb"(?P<type>[A-Za-z_]\w*)(?:<[^<>;{}()]*>+)?[*&\s]+(?P<name>[a-z_]\w*)(?:\[[\w:]*\])?\s+$"
)
_BEFORE_TYPE: Final = re.compile(rb"(?:^|\n)[ \t]*(?:(?:extern|static|inline|virtual|explicit)\s+)*$")
_DECLARATION: Final = re.compile(
    rb"(?P<end>(?:\([^()\n]*\))?[ \t]+)(?:[A-Za-z_][\w:]*(?:<[^<>;{}()]*>)?[ \t*&]+)+\(?[* \t]*[A-Za-z_][\w:]*\)?\s*[(;=\[]"
)
_NO_TYPES: Final = frozenset(
    {b"static", b"extern", b"inline", b"return", b"else", b"case", b"throw", b"goto", b"define"}
)
_PRIMITIVE: Final = frozenset({b"int", b"void", b"char", b"long", b"short", b"double", b"float", b"bool"})


def _hide_macros(data: bytes) -> list[tuple[int, int]]:
    """Macros where a declaration has none in the grammar: before names of classes, before types, after members."""
    found: list[tuple[int, int]] = []
    for match in _MACRO.finditer(data):
        start, end = match.span()
        length = _measure_macro(match[0], data[max(0, start - 160) : start], data[end : end + 240])
        if length:
            found.append((start, end + length - 1))
    return found


def _measure_macro(name: bytes, before: bytes, after: bytes) -> int:
    """How far a macro reaches beyond its name, and one more; 0 when it belongs to the declaration."""
    if around := _IN_CLASS.search(before):
        body = _CLASS_BODY.match(after)
        if body is None or (body["mark"] == b";" and around["word"] != b"class" and not _EXPORTS.search(name)):
            return 0
        return body.end("end") + 1
    if arguments := _ARGUMENTS.match(after):
        member = _AFTER_MEMBER.search(before)
        if _AFTER_PARAMETERS.search(before) or (member and _is_member(member)):
            return arguments.end("end") + 1
    if _BEFORE_TYPE.search(before) and (declaration := _DECLARATION.match(after)):
        return declaration.end("end") + 1
    return 0


def _is_member(match: re.Match[bytes]) -> bool:
    return match["type"] not in _NO_TYPES and match["name"] not in _PRIMITIVE


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
    if node.type in {"declaration", "type_definition"} and each.kind in {"variable", "type"}:
        each.fixed_parent = True  # a type that is declared in the same breath is not inside the variable
    if node.type in {"declaration", "field_declaration"} and each.kind in {"function", "method"}:
        each.modifiers.append("declaration")
    each.bases = [base.split("<", 1)[0] for base in each.bases]
    around = each.owner
    if not around and each.parent is not None:
        around = each.parent.name
    if each.kind in {"function", "method"} and each.name == around:
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
    namespaces=True,
    dispatch="up",
    passing=split_words("get load lock value release"),
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
        hide=_hide_macros,
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
        hide=_hide_macros,
        imports=_imports,
        refine=_refine,
        wrappers=frozenset({"template_declaration"}),
        modifiers=_MODIFIERS,
        ignored=_BUILT_IN,
        aliases=("c++",),
        dialect=C_DIALECT,
    ),
)
