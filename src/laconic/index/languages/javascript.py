"""JavaScript, TypeScript and TSX, which share most of their grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import read_result_after_parameters, read_type_after_colon
from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.module_paths.script_modules import locate_script_module, publish_packages
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
[(function_declaration) (generator_function_declaration)] @function
(function_expression name: (identifier) @name body: (_) @body) @function
(method_definition name: (_) @name) @method
(lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function)
(variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function)
(lexical_declaration (variable_declarator name: (identifier) @name value: (call_expression
  function: [(identifier) @_wrapper (member_expression property: (property_identifier) @_wrapper)]
  arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#match? @_wrapper "^(use[A-Z]|memo$|forwardRef$|observer$|debounce$|throttle$|once$|wrap|with[A-Z])")) @function)
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class)
(program [(lexical_declaration (variable_declarator name: (identifier) @name) @variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @variable)
  (lexical_declaration (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name)) @variable)
  (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
  (export_statement declaration: (lexical_declaration (variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)])) @variable))
  (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name) @variable))])
(assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(export_statement "default" @name value: [(function_expression !name body: (_) @body) (arrow_function body: (_) @body)]) @function
(pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(call_expression function: [(identifier) @_test (member_expression object: (identifier) @_test)] arguments: (arguments . [(string (string_fragment) @name) (template_string . (string_fragment) @name)] [(arrow_function) (function_expression)])
  (#any-of? @_test "describe" "it" "test" "suite" "context" "specify")) @test
(import_statement) @import
(export_statement) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
(variable_declarator value: (call_expression function: (identifier) @_require) (#eq? @_require "require")) @import
(variable_declarator value: (member_expression object: (call_expression function: (identifier) @_require)) (#eq? @_require "require")) @import
(assignment_expression left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports) (#eq? @_module "module") (#eq? @_exports "exports")) @import
"""
_SCRIPT: Final = """
(class_declaration name: (identifier) @name (class_heritage (_) @base)?) @class
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(field_definition property: (_) @name) @field
"""
_TYPED: Final = """
([(class_declaration name: (type_identifier) @name) (abstract_class_declaration name: (type_identifier) @name)]) @class
(class_declaration name: (type_identifier) @name (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])) @class
(abstract_class_declaration name: (type_identifier) @name (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])) @class
(interface_declaration name: (type_identifier) @name) @interface
(interface_declaration name: (type_identifier) @name (extends_type_clause type: (_) @base)) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
(enum_body [(property_identifier) @name (enum_assignment name: (property_identifier) @name)] @constant)
(property_signature name: (_) @name) @field
[(method_signature name: (_) @name) (abstract_method_signature name: (_) @name)] @method
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(public_field_definition name: (_) @name) @field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
(optional_parameter (accessibility_modifier) pattern: (identifier) @name) @field
(internal_module body: (statement_block [(lexical_declaration (variable_declarator name: (identifier) @name) @variable) (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable))]))
[(internal_module name: (_) @name) (module name: [(identifier) (nested_identifier)] @name) (module name: (string (string_fragment) @name))] @module
(function_signature name: (identifier) @name) @function
(ambient_declaration [(lexical_declaration (variable_declarator name: (identifier) @name) @variable) (variable_declaration (variable_declarator name: (identifier) @name) @variable)])
"""

