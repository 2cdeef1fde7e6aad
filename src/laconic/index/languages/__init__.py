"""The languages that we know: each module here that holds `LANGUAGE` (or `LANGUAGES`) is one, by being here."""

from __future__ import annotations

import pkgutil
from functools import cache, lru_cache
from importlib import import_module

from laconic.index.dialect import LanguageDialect
from laconic.index.language import Language


@lru_cache(maxsize=1)
def all_languages() -> dict[str, Language]:
    """All languages by name."""
    found: dict[str, Language] = {}
    for module in pkgutil.iter_modules(__path__):
        held = import_module(f"{__name__}.{module.name}")
        for language in getattr(held, "LANGUAGES", None) or (held.LANGUAGE,):
            found[language.name] = language
    return found


@cache
def dialect_of(name: str) -> LanguageDialect:
    """How a language resolves names; one that we know nothing of shares names with its own files only."""
    language = all_languages().get(name)
    if language is not None and language.dialect is not None:
        return language.dialect
    return LanguageDialect(name, bare_members=True, shared="all")


def canonical_name(word: str) -> str:
    """The name of the language that people call so: `py` is python."""
    return _aliases().get(word, word)


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    found: dict[str, str] = {}
    for language in all_languages().values():
        for alias in language.aliases:
            found[alias] = language.name
    return found
