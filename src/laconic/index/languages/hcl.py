"""HCL and Terraform: blocks by their labels."""

from __future__ import annotations

from typing import Final

from laconic.index.language import Language
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source

_DEFINITIONS: Final = """
(config_file (body (block (identifier) (string_lit (template_literal) @name) . (block_start) @body) @key))
(config_file (body (block (identifier) @name . (block_start) @body) @key))
(config_file (body (attribute (identifier) @name) @key))
(block (identifier) @_locals (body (attribute (identifier) @name) @key) (#eq? @_locals "locals"))
"""

_REFERENCES: Final = """
(variable_expr (identifier) @id)
(get_attr (identifier) @id)
(function_call (identifier) @id)
"""


def _refine(each: DefinitionDraft, source: Source) -> None:
    if each.node.type == "block":
        kind = each.node.named_child(0)
        each.kind = {b"variable": "variable", b"module": "module"}.get((kind.text or b"") if kind else b"", "key")
        each.signature = source.first_line(each.start, each.end).rstrip(" {")


LANGUAGE: Final = Language(
    name="hcl",
    extensions=(".tf", ".hcl", ".tfvars", ".nomad"),
    grammar="tree_sitter_hcl",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    refine=_refine,
    comments=("#", "//"),
    ignored=frozenset({"var", "local", "each", "self", "data", "module"}),
)
