"""Tell the language of a file from its name, and from its first line when the name does not say."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from laconic.index.parse.language import Language, all_languages

_SHEBANG: Final = re.compile(rb"^#!\s*\S*?(?:/env\s+(?:-\S+\s+)*)?([A-Za-z]+)[\d.]*\s*(?:$|\s)", re.MULTILINE)
_CPP_HEADER: Final = re.compile(rb"^\s*(?:class|namespace|template|using|public:|private:)\b", re.MULTILINE)


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
    return {word: language.name for language in all_languages().values() for word in language.shebangs}


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
    if not found and name.startswith(("dockerfile", "containerfile", "makefile")):
        found = table.get(re.split(r"[.-]", name)[0])
    if found == "c" and name.endswith(".h") and _CPP_HEADER.search(head):
        found = "cpp"
    return all_languages().get(found) if found else None
