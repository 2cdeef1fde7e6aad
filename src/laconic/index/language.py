"""What there is to know about one language, as data: names of files, queries, a few small rules, and its dialect.

A language is one module in `languages` that holds `LANGUAGE`. Nothing here walks a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from laconic.index.dialect import LanguageDialect
from laconic.records import Import, ParsedFile

if TYPE_CHECKING:
    from tree_sitter import Node

    from laconic.index.parse.definition_draft import DefinitionDraft
    from laconic.index.parse.source import Source

Imports = Callable[["Node", "Source"], Iterator["Import | str"]]  # a plain string is an exported name


FindName = Callable[[str, "Node"], "tuple[str, Node] | None"]


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Captures of `definitions`: the kind on the defining node, and `name`, `body` (where the signature ends), `base`,
    `owner`, `import`, `exports`, `package`. Captures of `references`: `id` on every name that may refer to something;
    `call`, `type`, `inherit`, `decorator`, `write` on names whose use the text around them does not tell; `local` on
    names that a function declares for itself; `skip`; `words` on nodes without a tree all words of which are
    names; and `in.KIND` on nodes all names of which are used as KIND.
    """

    name: str
    extensions: tuple[str, ...]
    grammar: str = ""  # the module that holds it; empty: read by lines
    entry: str = "language"  # the function in that module
    filenames: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()  # how such file names may begin: `Dockerfile.test`
    tell: Callable[[str, bytes], str] | None = None  # the language that a file of this name and text really is in
    aliases: tuple[str, ...] = ()  # what people call it in a query: `py`
    shebangs: tuple[str, ...] = ()
    telling_endings: tuple[str, ...] = ()  # of paths, that change what is read from the same bytes: `_test.go`
    definitions: str = ""
    references: str = ""
    keyed: str = ""  # `key`: a member in a literal of a `type`, or that is taken out of a `value`
    locals: str = ""  # what local names are given; see `resolve/local_names.py` for the captures
    scopes: frozenset[str] = frozenset()  # nodes in which a local name is known
    blocks: frozenset[str] = frozenset()  # nodes whose statements are run one after the other
    method_wrapper: tuple[str, str] = ("", "")  # what a method needs around it to be parsed alone
    find_name: FindName | None = None  # the kind and the name of a `declarator`, for languages that hide names in it
    imports: Imports | None = None
    hide: Callable[[bytes], list[tuple[int, int]]] | None = None  # stretches that the grammar cannot read: macros
    refine: Callable[[DefinitionDraft, Source], None] | None = None  # last word on one definition
    documentation: Callable[[Node], Node | None] | None = None  # documentation inside the definition
    comments: tuple[str, ...] = ("//", "/*", "*")  # how a line of comment (or attribute) above a definition starts
    wrappers: frozenset[str] = frozenset()  # parents that belong to a definition: decorators, `export`
    modifiers: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()  # names that never refer to a definition: `self`
    by_lines: Callable[[Source], ParsedFile] | None = None  # for formats that need no grammar
    most: int = 0  # definitions that one file may have; for formats that hold data. 0: no limit
    safe: bool = True  # small files may be parsed inside the asking process
    leaving: str = ""  # query for calls that leave a function, where no keyword does: `panic`
    line_patterns: tuple[
        tuple[str, str], ...
    ] = ()  # without a grammar: a kind, and the line that introduces a `name`
    tail_returns: bool = False  # the last expression of a function is what it returns
    dialect: LanguageDialect | None = None  # how its names are resolved; nothing: by name, among its own files
