"""Read a git configuration file as data: nothing that it names is opened, included or run."""

from __future__ import annotations

import re
from typing import Final

_SECTION: Final = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_KEY: Final = re.compile(r"\s*([A-Za-z][\w-]*)\s*(=?)")
_VALUE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|\\(.)|([^"\\#;]+)|([#;].*)')
_ESCAPED: Final = re.compile(r"\\(.)")
_LETTERS: Final = {"n": "\n", "t": "\t", "b": "\b"}


def parse_config(text: str) -> dict[str, str]:
    """Names such as `core.autocrlf` and their values, the last of each; a name without a value is `true`."""
    return dict(list_config(text))


def list_config(text: str) -> list[tuple[str, str]]:
    """The same in the order in which they are written, all of each."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        rest = line
        while header := _SECTION.match(rest):
            if header[2] is not None:
                name = _unescape(header[2])
            else:
                name = None
            if name is None:
                section = header[1].lower()
            else:
                section = f"{header[1].lower()}.{name}"
            rest = rest[header.end() :]
        if section and (key := _KEY.match(rest)):
            found.append((f"{section}.{key[1].lower()}", _value(rest[key.end() :]) if key[2] else "true"))
    return found


def _value(text: str) -> str:
    """A value without its quotes, its comment, and the white space around it."""
    parts: list[str] = []
    for quoted, letter, plain, comment in _VALUE.findall(text.strip()):
        if comment:
            if parts:
                parts[-1] = parts[-1].rstrip()
            break
        parts.append(_unescape(quoted) or _LETTERS.get(letter, letter) or plain)
    return "".join(parts)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), text)
