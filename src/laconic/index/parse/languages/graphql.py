"""GraphQL schemas and operations."""

from __future__ import annotations

from typing import Final

from laconic.index.parse.language import Language

_DEFINITIONS: Final = """
(object_type_definition (name) @name (fields_definition)? @body) @class
(object_type_definition (name) @name (implements_interfaces (named_type) @base)) @class
(interface_type_definition (name) @name) @interface
(input_object_type_definition (name) @name) @struct
(enum_type_definition (name) @name) @enum
(enum_value_definition (enum_value (name) @name)) @constant
(union_type_definition (name) @name) @union
(scalar_type_definition (name) @name) @type
(directive_definition (name) @name) @macro
(field_definition (name) @name) @field
(input_fields_definition (input_value_definition (name) @name) @field)
(operation_definition (name) @name) @function
(fragment_definition (fragment_name (name) @name)) @function
"""

_REFERENCES: Final = """
(named_type (name) @id @type)
(fragment_spread (fragment_name (name) @id @call))
(field (name) @id @read)
(implements_interfaces) @in.inherit
"""


LANGUAGE: Final = Language(
    name="graphql",
    extensions=(".graphql", ".gql", ".graphqls"),
    grammar="tree_sitter_graphql",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    comments=("#", '"""'),
    ignored=frozenset({"Int", "String", "Boolean", "Float", "ID"}),
)
