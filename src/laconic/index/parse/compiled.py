"""A language made ready to parse: its grammar loaded and its queries compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from laconic.index.language import Language
from laconic.index.languages import all_languages

if TYPE_CHECKING:
    import tree_sitter


@dataclass(frozen=True, slots=True)
class CompiledLanguage:
    """A language with its grammar loaded and its queries compiled."""

    language: Language
    grammar: tree_sitter.Language
    definitions: tree_sitter.Query | None
    references: tree_sitter.Query | None
    keyed: tree_sitter.Query | None


@cache
def compile_language(name: str) -> CompiledLanguage | None:
    """A language ready to parse, or nothing when its grammar is not installed."""
    language = all_languages()[name]
    if not language.grammar:
        return None
    import tree_sitter  # not needed before the first file is parsed

    try:
        grammar = tree_sitter.Language(getattr(import_module(language.grammar), language.entry)())
    except ModuleNotFoundError:
        return None

    def compile_query(text: str) -> tree_sitter.Query | None:
        if text:
            return tree_sitter.Query(grammar, text)
        return None

    return CompiledLanguage(
        language=language,
        grammar=grammar,
        definitions=compile_query(language.definitions),
        references=compile_query(language.references),
        keyed=compile_query(language.keyed),
    )
