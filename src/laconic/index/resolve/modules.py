"""Which files an import means, as the asking file's language says. What a module holds is not decided here."""

from __future__ import annotations

from laconic.index.languages import dialect_of
from laconic.index.name_meaning import FOREIGN, UNKNOWN, Meaning
from laconic.index.resolve.code import Code, SourceFile


def locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module that a file names in an import: files of ours, something foreign, or not known."""
    dialect = source.dialect
    if dialect.locate is None:
        return UNKNOWN
    own = source.id if dialect.modules_by_file else 0
    key = ("module", source.folder, own, source.language, name)
    found = code.derived.get(key)
    if not isinstance(found, Meaning):
        found = dialect.locate(code, source, name)
        if found.files and not code.admits(source, name, found.files):
            found = FOREIGN
        code.derived[key] = found
    return found


def find_part(code: Code, whole: Meaning, name: str) -> Meaning:
    """A module inside a module, where a language has files for it."""
    language = whole.language
    if not language and whole.files:
        language = code.sources[whole.files[0]].language
    rule = dialect_of(language).find_part
    if rule:
        return rule(code, whole, name)
    return UNKNOWN
