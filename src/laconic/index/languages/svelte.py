"""Svelte, Vue and Astro components: their script is read as TypeScript, the rest is passed over."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from laconic.index.language import Language
from laconic.index.languages.javascript import SCRIPT
from laconic.index.parse.source import Source
from laconic.records import ParsedFile

_SCRIPT: Final = re.compile(rb"<script\b[^>]*>(.*?)</script\s*>|\A---\r?\n(.*?)\n---", re.DOTALL | re.IGNORECASE)
_OTHER: Final = re.compile(rb"[^\n]")


def _component(name: str, extension: str) -> Language:
    def parse(source: Source) -> ParsedFile:
        from laconic.index.languages import all_languages
        from laconic.index.parse.extract import parse_as  # it imports what this module is part of

        blank = _blank(source.data)
        read = parse_as(all_languages()["typescript"], source.path, blank)
        return msgspec.structs.replace(read, language=name)

    return Language(name=name, extensions=(extension,), by_lines=parse, dialect=SCRIPT)


def _blank(data: bytes) -> bytes:
    """The file with everything outside its scripts turned into spaces, so that lines and columns stay."""
    parts: list[bytes] = []
    done = 0
    for match in _SCRIPT.finditer(data):
        start, end = match.span(1) if match[1] is not None else match.span(2)
        parts += [_OTHER.sub(b" ", data[done:start]), data[start:end]]
        done = end
    return b"".join([*parts, _OTHER.sub(b" ", data[done:])])


LANGUAGES: Final = (_component("svelte", ".svelte"), _component("vue", ".vue"), _component("astro", ".astro"))
