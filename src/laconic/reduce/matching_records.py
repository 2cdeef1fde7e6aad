"""The records of a JSON document that a pattern finds, whole but for long texts, each with its path. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from laconic.reduce.pattern import compile_pattern, cut_around

if TYPE_CHECKING:
    from regex import Pattern

Path = tuple[str | int, ...]

_LONG: Final = 400  # characters of a value from which only what is around a match is given
_WIDE: Final = 1_500  # characters of a map or list inside a record that is given whole
_STEP: Final = 0.4  # seconds for one value


def find_records(document: object, pattern: str, seconds: float) -> list[tuple[str, str]]:
    """Path and text of each record that holds a value, or `name: value`, that the pattern finds, in their order.

    A record is the map in a list that a value is in, or else the value itself.
    """
    for written in (pattern, f"(?i:{pattern})"):
        found = _find(document, compile_pattern(written), time.monotonic() + seconds)
        if found:
            return found
    return []


def _find(document: object, rule: Pattern[str], until: float) -> list[tuple[str, str]]:
    records: dict[Path, object] = {}
    for path, name, value, owner in _walk(document, (), "", ()):
        if owner in records:
            continue
        left = min(_STEP, max(0.001, until - time.monotonic()))
        if rule.search(f"{name}: {_write_plain(value)}", timeout=left):
            if owner:
                records[owner] = _lookup(document, owner)
            else:
                records[path] = value
    found = []
    for path, record in records.items():
        found.append((write_path(path), _write_record(record, rule, until)))
    return found


def _walk(value: object, path: Path, name: str, owner: Path) -> Iterator[tuple[Path, str, object, Path]]:
    """The plain values, each with its path, its name, and the path of the record that it is in."""
    if isinstance(value, Mapping):
        inside = path if path and isinstance(path[-1], int) else owner
        for key, inner in value.items():
            yield from _walk(inner, (*path, str(key)), str(key), inside)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _walk(inner, (*path, place), name, owner)
    else:
        yield path, name, value, owner


def _lookup(document: object, path: Path) -> object:
    value: object = document
    for step in path:
        value = value[step]  # type: ignore[index]
    return value


def _write_record(record: object, rule: Pattern[str], until: float) -> str:
    def shorten(text: str) -> str:
        left = min(_STEP, max(0.001, until - time.monotonic()))
        around = cut_around(text, (match.span() for match in rule.finditer(text, timeout=left)))
        return around or f"{text[: _LONG // 4]}…"

    return msgspec.json.encode(_abridge(record, shorten, rule)).decode()


def _abridge(value: object, shorten: Callable[[str], str], rule: Pattern[str]) -> object:
    """A value with its long texts cut, and without what is large and does not match."""
    if isinstance(value, str):
        return value if len(value) <= _LONG else shorten(value)
    if not isinstance(value, dict | list):
        return value
    written = msgspec.json.encode(value).decode()
    if len(written) <= _WIDE:
        return value
    if isinstance(value, list):
        kept = [_abridge(inner, shorten, rule) for inner in value if rule.search(_write_plain(inner), timeout=_STEP)]
        return [*kept, f"… {len(value) - len(kept)} more"]
    return {name: _abridge(inner, shorten, rule) for name, inner in value.items()}


def _write_plain(value: object) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def write_path(path: Path) -> str:
    """A path as `select_path` reads it."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{msgspec.json.encode(step).decode()}]"
    return text
