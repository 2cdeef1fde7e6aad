"""YAML: keys of the two topmost levels."""

from __future__ import annotations

from typing import Final

from laconic.index.language import Language
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source

_DEFINITIONS: Final = """
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @key)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping (block_mapping_pair key: (_) @name) @key))))))
"""


def _refine(each: DefinitionDraft, source: Source) -> None:
    if each.name.startswith("&"):
        each.name = each.name.split(" ", 1)[-1]
    else:
        each.name = each.name.strip("\"'")


LANGUAGE: Final = Language(
    name="yaml",
    extensions=(".yaml", ".yml"),
    filenames=(".clang-format", "CITATION.cff"),
    grammar="tree_sitter_yaml",
    definitions=_DEFINITIONS,
    refine=_refine,
    comments=("#",),
    most=400,
)
