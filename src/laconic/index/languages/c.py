"""C and C++, whose declarators hide the name below pointers, references and arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.module_paths.included_files import locate_included, publish_headers
from laconic.index.name_meaning import Meaning, of
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from laconic.index.resolve.code import Code, SourceFile


_NAMES: Final = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "destructor_name",
        "operator_name",
        "operator_cast",
        "template_function",
    }
)
_KINDS: Final = {"variable": "function", "field": "method"}  # what a declaration is when its name is a function's


def _find_name(kind: str, declarator: Node) -> tuple[str, Node] | None:
    """What a declaration declares, and the name below its pointers, references, arrays and parameters."""
    node: Node | None = declarator
    function = pointed = False
    while node is not None and node.type not in _NAMES:
        if node.type == "function_declarator":
            function, pointed = True, False
        elif node.type == "pointer_declarator":
            pointed = True
        below = node.child_by_field_name("declarator")
        if below is None and node.named_child_count:
            below = node.named_children[-1]
        node = below
    if node is None:
        return None
    if function and not pointed:  # a pointer inside the parentheses is a variable that holds a function
        kind = _KINDS.get(kind, kind)
    return kind, node


_DEFINITIONS: Final = """
(function_definition declarator: (_) @declarator) @function
(declaration declarator: (_) @declarator) @variable
(field_declaration declarator: (_) @declarator) @field
(type_definition declarator: (_) @declarator) @type
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
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
(declaration type: (type_identifier) @call declarator: (init_declarator value: (argument_list)))
(declaration type: (qualified_identifier name: (type_identifier) @call) declarator: (init_declarator value: (argument_list)))
(destructor_name (identifier) @skip)
(template_function name: (identifier) @call)
(template_method name: (field_identifier) @call)
(field_initializer (field_identifier) @write)
(base_class_clause) @in.inherit
(using_declaration) @in.import
"""


_LOCALS: Final = """
(parameter_declaration type: (_) @type declarator: (_) @declarator)
(declaration type: (_) @type declarator: (_) @declarator (#not-eq? @type "auto"))
"""
_KEYED: Final = """
(declaration type: (_) @type declarator: (init_declarator value: (initializer_list (initializer_pair designator: (field_designator (field_identifier) @key)))))
(declaration type: (_) @type declarator: (init_declarator value: (initializer_list (initializer_list (initializer_pair designator: (field_designator (field_identifier) @key))))))
(compound_literal_expression type: (_) @type value: (initializer_list (initializer_pair designator: (field_designator (field_identifier) @key))))
"""
_CPP_LOCALS: Final = """
(optional_parameter_declaration type: (_) @type declarator: (_) @declarator)
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (_) @declarator value: (_) @value))
(for_range_loop type: (_) @type declarator: (_) @declarator (#not-match? @type "auto"))
(for_range_loop type: (placeholder_type_specifier) declarator: (_) @declarator right: (_) @each)
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


def _refine(each: DefinitionDraft, source: Source) -> None:
    node = each.node
    if node.type == "declaration" and each.parent is not None and each.parent.kind in {"function", "method"}:
        each.kind = ""  # a local variable that looks like a prototype
        return
    if "operator " in each.name and "(" in each.name:  # `operator bool() const`
        each.name = each.name.partition("(")[0].strip()
        each.kind = "method"
    if "::" in each.name:
        scope, _, name = each.name.rpartition("::")
        each.name_start += len(each.name) - len(name)
        each.owner, each.name = scope.split("<", 1)[0].rsplit("::", 1)[-1], name
        if each.kind == "function" and each.owner:
            each.kind = "method"
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
    if each.kind == "function" and each.name in {"TEST", "TEST_F", "TEST_P", "TEST_CASE", "TYPED_TEST"}:
        _name_test(each)


def _name_test(each: DefinitionDraft) -> None:
    """`TEST_F(Fixture, Name)` is a test of that name, and runs as a method of its fixture."""
    each.test = True
    parameters = []
    for child in each.node.named_children:
        if child.type == "function_declarator":
            parameters.append(child.text or b"")
    if parameters:
        words = re.findall(rb"\w+", parameters[0].partition(b"(")[2])
    else:
        words = []
    if len(words) == 2:
        if each.name != "TEST":
            each.owner = words[0].decode()
        else:
            each.owner = ""
        each.name, each.kind = words[1].decode(), "test"


def _access(node: Node, kind: str) -> str:
    """The access specifier above a member."""
    if node.type.endswith("_specifier") and node.parent is not None:
        member = node.parent
    else:
        member = node
    sibling, steps = member.prev_named_sibling, 0
    while sibling is not None and steps < 300:
        if sibling.type == "access_specifier":
            return (sibling.text or b"public").decode().rstrip(": ")
        sibling, steps = sibling.prev_named_sibling, steps + 1
    if kind == "class":
        return "private"
    return "public"


_MODIFIERS: Final = frozenset({"static", "extern", "inline", "virtual", "const", "constexpr", "explicit", "friend"})
_BUILT_IN: Final = frozenset(
    {"this", "NULL", "size_t", "std", "uint8_t", "int32_t", "uint32_t", "int64_t", "uint64_t"}
)

_BUILT_IN_TYPES: Final = split_words("int char short long float double void bool size_t unsigned signed auto FILE ")


def _locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The file of an include, or the namespace of a `using`, which has parts in many files."""
    if "." not in name and "/" not in name:
        path = name.replace("::", ".").lstrip(".")
        spaces = []
        for each in code.find_named(path.rpartition(".")[2]):
            if each.kind == "module" and each.qualified == path:
                spaces.append(each.id)
        if spaces:
            return of(spaces)
    return locate_included(code, source, name)


C_DIALECT: Final = LanguageDialect(
    family="c",
    bare_members=True,
    shared="all",
    home="all",
    by_parameters=True,
    declared_apart=True,
    namespaces=True,
    types_by_import=True,
    dispatch="up",
    passing=split_words("get load lock value release"),
    builtin=_BUILT_IN_TYPES,
    locate=_locate,
    publish=publish_headers,
)
_CPP_HEADER: Final = re.compile(rb"^\s*(?:class|namespace|template|using|public:|private:)\b", re.MULTILINE)


def _tell(name: str, head: bytes) -> str:
    """A header may be in either language."""
    if name.endswith(".h") and _CPP_HEADER.search(head):
        return "cpp"
    return "c"


LANGUAGES: Final = (
    Language(
        name="c",
        extensions=(".c", ".h"),
        grammar="tree_sitter_c",
        definitions=_DEFINITIONS,
        find_name=_find_name,
        references="[(identifier) (field_identifier) (type_identifier)] @id" + _REFERENCES,
        keyed=_KEYED,
        locals=_LOCALS,
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
        definitions=_DEFINITIONS + _CPP,
        find_name=_find_name,
        references=_CPP_REFERENCES + _REFERENCES,
        keyed=_KEYED,
        locals=_LOCALS + _CPP_LOCALS,
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
