"""Ruby."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.dialect import LanguageDialect
from laconic.index.language import Language
from laconic.index.module_paths.included_files import locate_included
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class name: (_) @name) @class
(class name: (_) @name superclass: (superclass (_) @base)) @class
(module name: (_) @name) @module
(method name: (_) @name) @function
(singleton_method object: (_) @owner name: (_) @name) @function
(assignment left: (constant) @name) @constant
(assignment left: (scope_resolution name: (constant) @name)) @constant
(alias name: (_) @name) @function
(call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name) (#any-of? @_attr "attr_reader" "attr_accessor" "attr_writer" "attribute")) @field
(call method: (identifier) @_alias arguments: (argument_list . (simple_symbol) @name) (#any-of? @_alias "alias_method" "define_method" "scope" "has_many" "belongs_to" "has_one" "delegate")) @function
(call method: (identifier) @_test arguments: (argument_list . [(string (string_content) @name) (constant) @name (scope_resolution) @name]) block: (_) (#any-of? @_test "describe" "context" "it" "specify" "test" "feature" "scenario")) @test
(call method: (identifier) @_require (#any-of? @_require "require" "require_relative" "load" "autoload")) @import
"""

_REFERENCES: Final = """
[(identifier) (constant) (self)] @id
(call method: (identifier) @call)
(call method: (constant) @call)
(superclass) @in.inherit
(call method: (identifier) @_mixin arguments: (argument_list) @in.inherit (#any-of? @_mixin "include" "extend" "prepend"))
(method_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(block_parameters (identifier) @local)
(optional_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(keyword_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
(destructured_parameter (identifier) @local)
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    method, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    if arguments is not None:
        strings = []
        for child in arguments.named_children:
            if child.type == "string":
                strings.append(child)
    else:
        strings = []
    if method is None or not strings:
        return
    path = (strings[0].text or b"").decode("utf-8", "replace").strip("\"'")
    relative = method.text == b"require_relative" and not path.startswith(".")
    yield Import(f"./{path}" if relative else path, node.start_point[0] + 1)


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.name = each.name.lstrip(":")
    if "::" in each.name and each.kind in {"class", "module"}:
        each.owner, _, each.name = each.name.rpartition("::")
        each.name_start += len(each.owner) + 2
    if each.node.type == "singleton_method":
        each.modifiers = ["static"]
        each.owner = "" if each.owner == "self" else each.owner
    if each.kind == "test":
        each.test = True
    elif each.kind in {"function", "method"}:
        if each.parent is not None and each.parent.kind == "module":
            each.kind = "method"
        each.visibility = _visibility(each.node)
        each.test = each.name.startswith("test_")


def _visibility(node: Node) -> str:
    """`private` before a method, or alone on a line above it."""
    around = node.parent
    if around is not None and around.type == "argument_list":
        call = around.parent
        if call is not None:
            word = call.child_by_field_name("method")
        else:
            word = None
        if word is not None and word.text in (b"private", b"protected", b"private_class_method"):
            if word.text == b"protected":
                return "protected"
            return "private"
    sibling, steps = node.prev_named_sibling, 0
    while sibling is not None and steps < 200:
        if sibling.type == "identifier" and sibling.text in (b"private", b"protected", b"public"):
            return sibling.text.decode()
        sibling, steps = sibling.prev_named_sibling, steps + 1
    return "public"


_DIALECT: Final = LanguageDialect(
    family="ruby",
    dynamic=True,
    me=frozenset({"self"}),
    bare_members=True,
    shared="all",
    structural=True,
    locate=locate_included,
)

LANGUAGE: Final = Language(
    name="ruby",
    aliases=("rb",),
    leaving='((identifier) @return (#any-of? @return "raise" "fail"))',
    tail_returns=True,
    dialect=_DIALECT,
    extensions=(".rb", ".rake", ".gemspec", ".ru"),
    filenames=("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Fastfile", "Podfile"),
    shebangs=("ruby", "jruby"),
    grammar="tree_sitter_ruby",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    imports=_imports,
    refine=_refine,
    comments=("#",),
    ignored=frozenset(
        {
            "self",
            "private",
            "protected",
            "public",
            "attr_reader",
            "attr_accessor",
            "attr_writer",
            "require",
            "require_relative",
        }
    ),
)
