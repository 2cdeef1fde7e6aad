"""Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.parse.found import Found
from laconic.index.parse.language import Language
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @base)) @class
(class_definition name: (identifier) @name !superclasses) @class
(class_definition name: (identifier) @name superclasses: (argument_list)) @class
(module (expression_statement (assignment left: (identifier) @name) @variable))
(module (if_statement (block (expression_statement (assignment left: (identifier) @name) @variable))))
(module (try_statement (block (expression_statement (assignment left: (identifier) @name) @variable))))
(module (_ [(else_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (except_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))]))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @variable))
(module (expression_statement (assignment left: (identifier) @_all right: (_) @exports)) (#eq? @_all "__all__"))
(module (expression_statement (augmented_assignment left: (identifier) @_all right: (_) @exports)) (#eq? @_all "__all__"))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @variable)))
(class_definition body: (block (if_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))))
(function_definition body: (_ (expression_statement (assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name)) @field)) (#eq? @_self "self"))
(function_definition body: (block (_ (block (expression_statement (assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name)) @field)))) (#eq? @_self "self"))
(type_alias_statement left: (type (identifier) @name)) @type
(import_statement) @import
(import_from_statement) @import
"""

_REFERENCES: Final = """
(identifier) @id
((type (string (string_content) @id)) (#match? @id "^[A-Za-z_][A-Za-z_0-9]*$"))
(parameters [(identifier) @local
  (default_parameter name: (identifier) @local)
  (typed_parameter [(identifier) @local (list_splat_pattern (identifier) @local) (dictionary_splat_pattern (identifier) @local)])
  (typed_default_parameter name: (identifier) @local)
  (list_splat_pattern (identifier) @local)
  (dictionary_splat_pattern (identifier) @local)])
(lambda_parameters [(identifier) @local (default_parameter name: (identifier) @local)
  (list_splat_pattern (identifier) @local) (dictionary_splat_pattern (identifier) @local)])
(assignment left: (identifier) @local)
(assignment left: (pattern_list [(identifier) @local (list_splat_pattern (identifier) @local)]))
(assignment left: (tuple_pattern (identifier) @local))
(for_statement left: (identifier) @local)
(for_statement left: (pattern_list (identifier) @local))
(for_statement left: (tuple_pattern (identifier) @local))
(for_in_clause left: (identifier) @local)
(for_in_clause left: (pattern_list (identifier) @local))
(for_in_clause left: (tuple_pattern (identifier) @local))
(as_pattern alias: (as_pattern_target (identifier) @local))
(named_expression name: (identifier) @local)
(keyword_argument name: (identifier) @skip)
(global_statement (identifier) @global)
(nonlocal_statement (identifier) @global)
(type) @in.type
(class_definition superclasses: (argument_list) @in.inherit)
(decorator [(identifier) @decorator (attribute attribute: (identifier) @decorator)
  (call function: [(identifier) @decorator (attribute attribute: (identifier) @decorator)])])
(import_statement) @in.import
(import_from_statement) @in.import
(future_import_statement) @in.import
"""

_DECORATED: Final = {
    "staticmethod": "static",
    "classmethod": "classmethod",
    "property": "property",
    "cached_property": "property",
    "abstractmethod": "abstract",
    "override": "override",
    "overload": "overload",
    "final": "final",
    "dataclass": "dataclass",
}


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    origin = node.child_by_field_name("module_name")
    module = _text(origin) if origin is not None else ""
    public = source.path.endswith("__init__.py")
    for child in node.children_by_field_name("name"):
        original, alias = child, ""
        if child.type == "aliased_import":
            inner, renamed = child.child_by_field_name("name"), child.child_by_field_name("alias")
            original, alias = inner or child, _text(renamed) if renamed is not None else ""
        name, line = _text(original), child.start_point[0] + 1
        if origin is None:
            yield Import(name, line, alias=alias, exported=public)
        else:
            yield Import(module, line, name, alias, exported=public or alias == name)
    if origin is not None and any(child.type == "wildcard_import" for child in node.children):
        yield Import(module, node.start_point[0] + 1, "*", exported=public)


def _text(node: Node) -> str:
    return "".join((node.text or b"").decode("utf-8", "replace").split())


def _documentation(node: Node) -> Node | None:
    body = node.child_by_field_name("body")
    first = body.named_child(0) if body is not None and body.named_child_count else None
    if first is None or first.type != "expression_statement":
        return None
    inner = first.named_child(0)
    return inner if inner is not None and inner.type in {"string", "concatenated_string"} else None


def _refine(each: Found, source: Source) -> None:
    name = each.name
    if name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
        each.visibility = "private"
    for decorator in each.decorators:
        word = decorator.rsplit(".", 1)[-1]
        if word in _DECORATED:
            each.modifiers.append(_DECORATED[word])
        elif word in {"setter", "deleter"}:
            each.modifiers.append(word)
    if each.kind == "variable" and name.isupper():
        each.kind = "constant"
    each.bases = [base.split("[", 1)[0] for base in each.bases]
    if each.kind in {"function", "method"}:
        each.test = name.startswith("test")
    elif each.kind == "class":
        each.test = name.startswith("Test") or any(base.endswith("TestCase") for base in each.bases)


LANGUAGE: Final = Language(
    name="python",
    extensions=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    shebangs=("python", "pypy"),
    grammar="tree_sitter_python",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    refine=_refine,
    documentation=_documentation,
    comments=("#",),
    wrappers=frozenset({"decorated_definition"}),
    modifiers=frozenset({"async"}),
    ignored=frozenset({"self", "cls"}),
)
