"""Which files an import means, by the rules of each language. What a module holds is not decided here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.meaning import UNKNOWN, Meaning
from laconic.index.resolve.modules import go, packages, python, rust, script, textual

Locate = Callable[[Code, SourceFile, str], Meaning]
Part = Callable[[Code, Meaning, str], Meaning]

_LOCATE: Final[dict[str, Locate]] = {
    "python": python.locate,
    "script": script.locate,
    "go": go.locate,
    "rust": rust.locate,
    "jvm": packages.locate,
    "csharp": packages.locate,
    "php": packages.locate,
    "c": textual.locate,
    "ruby": textual.locate,
}
_PART: Final[dict[str, Part]] = {"python": python.part, "rust": rust.part, "jvm": packages.part, "php": packages.part}


def locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module that a file names in an import: files of ours, something foreign, or not known."""
    rule = _LOCATE.get(source.dialect.family)
    if rule is None:
        return UNKNOWN
    key = ("module", source.folder, source.id if source.dialect.family == "rust" else 0, source.language, name)
    found = code.derived.get(key)
    if not isinstance(found, Meaning):
        found = code.derived[key] = rule(code, source, name)
    return found


def part(code: Code, whole: Meaning, family: str, name: str) -> Meaning:
    """A module inside a module, where a language has files for it."""
    rule = _PART.get(family)
    return rule(code, whole, name) if rule else UNKNOWN
