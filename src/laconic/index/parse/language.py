"""What the parser knows about one language, as data: names of files, queries, and a few small rules.

A language is one module in `languages` that holds `LANGUAGE`. Nothing here walks a tree.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from laconic.index.parse import languages
from laconic.index.parse.source import Source
from laconic.records import Import, Parsed

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node

    from laconic.index.parse.found import Found

Imports = Callable[["Node", Source], Iterator["Import | str"]]  # a plain string is an exported name


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Captures of `definitions`: the kind on the defining node, and `name`, `body` (where the signature ends), `base`,
    `owner`, `import`, `exports`, `package`. Captures of `references`: `id` on every name that may refer to something;
    `call`, `type`, `inherit`, `decorator`, `write` on names whose use the text around them does not tell; `local` on
    names that a function declares for itself; `skip`; and `in.KIND` on nodes all names of which are used as KIND.
    """

    name: str
    extensions: tuple[str, ...]
    grammar: str = ""  # the module that holds it; empty: read by lines
    entry: str = "language"  # the function in that module
    filenames: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    definitions: str = ""
    references: str = ""
    imports: Imports | None = None
    refine: Callable[[Found, Source], None] | None = None  # last word on one definition
    documentation: Callable[[Node], Node | None] | None = None  # documentation inside the definition
    comments: tuple[str, ...] = ("//", "/*", "*")  # how a line of comment (or attribute) above a definition starts
    wrappers: frozenset[str] = frozenset()  # parents that belong to a definition: decorators, `export`
    modifiers: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()  # names that never refer to a definition: `self`
    by_lines: Callable[[Source], Parsed] | None = None  # for formats that need no grammar
    most: int = 0  # definitions that one file may have; for formats that hold data. 0: no limit
    safe: bool = True  # small files may be parsed inside the asking process


@dataclass(frozen=True, slots=True)
class Compiled:
    """A language with its grammar loaded and its queries compiled."""

    language: Language
    grammar: tree_sitter.Language
    definitions: tree_sitter.Query | None
    references: tree_sitter.Query | None


@lru_cache(maxsize=1)
def all_languages() -> dict[str, Language]:
    """All languages by name."""
    found: dict[str, Language] = {}
    for module in pkgutil.iter_modules(languages.__path__):
        held = import_module(f"{languages.__name__}.{module.name}")
        for language in getattr(held, "LANGUAGES", None) or (held.LANGUAGE,):
            found[language.name] = language
    return found


@cache
def compile_language(name: str) -> Compiled | None:
    """A language ready to parse, or nothing when its grammar is not installed."""
    language = all_languages()[name]
    if not language.grammar:
        return None
    import tree_sitter  # not needed before the first file is parsed

    try:
        grammar = tree_sitter.Language(getattr(import_module(language.grammar), language.entry)())
    except ModuleNotFoundError:
        return None
    definitions = tree_sitter.Query(grammar, language.definitions) if language.definitions else None
    references = tree_sitter.Query(grammar, language.references) if language.references else None
    return Compiled(language, grammar, definitions, references)
