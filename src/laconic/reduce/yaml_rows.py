"""Lists of records in plain YAML, as programs print them: maps, lists, texts. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_KEY: Final = re.compile(r"(?P<key>[\w./$@-][\w ./$@-]{0,100}|\"[^\"]{1,100}\"|'[^']{1,100}'):(?: +(?P<value>.*))?$")
_TEXT: Final = re.compile(r"[|>][+-]?\d?$")
_FEWEST: Final = 3  # records
_DEEPEST: Final = 20
_LONGEST: Final = 1_000_000  # characters that are read


class _NotPlain(ValueError):
    """The text is YAML of another sort, or no YAML."""


def read_records(text: str) -> list[object]:
    """The records of a list; empty where the text is something else. Lines before the first that are comments go."""
    if len(text) > _LONGEST:
        return []
    lines = [line.rstrip() for line in text.split("\n") if line.strip() and not line.startswith("#")]
    if not lines or not lines[0].startswith("- ") or not all(line.startswith(("- ", "  ", "-")) for line in lines):
        return []
    try:
        records = _read_list(lines, 0)
    except _NotPlain:
        return []
    if len(records) < _FEWEST or not all(isinstance(record, dict) for record in records):
        return []
    return records


def _read_list(lines: Sequence[str], depth: int) -> list[object]:
    """Lines that begin at the margin with a dash, each with the deeper ones after it."""
    items: list[list[str]] = []
    for line in lines:
        if line.startswith("- ") or line == "-":
            items.append([line[2:]])
        elif items and line.startswith("  "):
            items[-1].append(line[2:])
        else:
            raise _NotPlain
    return [_read_value([line for line in item if line.strip()], depth + 1) for item in items]


def _read_value(lines: Sequence[str], depth: int) -> object:
    if depth > _DEEPEST:
        raise _NotPlain
    if not lines:
        return None
    if lines[0].startswith("- ") or lines[0] == "-":
        return _read_list(lines, depth)
    if _KEY.match(lines[0]):
        return _read_map(lines, depth)
    return " ".join(_plain(line.strip()) for line in lines)


def _read_map(lines: Sequence[str], depth: int) -> dict[str, object]:
    found: dict[str, object] = {}
    at = 0
    while at < len(lines):
        matched = _KEY.match(lines[at])
        if matched is None:
            raise _NotPlain
        end = at + 1
        while end < len(lines) and (
            lines[end].startswith(" ") or (not matched["value"] and lines[end].startswith("- "))
        ):
            end += 1
        found[_plain(matched["key"])] = _read_member(matched["value"] or "", lines[at + 1 : end], depth)
        at = end
    return found


def _read_member(value: str, below: Sequence[str], depth: int) -> object:
    """What follows a key: on its line, or on deeper lines."""
    value = value.strip()
    margin = min((len(line) - len(line.lstrip()) for line in below), default=0)
    inner = [line[margin:] for line in below]
    if _TEXT.match(value):
        return "\n".join(inner)
    if not value:
        return _read_value(inner, depth + 1)
    if value[0] in "&*!%@" or (value[0] in "{[" and value not in {"{}", "[]"}):
        raise _NotPlain
    return " ".join([_plain(value), *(line.strip() for line in inner)])


def _plain(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