_REFERENCES: Final = """
[(identifier) (property_identifier) (private_property_identifier) (shorthand_property_identifier) (shorthand_property_identifier_pattern) (this) (super)%s] @id
(variable_declarator name: (identifier) @local)
(shorthand_property_identifier_pattern) @local
(object_pattern (pair_pattern value: (identifier) @local))
(array_pattern (identifier) @local)
(assignment_pattern left: (identifier) @local)
(rest_pattern (identifier) @local)
(arrow_function parameter: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(pair key: (property_identifier) @write)
(pair_pattern key: (property_identifier) @read)
(variable_declarator name: (_) @in.import value: (call_expression function: (identifier) @_require) (#eq? @_require "require"))
(variable_declarator name: (_) @in.import value: (member_expression object: (call_expression function: (identifier) @_require)) (#eq? @_require "require"))
(decorator [(identifier) @decorator (call_expression function: (identifier) @decorator) (call_expression function: (member_expression property: (property_identifier) @decorator))])
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (property_identifier) @call))
(import_statement) @in.import
(export_statement source: (_)) @in.import
"""
_PLAIN_PARAMETERS: Final = "(formal_parameters (identifier) @local) (class_heritage) @in.inherit"
_TYPED_REFERENCES: Final = """
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_identifier) @type
(type_parameter name: (type_identifier) @local)
(call_expression function: (identifier) @call type_arguments: (_))
(call_expression function: (member_expression property: (property_identifier) @call) type_arguments: (_))
(extends_clause) @in.inherit
(implements_clause) @in.inherit
(extends_type_clause) @in.inherit
(nested_type_identifier module: (identifier) @type)
(member_expression object: [(satisfies_expression) (as_expression)] property: (property_identifier) @type)
"""
_KEYED: Final = """
(pair key: (property_identifier) @key)
(property_signature name: (property_identifier) @key)
(assignment_expression left: [(identifier) (member_expression)] @value right: (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key (method_definition name: (property_identifier) @key)]))
(call_expression function: [(identifier) (member_expression)] @callee arguments: (arguments (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key (method_definition name: (property_identifier) @key)]) @argument))
(new_expression constructor: [(identifier) (member_expression)] @callee arguments: (arguments (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key (method_definition name: (property_identifier) @key)]) @argument))
(variable_declarator type: (type_annotation (_) @type) value: (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key (method_definition name: (property_identifier) @key)]))
(function_declaration return_type: (type_annotation (_) @type) body: (statement_block (return_statement (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key]))))
(method_definition return_type: (type_annotation (_) @type) body: (statement_block (return_statement (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key]))))
(required_parameter pattern: (object_pattern [(shorthand_property_identifier_pattern) @key (pair_pattern key: (property_identifier) @key) (object_assignment_pattern left: (shorthand_property_identifier_pattern) @key)]) type: (type_annotation (_) @type))
(variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @key (pair_pattern key: (property_identifier) @key) (object_assignment_pattern left: (shorthand_property_identifier_pattern) @key)]) value: [(identifier) (member_expression) (call_expression) (this)] @value)
(as_expression (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key]) (_) @type)
(satisfies_expression (object [(pair key: (property_identifier) @key) (shorthand_property_identifier) @key]) (_) @type)
"""
_LOCALS: Final = """
(variable_declarator name: (identifier) @name value: (_) @value)
(variable_declarator name: (identifier) @name !value)
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name @key) value: (_) @value)
(variable_declarator name: (object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name @key)) value: (_) @value)
(variable_declarator name: (object_pattern (pair_pattern key: (property_identifier) @key value: (identifier) @name)) value: (_) @value)
(variable_declarator name: (array_pattern (identifier) @name))
(object_pattern (rest_pattern (identifier) @name))
(for_in_statement left: (identifier) @name right: (_) @each)
(for_in_statement left: (array_pattern (identifier) @name))
(catch_clause parameter: (identifier) @name)
(arrow_function parameter: (identifier) @name)
(call_expression function: (_) @callee arguments: (arguments (arrow_function parameter: (identifier) @name)))
(if_statement condition: (parenthesized_expression (binary_expression left: (identifier) @name "instanceof" right: [(identifier) (member_expression)] @type)) consequence: (_) @scope)
"""
_PLAIN_LOCALS: Final = """
(formal_parameters (identifier) @name)
(formal_parameters (assignment_pattern left: (identifier) @name right: (_) @value))
(formal_parameters (rest_pattern (identifier) @name))
(formal_parameters (object_pattern (shorthand_property_identifier_pattern) @name))
(call_expression function: (_) @callee arguments: (arguments (arrow_function parameters: (formal_parameters (identifier) @name))))
"""
_TYPED_LOCALS: Final = """
(required_parameter pattern: (identifier) @name type: (type_annotation (_) @type))
(required_parameter pattern: (identifier) @name !type value: (_) @value)
(required_parameter pattern: (identifier) @name !type !value)
(required_parameter pattern: (rest_pattern (identifier) @name) type: (type_annotation (_) @type))
(required_parameter pattern: (object_pattern (shorthand_property_identifier_pattern) @name @key) type: (type_annotation (_) @type))
(required_parameter pattern: (object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name @key)) type: (type_annotation (_) @type))
(required_parameter pattern: (object_pattern (pair_pattern key: (property_identifier) @key value: (identifier) @name)) type: (type_annotation (_) @type))
(required_parameter pattern: (object_pattern (shorthand_property_identifier_pattern) @name) !type)
(optional_parameter pattern: (identifier) @name type: (type_annotation (_) @type))
(variable_declarator name: (identifier) @name type: (type_annotation (_) @type))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name @key) type: (type_annotation (_) @type))
(call_expression function: (_) @callee arguments: (arguments [(arrow_function parameters: (formal_parameters (required_parameter pattern: (identifier) @name !type))) (function_expression parameters: (formal_parameters (required_parameter pattern: (identifier) @name !type)))]))
(variable_declarator type: (type_annotation (_) @callable) value: [(arrow_function parameter: (identifier) @name) (arrow_function parameters: (formal_parameters (required_parameter pattern: (identifier) @name !type))) (function_expression parameters: (formal_parameters (required_parameter pattern: (identifier) @name !type)))])
(_ return_type: (type_annotation (_) @callable) body: (statement_block (return_statement [(arrow_function parameter: (identifier) @name) (arrow_function parameters: (formal_parameters (required_parameter pattern: (identifier) @name !type))) (function_expression parameters: (formal_parameters (required_parameter pattern: (identifier) @name !type)))])))
"""
_JSX: Final = """
(jsx_opening_element name: (identifier) @call (#match? @call "^[A-Z_$]"))
(jsx_self_closing_element name: (identifier) @call (#match? @call "^[A-Z_$]"))
(jsx_opening_element name: (identifier) @skip (#match? @skip "^[a-z]"))
(jsx_self_closing_element name: (identifier) @skip (#match? @skip "^[a-z]"))
(jsx_closing_element name: (identifier) @skip)
(jsx_attribute (property_identifier) @write)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    if node.type == "call_expression":
        yield Import(_module(_first_string(node)), _line(node))
    elif node.type == "variable_declarator":
        yield from _read_require(node)
    elif node.type == "assignment_expression":
        yield from _assigned_exports(node)
    elif node.type == "import_statement":
        yield from _read_import(node)
    else:
        yield from _read_export(node)


def _read_import(node: Node) -> Iterator[Import]:
    clause = next((child for child in node.named_children if child.type.endswith("_clause")), None)
    origin = node.child_by_field_name("source") or (clause.child_by_field_name("source") if clause else None)
    module = _module(origin)
    if clause is None:
        yield Import(module, _line(node))
        return
    for part in clause.named_children:
        if part.type == "identifier":
            name = "default"
            if clause.type == "import_require_clause":
                name = ""
            yield Import(module, _line(part), name, _text(part))
        elif part.type == "namespace_import":
            yield Import(module, _line(part), "", _text(part.named_children[-1]))
        elif part.type == "named_imports":
            for each in part.named_children:
                if each.type == "import_specifier":
                    yield Import(module, _line(each), *_read_alias(each))


def _read_export(node: Node) -> Iterator[Import | str]:
    origin = node.child_by_field_name("source")
    module = _module(origin)
    clause = next((child for child in node.named_children if child.type == "export_clause"), None)
    spread = next((child for child in node.named_children if child.type == "namespace_export"), None)
    if clause is not None:
        for each in clause.named_children:
            if each.type != "export_specifier":
                continue
            name, alias = _read_alias(each)
            if origin is None:
                yield alias or name
            if origin is not None or alias:
                yield Import(module=module, line=_line(each), name=name, alias=alias, exported=True)
    elif spread is not None:
        yield Import(module=module, line=_line(node), name="", alias=_text(spread.named_children[-1]), exported=True)
    elif origin is not None:
        yield Import(module, _line(node), "*", exported=True)
    else:
        value = node.child_by_field_name("value") or (node.named_children[0] if node.named_child_count == 1 else None)
        if value is not None and value.type == "identifier":
            yield Import(module="", line=_line(node), name=_text(value), alias="default", exported=True)


def _read_require(node: Node) -> Iterator[Import]:
    value, target = node.child_by_field_name("value"), node.child_by_field_name("name")
    if value is not None:
        string = _first_string(value)
    else:
        string = None
    if target is None or value is None or string is None:
        return
    module = _module(string)
    if target.type == "identifier":
        member = value.child_by_field_name("property")
        yield Import(module, _line(node), _text(member) if member is not None else "", _text(target))
        return
    for each in target.named_children:
        if each.type == "shorthand_property_identifier_pattern":
            yield Import(module, _line(each), _text(each))
        elif each.type == "pair_pattern":
            key, renamed = each.child_by_field_name("key"), each.child_by_field_name("value")
            if key is not None and renamed is not None:
                yield Import(module, _line(each), _text(key), _text(renamed))


def _assigned_exports(node: Node) -> Iterator[Import | str]:
    value = node.child_by_field_name("right")
    if value is None:
        return
    if value.type == "identifier":
        yield Import(module="", line=_line(node), name=_text(value), alias="default", exported=True)
    elif value.type == "call_expression" and (string := _first_string(value)) is not None:
        yield Import(_module(string), _line(node), "*", exported=True)
    elif value.type == "object":
        for each in value.named_children:
            if each.type == "pair":
                key = each.child_by_field_name("key")
            else:
                key = each
            if key is not None and key.type in {"property_identifier", "shorthand_property_identifier"}:
                yield _text(key)


def _read_alias(node: Node) -> tuple[str, str]:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    return _text(name) if name is not None else "", _text(alias) if alias is not None else ""


def _first_string(node: Node) -> Node | None:
    call: Node | None = node
    if node.type != "call_expression":
        call = node.child_by_field_name("object")
    if call is not None:
        arguments = call.child_by_field_name("arguments")
    else:
        arguments = None
    if arguments is not None and arguments.named_child_count:
        first = arguments.named_child(0)
    else:
        first = None
    if first is not None and first.type == "string":
        return first
    return None


def _module(node: Node | None) -> str:
    if node is not None:
        return _text(node).strip("\"'")
    return ""


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _refine(each: DefinitionDraft, source: Source) -> None:
    node = each.node
    if each.kind == "variable":
        value = node.child_by_field_name("value")
        if (
            value is not None
            and b"require(" in source.data[value.start_byte : min(value.end_byte, value.start_byte + 200)]
            and _first_string(value) is not None
        ):
            each.kind = ""  # an import, not a variable
            return
        if (node.parent is not None and node.parent.child(0) is not None) and each.name.isupper():
            each.kind = "constant"
    if node.type == "function_expression" and node.parent is not None and node.parent.type in _NAMING:
        each.kind = ""  # what it is assigned to has the name that others use
        return
    _own(each)
    if "export" in each.modifiers:
        each.modifiers[each.modifiers.index("export")] = "exported"
    elif each.parent is None and each.kind != "test" and "exported" not in each.modifiers and source.has_exports:
        each.visibility = "internal"
    if each.kind == "constructor" or (each.kind == "method" and each.name == "constructor"):
        each.kind = "constructor"
    for word in ("private", "protected"):
        if word in each.modifiers:
            each.visibility = word
            each.modifiers.remove(word)
    if each.name.startswith("#"):
        each.visibility = "private"
    if "public" in each.modifiers:
        each.modifiers.remove("public")
    if each.kind == "test":
        each.test = True
    each.bases = [base.split("<", 1)[0].strip() for base in each.bases]


def _own(each: DefinitionDraft) -> None:
    """Functions that are assigned to a member: `Foo.prototype.run`, `app.use`, `exports.run`."""
    if not each.owner:
        return
    if each.owner in {"exports", "module.exports"}:
        each.owner = ""
        each.modifiers.append("exported")
        return
    each.owner = each.owner.removesuffix(".prototype")
    if each.owner == "this" and each.parent is not None:
        each.owner = ""
    each.kind = "method"


_MODIFIERS: Final = frozenset(
    [
        "async",
        "static",
        "get",
        "set",
        "abstract",
        "readonly",
        "override",
        "declare",
        "export",
        "default",
        "const",
        "private",
        "protected",
        "public",
    ]
) - {"const"}
_NAMING: Final = frozenset({"variable_declarator", "assignment_expression", "pair", "field_definition"})
_WRAPPERS: Final = frozenset(
    {"export_statement", "lexical_declaration", "variable_declaration", "ambient_declaration"}
)


_BUILT_IN_TYPES: Final = split_words(
    "string number boolean any unknown void never object bigint symbol Array Map Set WeakMap WeakSet Promise "
    "Date RegExp Record Partial Readonly Pick Omit Error TypeError JSON Math Object String Number Boolean "
    "console window document process Buffer globalThis localStorage sessionStorage navigator URL URLSearchParams "
    "Response Request Headers FormData Symbol Reflect Proxy Intl performance crypto HTMLElement Element Node "
    "Event fetch setTimeout setInterval setImmediate queueMicrotask structuredClone parseInt parseFloat isNaN "
    "encodeURIComponent decodeURIComponent atob btoa AbortController AbortSignal TextEncoder TextDecoder "
    "ReadableStream WritableStream TransformStream Blob File EventTarget CustomEvent MessageEvent WebSocket Worker "
    "Function ArrayBuffer DataView Uint8Array RangeError SyntaxError Iterator Iterable Generator AsyncGenerator "
)

_ARROW: Final = re.compile(r"=>\s*(?![\s{])(.+)", re.DOTALL)
_RETURN: Final = re.compile(r"(\s*)return\s+([\w$(].*)")


def _read_returned(lines: list[str]) -> list[tuple[int, str]]:
    """What a function returns: the expression after its arrow, or after the one `return` among its own statements."""
    if not lines:
        return []
    if "{" not in lines[0] and (match := _ARROW.search(lines[0])):
        return [(0, "\n".join([match[1], *lines[1:8]]))]
    if lines[0].rstrip().endswith("=>") and len(lines) > 1:
        return [(1, "\n".join(lines[1:9]).lstrip())]
    inner = [len(line) - len(line.lstrip()) for line in lines[1:-1] if line.strip()]
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        match = _RETURN.match(line)
        if match and inner and len(match[1]) == min(inner):
            found.append((number, "\n".join([match[2], *lines[number + 1 : number + 8]])))
    return found


SCRIPT: Final = LanguageDialect(
    family="script",
    home="file",
    structural=True,
    dispatch="both",
    shorthand=True,
    overloads=True,
    reach={"private": "file"},
    default_exports=True,
    merges=True,
    typed_lists=re.compile(r"new\s+([\w.]+<[^()]+>)\s*\("),
    lists=re.compile(r"\["),
    builtin=_BUILT_IN_TYPES,
    locate=locate_script_module,
    publish=publish_packages,
    read_result=read_result_after_parameters,
    read_returned=_read_returned,
    read_type=read_type_after_colon,
)

_SCOPES: Final = frozenset(
    {
        "statement_block",
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "for_statement",
        "for_in_statement",
        "catch_clause",
        "switch_case",
        "switch_default",
    }
)
_ALIASES: Final = {"javascript": ("js",), "typescript": ("ts",)}


def _language(
    name: str, extensions: tuple[str, ...], grammar: str, entry: str, shebangs: tuple[str, ...] = ()
) -> Language:
    typed = name != "javascript"
    references = _REFERENCES % (" (type_identifier)" if typed else "")
    references += _TYPED_REFERENCES if typed else _PLAIN_PARAMETERS
    if name != "typescript":
        references += _JSX
    return Language(
        name=name,
        extensions=extensions,
        grammar=grammar,
        entry=entry,
        shebangs=shebangs,
        definitions=_DEFINITIONS + (_TYPED if typed else _SCRIPT),
        references=references,
        keyed=_KEYED if typed else "(pair key: (property_identifier) @key)",
        locals=_LOCALS + (_TYPED_LOCALS if typed else _PLAIN_LOCALS),
        scopes=_SCOPES,
        blocks=_SCOPES,
        method_wrapper=("class _ { ", " }"),
        imports=_imports,
        refine=_refine,
        wrappers=_WRAPPERS,
        modifiers=_MODIFIERS,
        ignored=frozenset({"this", "super", "undefined", "require", "arguments", "module", "exports"}),
        aliases=_ALIASES.get(name, ()),
        dialect=replace(SCRIPT, dynamic=not typed, callbacks=typed, types_by_import=typed),
    )


LANGUAGES: Final = (
    _language("javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript", "language", ("node", "bun")),
    _language(
        "typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript", "language_typescript", ("deno", "tsx")
    ),
    _language("tsx", (".tsx",), "tree_sitter_typescript", "language_tsx"),
)
