"""Markdown: headings with the sections below them."""

from __future__ import annotations

from typing import Final

from laconic.index.language import Language
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source

_DEFINITIONS: Final = """
(section (atx_heading heading_content: (inline) @name)) @heading
(setext_heading heading_content: (paragraph) @name) @heading
"""


def _refine(each: DefinitionDraft, source: Source) -> None:
    each.name = each.name.rstrip("# ").strip()
    each.signature = source.first_line(each.start, each.end, 120)


LANGUAGE: Final = Language(
    name="markdown",
    aliases=("md",),
    extensions=(".md", ".markdown", ".mdx", ".mdc"),
    grammar="tree_sitter_markdown",
    definitions=_DEFINITIONS,
    refine=_refine,
    comments=(),
    most=1000,
)
