"""C#."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import bind_last_word
from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.module_paths.declared_packages import locate_package, publish_declared
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration name: (identifier) @name) @class
(class_declaration name: (identifier) @name (base_list (_) @base)) @class
(interface_declaration name: (identifier) @name) @interface
(interface_declaration name: (identifier) @name (base_list (_) @base)) @interface
(struct_declaration name: (identifier) @name) @struct
(struct_declaration name: (identifier) @name (base_list (_) @base)) @struct
(record_declaration name: (identifier) @name) @record
(record_declaration name: (identifier) @name (base_list (_) @base)) @record
(record_declaration (parameter_list (parameter name: (identifier) @name) @field))
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @constant
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @method
(local_function_statement name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @constructor
(property_declaration name: (identifier) @name) @field
(property_declaration name: (identifier) @name accessors: (accessor_list) @body) @field
(event_declaration name: (identifier) @name) @field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(using_directive) @import
"""

_REFERENCES: Final = """
[(identifier) "this" "base"] @id
(_ type: (identifier) @type)
(_ returns: (identifier) @type)
(_ type: (_ (identifier) @type))
(_ returns: (generic_name (identifier) @type))
(type_argument_list (identifier) @type)
(type_argument_list (generic_name (identifier) @type))
(object_creation_expression type: (identifier) @call)
(object_creation_expression type: (generic_name (identifier) @call))
(object_creation_expression type: (qualified_name name: (identifier) @call))
(attribute name: (identifier) @decorator)
(attribute name: (qualified_name name: (identifier) @decorator))
(argument name: (identifier) @skip)
(parameter name: (identifier) @local)
(parameter_list name: (identifier) @local)
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(for_statement initializer: (variable_declaration (variable_declarator name: (identifier) @local)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(implicit_parameter) @local
(type_parameter name: (identifier) @local)
(base_list) @in.inherit
(using_directive) @in.import
(namespace_declaration name: (_) @in.import)
(file_scoped_namespace_declaration name: (_) @in.import)
"""

_LOCALS: Final = """
(parameter type: (_) @type name: (identifier) @name)
(variable_declaration type: (_) @type (variable_declarator name: (identifier) @name) (#not-eq? @type "var"))
(variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @name (_) @value .))
(foreach_statement type: (_) @type left: (identifier) @name (#not-eq? @type "var"))
(foreach_statement type: (implicit_type) left: (identifier) @name right: (_) @each)
(catch_declaration type: (_) @type name: (identifier) @name)
(declaration_pattern type: (_) @type name: (identifier) @name)
(lambda_expression parameters: (implicit_parameter) @name)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    words = (node.text or b"").decode("utf-8", "replace").rstrip("; \n").split()
    plain = " ".join(word for word in words if word not in {"global", "using", "static", "unsafe"})
    alias, equals, path = plain.partition("=")
    line, public = node.start_point[0] + 1, "global" in words
    if equals:
        module, _, name = path.strip().rpartition(".")
        yield Import(module=module, line=line, name=name, alias=alias.strip(), exported=public)
    else:
        yield Import(plain.strip(), line, "*", exported=public)


def _refine(each: DefinitionDraft, source: Source) -> None:
    given = []
    for word in ("public", "protected", "internal", "private"):
        if word in each.modifiers:
            given.append(word)
    each.modifiers = [word for word in each.modifiers if word not in given]
    around = ""
    if each.parent is not None:
        around = each.parent.kind
    if given:
        each.visibility = given[0]
    elif each.node.type in {"enum_member_declaration", "parameter"} or around == "interface":
        each.visibility = "public"
    else:
        each.visibility = "private" if around else "internal"
    if each.kind == "field" and "const" in each.modifiers:
        each.kind = "constant"
    each.bases = [base.split("<", 1)[0].split("(", 1)[0].strip() for base in each.bases]
    head = source.text(each.start, each.name_start)
    each.test = any(f"[{word}" in head for word in ("Test", "Fact", "Theory"))


_BUILT_IN_TYPES: Final = split_words(
    "string int long short byte char float double decimal bool object void dynamic var List Dictionary HashSet "
    "IEnumerable IList IDictionary Task String Int32 DateTime TimeSpan Guid StringBuilder Exception Type "
)

_DIALECT: Final = LanguageDialect(
    family="csharp",
    above=frozenset({"base"}),
    by_parameters=True,
    bare_members=True,
    shared="all",
    types_stand_out=False,
    open_types=True,
    builtin=_BUILT_IN_TYPES,
    locate=locate_package,
    publish=publish_declared,
    bind=bind_last_word,
)

_SCOPES: Final = frozenset(
    {
        "block",
        "method_declaration",
        "constructor_declaration",
        "lambda_expression",
        "for_statement",
        "foreach_statement",
        "catch_clause",
        "switch_section",
    }
)

LANGUAGE: Final = Language(
    name="csharp",
    aliases=("cs", "c#"),
    dialect=_DIALECT,
    extensions=(".cs", ".csx"),
    grammar="tree_sitter_c_sharp",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    locals=_LOCALS,
    scopes=_SCOPES,
    blocks=_SCOPES,
    method_wrapper=("class _ { ", " }"),
    imports=_imports,
    refine=_refine,
    modifiers=frozenset(
        {
            "public",
            "protected",
            "internal",
            "private",
            "static",
            "readonly",
            "const",
            "abstract",
            "sealed",
            "virtual",
            "override",
            "async",
            "partial",
            "extern",
            "required",
            "new",
            "unsafe",
            "volatile",
        }
    ),
    ignored=frozenset({"this", "base", "var", "nameof", "value", "_"}),
)
