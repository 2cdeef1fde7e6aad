"""Sessions of opencode: messages and their parts as JSON in one SQLite file, which is only read, or as it exports one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from laconic.sessions.recorded.record import (
    RecordedRequest,
    RecordedSession,
    RecordedUsage,
    Row,
    moment_at,
    title_of,
    tokens_at,
)
from laconic.sessions.transcripts import transcript_of

_MILLISECONDS = 1000


def read_database(path: Path, since: float = 0.0) -> Iterator[RecordedSession]:
    """The sessions of a database that went on since a moment."""
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            query = "SELECT id, title, directory, time_updated FROM session WHERE time_updated >= ?"
            for id, title, directory, updated in base.execute(query, (since * _MILLISECONDS,)).fetchall():
                yield _session(id, title, directory, updated / _MILLISECONDS, _rows(base, id))
    except sqlite3.Error:
        return  # another version of its tables


def read_export(whole: Row) -> RecordedSession:
    """A session as `opencode export` writes it."""
    info = whole.get("info")
    if not isinstance(info, dict):
        info = {}
    rows = []
    for row in whole.get("messages") or []:
        if isinstance(row, dict):
            rows.append(row)
    updated = moment_at(info, "time", "updated")
    return _session(
        str(info.get("id") or "export"),
        str(info.get("title") or ""),
        str(info.get("directory") or ""),
        updated,
        rows,
    )


def _rows(base: sqlite3.Connection, id: str) -> list[Row]:
    parts: dict[str, list[Row]] = {}
    query = "SELECT message_id, data FROM part WHERE session_id=? ORDER BY id"
    for message, data in base.execute(query, (id,)):
        parts.setdefault(message, []).append(_decode(data))
    rows: list[Row] = []
    query = "SELECT id, data FROM message WHERE session_id=? ORDER BY time_created, id"
    for message, data in base.execute(query, (id,)):
        rows.append({"info": _decode(data), "parts": parts.get(message, [])})
    return rows


def _session(id: str, title: str, project: str, last: float, rows: Sequence[Row]) -> RecordedSession:
    model = ""
    for row in rows:
        model = str(_info(row).get("modelID") or model)
    transcript = transcript_of(id, list(rows))
    return RecordedSession(
        name=id,
        title=title or title_of(transcript),
        project=project,
        model=model,
        last=last,
        requests=tuple(_requests(rows)),
        transcript=transcript,
    )


def _requests(rows: Sequence[Row]) -> Iterator[RecordedRequest]:
    """Each step of each answer. It was sent when the message was made, or when the last tool of it had ended."""
    compacted = False
    blocks = 0
    for row in rows:
        info, parts = _info(row), row.get("parts")
        asked = moment_at(info, "time", "created")
        is_summary = bool(info.get("summary")) and info.get("role") == "assistant"
        for part in parts if isinstance(parts, list) else []:
            kind = part.get("type")
            compacted = compacted or kind == "compaction" or is_summary
            if kind == "step-finish":
                yield RecordedRequest(
                    usage=_usage(part),
                    at=asked,
                    model=str(info.get("modelID") or ""),
                    compacted=compacted,
                    blocks=blocks,
                )
                compacted, blocks = is_summary, 0
            elif kind == "tool":
                blocks += 2  # the call and its result
                asked = moment_at(part, "state", "time", "end") or asked
            elif kind in {"text", "file", "reasoning"}:
                blocks += 1


def _info(row: Row) -> Row:
    info = row.get("info")
    if isinstance(info, dict):
        return info
    return {}


def _decode(text: str) -> Row:
    try:
        row = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return {}
    if isinstance(row, dict):
        return row
    return {}


def _usage(part: Row) -> RecordedUsage:
    tokens = part.get("tokens")
    return RecordedUsage(
        tokens_at(tokens, "input"),
        tokens_at(tokens, "cache", "read"),
        tokens_at(tokens, "cache", "write"),
        tokens_at(tokens, "output") + tokens_at(tokens, "reasoning"),
    )
