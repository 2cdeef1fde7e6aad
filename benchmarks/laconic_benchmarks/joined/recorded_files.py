"""The files of a recorded session as far as its reads show them: one version for each time that a file was changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from laconic.conversation.replay import Json

_ROW: Final = re.compile(r"\s*(\d{1,7})(?:→|\t)(.*)")
_UNKNOWN: Final = "… line {} was never shown in the recording"
_FEWEST: Final = 2  # rows that make a listing
_READS: Final = frozenset({"Read", "read"})
_CHANGES: Final = frozenset({"Edit", "MultiEdit", "Write", "edit_file", "edit", "write"})
_PATHS: Final = ("file_path", "filePath", "path")


@dataclass(slots=True)
class FileVersion:
    """What is known of a file between two changes."""

    path: str
    lines: dict[int, str] = field(default_factory=dict)

    def text(self) -> str:
        """The file, with a line of ours in the place of each that nobody saw."""
        rows = []
        for number in range(1, max(self.lines) + 1):
            rows.append(self.lines.get(number, _UNKNOWN.format(number)))
        return "\n".join(rows) + "\n"


@dataclass(frozen=True, slots=True)
class RecordedRead:
    """One read: what it showed, of which version."""

    version: FileVersion
    first: int
    last: int


def find_reads(messages: Sequence[Json]) -> dict[str, RecordedRead]:
    """The reads of a session by the ids of their calls."""
    found: dict[str, RecordedRead] = {}
    current: dict[str, FileVersion] = {}
    calls: dict[str, Json] = {}
    for block in blocks_of(messages):
        if block.get("type") == "tool_use":
            calls[str(block["id"])] = block
        call = calls.get(str(block.get("tool_use_id")))
        if block.get("type") != "tool_result" or call is None:
            continue
        path = path_of(call)
        if path and call["name"] in _CHANGES and not block.get("is_error"):
            current.pop(path, None)
        if not path or call["name"] not in _READS:
            continue
        rows = read_rows(text_of(block))
        if len(rows) < _FEWEST:
            continue
        version = current.get(path)
        if version is None or _contradicts(version.lines, rows):
            version = current[path] = FileVersion(path)
        version.lines.update(rows)
        found[str(call["id"])] = RecordedRead(version, min(rows), max(rows))
    return found


def blocks_of(messages: Sequence[Json]) -> list[Json]:
    """All blocks in order."""
    found: list[Json] = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            found += [block for block in content if isinstance(block, dict)]
    return found


def path_of(call: Json) -> str:
    """The file that a call names."""
    given = call.get("input")
    if not isinstance(given, dict):
        return ""
    for name in _PATHS:
        if isinstance(given.get(name), str):
            return str(given[name])
    return ""


def read_rows(text: str) -> dict[int, str]:
    """The numbered lines of a listing, which ascend by one."""
    rows: dict[int, str] = {}
    for line in text.split("\n"):
        match = _ROW.fullmatch(line)
        if match and (not rows or int(match[1]) == max(rows) + 1):
            rows[int(match[1])] = match[2]
    return rows


def text_of(block: Json) -> str:
    """The text of a result."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def _contradicts(known: Mapping[int, str], rows: Mapping[int, str]) -> bool:
    """Whether the file was changed by something that the recording does not name."""
    return any(known.get(number, line) != line for number, line in rows.items())
