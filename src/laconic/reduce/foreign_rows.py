"""What a tool printed in a form of its own, in one that can be read: quoted texts as texts, rows as JSON. Pure.

Rows are Python's lists of maps, plain lists in YAML, and blocks of `Key: value`.
"""

from __future__ import annotations

import ast
import re
from typing import Final

import msgspec

from laconic.reduce.yaml_rows import read_records

_LONGEST: Final = 1_000_000  # characters that are read as Python
_FEWEST: Final = 3  # blocks that make a list
_KEY: Final = re.compile(r"([A-Za-z][\w -]{0,30}): ?(.*)")
_QUOTED: Final = re.compile(r'^"(?:[^"\\\n]|\\.){200,}"[ \t]*$', re.MULTILINE)
_GAP: Final = re.compile(r"\n[ \t]*\n+")


def open_strings(text: str) -> str:
    """The text with each line that is one long quoted string (JSON's) in the form that it has without its quotes."""
    if len(text) > _LONGEST or not _QUOTED.search(text):
        return text
    return _QUOTED.sub(_open, text)


def _open(match: re.Match[str]) -> str:
    try:
        return str(msgspec.json.decode(match[0], type=str))
    except (msgspec.DecodeError, UnicodeEncodeError):
        return match[0]


def rows_as_json(text: str) -> str:
    """The same rows as JSON, or nothing where the text is something else."""
    rows = read_python(text) or read_records(text) or _read_blocks(text)
    if not rows:
        return ""
    return msgspec.json.encode(rows).decode()


def read_python(text: str, fewest: int = _FEWEST) -> list[object]:
    """A list of maps or tuples that Python printed; empty where the text is something else."""
    start = text.lstrip()[:2]
    if start not in {"[{", "[("} or len(text) > _LONGEST or text.lstrip()[2:3] == '"':
        return []
    try:
        rows = ast.literal_eval(text.strip())
        msgspec.json.encode(rows)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return []
    return rows if isinstance(rows, list) and len(rows) >= fewest else []


def _read_blocks(text: str) -> list[object]:
    """Blocks with the same first key; what follows a value on further lines belongs to it."""
    body = text.strip()
    title, _, rest = body.partition("\n")
    if title.rstrip().endswith(":") and rest:
        body = rest
    blocks = _GAP.split(body)
    first = _KEY.match(blocks[0])
    if first is None or len(blocks) < _FEWEST:
        return []
    rows: list[dict[str, str]] = []
    for block in blocks:
        if not block.startswith(f"{first[1]}:") and rows:
            last = next(reversed(rows[-1]))
            rows[-1][last] += f"\n{block}"
            continue
        row = _read_block(block)
        if row is None:
            return []
        rows.append(row)
    if len(rows) < _FEWEST:
        return []
    return list(rows)


def _read_block(block: str) -> dict[str, str] | None:
    row: dict[str, str] = {}
    key = ""
    for line in block.split("\n"):
        found = _KEY.match(line)
        if found is not None and found[1] not in row:
            key = found[1]
            row[key] = found[2]
        elif key:
            row[key] += f"\n{line}"
        else:
            return None
    return row if len(row) > 1 else None
