"""`recall` for results of foreign tools: whole, by lines, by pattern, or by a path into JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from laconic.errors import UsageError
from laconic.mcp_proxy.results import ResultReducer
from laconic.reduce.foreign_rows import rows_as_json
from laconic.reduce.json_path import select_path
from laconic.reduce.matching_records import find_records
from laconic.reduce.pattern import find_passages
from laconic.reduce.text.wanted_words import find_words

_BUDGET: Final = 6_000  # tokens
_ABOUT: Final = 1_500  # tokens, for a question
_LAST: Final = 1_000_000_000
_SECONDS: Final = 3.0  # for a pattern
_AROUND: Final = 2  # lines around those that a pattern finds


def recall(reducer: ResultReducer, given: Mapping[str, Any]) -> str:
    """What was archived, in the part that is asked for."""
    ref = str(given.get("ref", "")).strip().strip("[]`'\"")
    if not ref:
        raise UsageError("`ref` is missing.", "It is in the last line of a shortened result.")
    more = f"whole: recall {ref} with about, grep, lines or path"
    pattern = str(given.get("grep") or "")
    if path := str(given.get("path") or ""):
        found = _select(reducer, ref, path)
        if pattern:
            found = _grep(found, pattern) or f"nothing at {path} of {ref} matches {pattern}"
        return reducer.fit(found, _BUDGET, more)
    if pattern:
        text = reducer.archive.get(ref).decode("utf-8", "replace")
        found = _grep(text, pattern)
        return reducer.fit(found or f"nothing of {ref} matches {pattern}", _BUDGET, more)
    if about := str(given.get("about") or ""):
        text = reducer.archive.get(ref).decode("utf-8", "replace")
        return reducer.reduce(text, _ABOUT, more, find_words(about))
    first, last = _range(str(given.get("lines") or ""))
    lines = reducer.archive.lines(ref, first, last)
    if not lines:
        return f"{ref} has {len(reducer.archive.lines(ref, 1, _LAST))} lines: ask for some of those."
    return reducer.fit("\n".join(lines), _BUDGET, more)


def _select(reducer: ResultReducer, ref: str, path: str) -> str:
    """What lies at a path of archived JSON: a text as it is, anything else as JSON."""
    try:
        value = msgspec.json.decode(reducer.archive.get(ref))
    except (msgspec.DecodeError, RecursionError):
        raise UsageError(f"{ref} is not JSON.", "Use lines or grep.") from None
    found = select_path(value, path)
    if isinstance(found, str):
        return found
    if isinstance(found, list):  # one item a line, so that a pattern finds items
        return "[" + ",\n".join(msgspec.json.encode(item).decode() for item in found) + "]"
    return msgspec.json.encode(found).decode()


def _grep(text: str, pattern: str) -> str:
    """The records of a JSON document that match, or the lines of anything else."""
    try:
        document = _read_rows(text)
        if document is not None:
            records = find_records(document, pattern, _SECONDS)
            return "\n".join(f"{path}: {record}" for path, record in records)
        return _number(find_passages(text.split("\n"), pattern, _SECONDS, _AROUND))
    except TimeoutError:
        raise UsageError(f"{pattern!r} takes too long.", "Simplify it, or ask for a smaller part.") from None


def _read_rows(text: str) -> dict[str, object] | list[object] | None:
    """The JSON document that a text is, or the rows that it prints in a form of its own."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        rows = rows_as_json(text)
        found = msgspec.json.decode(rows) if rows else None
    return found if isinstance(found, dict | list) else None


def _number(lines: Iterable[tuple[int, str]]) -> str:
    return "\n".join(f"{number}: {line}" for number, line in lines)


def _range(text: str) -> tuple[int, int]:
    if not text.strip():
        return 1, _LAST
    numbers = re.findall(r"\d{1,9}", text)
    if not numbers:
        raise UsageError(f"{text!r} is not a range of lines.", "Write 40-80.")
    return int(numbers[0]), int(numbers[-1])
