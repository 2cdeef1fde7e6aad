"""Tell the language of a file from its name, and from its first line when the name does not say."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from laconic.index.language import Language
from laconic.index.languages import all_languages

HEAD: Final = 32_768  # bytes that tell the language of a file; a header may begin with a long comment
_SHEBANG: Final = re.compile(rb"^#!\s*\S*?(?:/env\s+(?:-\S+\s+)*)?([A-Za-z]+)[\d.]*\s*(?:$|\s)", re.MULTILINE)


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Lower-case file names and suffixes, each with its language."""
    table: dict[str, str] = {}
    for language in all_languages().values():
        for name in (*language.filenames, *language.extensions):
            table[name.lower()] = language.name
    return table


@lru_cache(maxsize=1)
def _interpreters() -> dict[str, str]:
    found: dict[str, str] = {}
    for language in all_languages().values():
        for word in language.shebangs:
            found[word] = language.name
    return found


@lru_cache(maxsize=1)
def _prefixes() -> dict[str, str]:
    found: dict[str, str] = {}
    for language in all_languages().values():
        for word in language.prefixes:
            found[word.lower()] = language.name
    return found


def language_of(path: str, head: bytes = b"") -> Language | None:
    """The language of a file, or nothing when it is not one that we know."""
    name = path.rsplit("/", 1)[-1].lower()
    table = _names()
    found = table.get(name)
    start = name.find(".", 1)
    while not found and start > 0:  # the longest suffix wins: `.d.ts` before `.ts`
        found = table.get(name[start:])
        start = name.find(".", start + 1)
    if not found and head.startswith(b"#!") and (match := _SHEBANG.match(head)):
        found = _interpreters().get(match[1].decode().lower())
    if not found:
        found = _prefixes().get(re.split(r"[.-]", name)[0])
    if not found:
        return None
    language = all_languages()[found]
    if language.tell:
        return all_languages()[language.tell(name, head)]
    return language
