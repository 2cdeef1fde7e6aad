"""Parse one file in this process. Nothing here guards against a grammar that hangs: the pool does."""

from __future__ import annotations

from msgspec.structs import replace

from laconic.index.language import Language
from laconic.index.parse.compiled import compile_language
from laconic.index.parse.definitions import outline, records
from laconic.index.parse.detect import HEAD, language_of
from laconic.index.parse.outline_from_lines import outline_by_lines
from laconic.index.parse.references import references
from laconic.index.parse.source import Source
from laconic.index.parse.tree import parse_tree
from laconic.records import ParsedFile


def parse(path: str, data: bytes) -> ParsedFile:
    """Everything that one file says about itself; a file in no known language has only lines."""
    language = language_of(path, data[:HEAD])
    if language is None:
        return ParsedFile("", Source(path, data).count)
    return parse_as(language, path, data)


def parse_as(language: Language, path: str, data: bytes) -> ParsedFile:
    """The same for a language that is already known."""
    source = Source(path, data)
    if language.by_lines is not None:
        return language.by_lines(source)
    ready = compile_language(language.name)
    if ready is None:
        return outline_by_lines(language, source)
    root = parse_tree(ready, data)
    if root is None:
        return replace(outline_by_lines(language, source), faults=1)
    made = outline(ready, source, root)
    return ParsedFile(
        language=language.name,
        lines=source.count,
        definitions=records(made, language, source),
        references=references(ready, source, root, made),
        imports=tuple(made.imports),
        exports=tuple(dict.fromkeys(made.exports)),
        package=made.package,
        faults=int(root.has_error),
    )
