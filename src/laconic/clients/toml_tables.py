"""Put a table into a TOML file, or take it out, and leave every other line as it is. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from laconic.errors import UsageError

_BARE_KEY: Final = re.compile(r"[\w-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Statement:
    kind: str  # table, assignment, trivia
    text: str
    name: tuple[str, ...] = ()  # of the table that it opens, or of the key


def parse(text: str) -> dict[str, Any]:
    """What the text means."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"That is not TOML: {error}.", "Fix the file, or use --print and edit it by hand.") from None


def put(text: str, table: tuple[str, ...], values: Mapping[str, object]) -> str:
    """The text with these keys in the table; other keys of the table stay."""
    held = _at(parse(text), table)
    if held is not None and all(held.get(key) == value for key, value in values.items()):
        return text
    wanted = {**(held or {}), **values}
    if (inline := _inline(text, table, wanted)) is not None:
        return _check(inline, table, wanted, text)
    line = "\n"
    if "\r\n" in text:
        line = "\r\n"
    rows = "".join(f"{key} = {_dump(value)}{line}" for key, value in values.items())
    header = f"[{'.'.join(table)}]{line}"
    if held is None:
        changed = _end_line(text, line) + (line if text.strip() else "") + header + rows
    else:
        changed = _replace_rows(text, table, rows, values)
    return _check(changed, table, wanted, text)


def take(text: str, table: tuple[str, ...]) -> str:
    """The text without the table and the tables inside it."""
    if _at(parse(text), table) is None:
        return text
    if (inline := _inline(text, table, None)) is not None:
        return _check(inline, table, None, text)
    kept: list[str] = []
    ours, waiting = False, ""
    for statement in _statements(text):
        if statement.kind == "trivia":
            waiting += statement.text  # a comment above the next table belongs to that table
            continue
        if statement.kind == "table":
            inside = statement.name[: len(table)] == table
            if inside:
                waiting = waiting.rstrip("\r\n") + ("\n" if waiting.strip() else "")
            elif ours and not waiting.strip():
                waiting = ""
                if kept:
                    waiting = "\n"
            ours = inside
        kept.append(waiting if not ours or statement.kind == "table" else "")
        waiting = ""
        if not ours:
            kept.append(statement.text)
    changed = "".join(kept) + (waiting if not ours else waiting.lstrip("\r\n"))
    return _check(changed, table, None, text)


def _check(changed: str, table: tuple[str, ...], wanted: object, before: str) -> str:
    """The changed text, if it says what is wanted of the table and of all else what it said before."""
    held = _read(changed)
    if held is None or _at(held, table) != wanted or _apart(changed, table) != _apart(before, table):
        raise UsageError("Laconic does not understand the layout of the file.", "Use --print and edit it by hand.")
    return changed


def _inline(text: str, table: tuple[str, ...], wanted: Mapping[str, object] | None) -> str | None:
    """The change where the outer table is one value, `servers = { ... }`; None where it is not."""
    parts: list[str] = []
    found = False
    opened = False  # a header was passed: what follows is inside of another table
    for statement in _statements(text):
        opened = opened or statement.kind == "table"
        name, sign, _ = statement.text.partition("=")
        if not opened and statement.kind == "assignment" and name.strip() == table[0]:
            outer = dict(_at(parse(statement.text), table[:1]))
            outer.pop(table[1], None)
            if wanted is not None:
                outer[table[1]] = wanted
            rest = statement.text[statement.text.rindex("}") + 1 :]
            parts.append(f"{name}{sign} {_dump(outer)}{rest}")
            found = True
        else:
            parts.append(statement.text)
    if found:
        return "".join(parts)
    return None


def _replace_rows(text: str, table: tuple[str, ...], rows: str, values: Mapping[str, object]) -> str:
    """New rows under the table's header, without the rows that they replace."""
    parts: list[str] = []
    ours = False
    for statement in _statements(text):
        if statement.kind == "table":
            ours = statement.name == table
        if ours and statement.kind == "assignment" and statement.name[0] in values:
            continue
        parts.append(statement.text)
        if ours and statement.kind == "table":
            parts.append(rows)
    return "".join(parts)


def _statements(text: str) -> Iterator[_Statement]:
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        bare = lines[at].strip()
        if not bare or bare.startswith("#"):
            yield _Statement("trivia", lines[at])
            at += 1
            continue
        size = 1
        while (held := _read("".join(lines[at : at + size]))) is None and at + size < len(lines):
            size += 1  # a value over several lines ends where it can be read
        kind = "assignment"
        if bare.startswith("["):
            kind = "table"
        yield _Statement(kind, "".join(lines[at : at + size]), _name(held or {}, whole=kind == "table"))
        at += size


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _name(held: Any, *, whole: bool) -> tuple[str, ...]:
    """The dotted name that a single statement defines."""
    names: list[str] = []
    while isinstance(held, dict) and len(held) == 1 and (whole or not names):
        (key,) = held
        names.append(key)
        held = held[key]
        if whole and isinstance(held, list) and held:
            held = held[0]
    return tuple(names)


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _apart(text: str, table: Sequence[str]) -> Any:
    """All that the text says, except of this table."""

    def without(value: Any, path: Sequence[str]) -> Any:
        held = {}
        for key, item in value.items():
            if key != path[0]:
                held[key] = item
        if len(path) > 1 and isinstance(value.get(path[0]), dict):
            inner = without(value[path[0]], path[1:])
            if inner:
                return {**held, path[0]: inner}
            return held
        return held

    return without(parse(text), table)


def _end_line(text: str, line: str) -> str:
    if not text or text.endswith("\n"):
        return text
    return text + line


def _dump(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_dump(item) for item in value) + "]"
    if isinstance(value, Mapping):
        rows = []
        for key, item in value.items():
            rows.append(f"{_dump_key(key)} = {_dump(item)}")
        if rows:
            return "{ " + ", ".join(rows) + " }"
        return "{}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _dump_key(key: str) -> str:
    if _BARE_KEY.fullmatch(key):
        return key
    return json.dumps(key, ensure_ascii=False)
