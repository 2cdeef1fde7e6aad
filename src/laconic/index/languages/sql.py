"""SQL: tables with their columns, views, functions and types."""

from __future__ import annotations

from typing import Final

from laconic.index.language import Language
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source

_DEFINITIONS: Final = """
(create_table (object_reference name: (_) @name) (column_definitions)? @body) @class
(create_table (column_definitions (column_definition name: (_) @name) @field))
(create_view (object_reference name: (_) @name)) @class
(create_materialized_view (object_reference name: (_) @name)) @class
(create_function (object_reference name: (_) @name) (function_body)? @body) @function
(create_index column: (_) @name) @key
(create_type (object_reference name: (_) @name)) @type
(create_trigger . (_) (object_reference name: (_) @name)) @function
"""

_REFERENCES: Final = """
(object_reference name: (_) @id @read)
(invocation (object_reference name: (_) @call))
"""


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.name = each.name.strip('"`[]')
    if each.kind == "class":
        each.modifiers.append("table" if each.node.type == "create_table" else "view")


LANGUAGE: Final = Language(
    name="sql",
    extensions=(".sql", ".ddl", ".psql", ".pgsql"),
    grammar="tree_sitter_sql",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    refine=_refine,
    comments=("--",),
    safe=False,
)
