"""`recall` for results of foreign tools: whole, by lines, by pattern, or by a path into JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from laconic.errors import UsageError
from laconic.mcp_proxy.results import ResultReducer
from laconic.reduce.json_path import select_path

_BUDGET: Final = 6_000  # tokens
_WIDEST: Final = 2_000  # characters of a line


def recall(reducer: ResultReducer, given: Mapping[str, Any]) -> str:
    """What was archived, in the part that is asked for."""
    ref = str(given.get("ref", "")).strip().strip("[]`'\"")
    if not ref:
        raise UsageError("`ref` is missing.", "It stands in the last line of a result that was shortened.")
    archive = reducer.archive
    more = f"whole: recall {ref} with lines, grep or path"
    if path := str(given.get("path") or ""):
        try:
            value = msgspec.json.decode(archive.get(ref))
        except msgspec.DecodeError:
            raise UsageError(f"{ref} is not JSON.", "Use lines or grep.") from None
        found = select_path(value, path)
        text = found if isinstance(found, str) else msgspec.json.encode(found).decode()
        return reducer.fit(text, _BUDGET, more)
    if pattern := str(given.get("grep") or ""):
        rows = []
        for number, line in archive.matching(ref, pattern):
            rows.append(f"{number}: {line[:_WIDEST]}")
        return reducer.fit("\n".join(rows) or f"no line of {ref} matches {pattern}", _BUDGET, more)
    first, last = _range(str(given.get("lines") or ""))
    return reducer.fit("\n".join(archive.lines(ref, first, last)), _BUDGET, more)


def _range(text: str) -> tuple[int, int]:
    if not text.strip():
        return 1, 1_000_000_000
    numbers = re.findall(r"\d{1,9}", text)
    if not numbers:
        raise UsageError(f"{text!r} is not a range of lines.", "Write 40-80.")
    return int(numbers[0]), int(numbers[-1])
