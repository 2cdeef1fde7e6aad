"""Sessions of opencode: messages and their parts as JSON in one SQLite file, which is only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from laconic.sessions.recorded.record import RecordedSession, RecordedUsage, Row, number_at, title_of
from laconic.sessions.transcripts import transcript_of


def read_database(path: Path, since: float) -> Iterator[RecordedSession]:
    """The sessions in a file that went on since a moment."""
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            query = "SELECT id, title, directory, time_updated FROM session WHERE time_updated >= ?"
            for id, title, directory, updated in base.execute(query, (since * 1000,)).fetchall():
                yield _read(base, id, title, directory, updated / 1000)
    except sqlite3.Error:
        return  # another version of its tables


def _read(base: sqlite3.Connection, id: str, title: str, project: str, last: float) -> RecordedSession:
    parts: dict[str, list[Row]] = {}
    query = "SELECT message_id, data FROM part WHERE session_id=? ORDER BY id"
    for message, data in base.execute(query, (id,)):
        parts.setdefault(message, []).append(_decode(data))
    rows: list[Row] = []
    requests: list[RecordedUsage] = []
    model = ""
    query = "SELECT id, data FROM message WHERE session_id=? ORDER BY time_created, id"
    for message, data in base.execute(query, (id,)):
        info = _decode(data)
        model = str(info.get("modelID") or model)
        rows.append({"info": info, "parts": parts.get(message, [])})
        for part in parts.get(message, []):
            if part.get("type") == "step-finish":
                requests.append(_usage(part))
    transcript = transcript_of(id, rows)
    return RecordedSession(
        name=id,
        title=title or title_of(transcript),
        project=project,
        model=model,
        last=last,
        requests=tuple(requests),
        transcript=transcript,
    )


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
        number_at(tokens, "input"),
        number_at(tokens, "cache", "read"),
        number_at(tokens, "cache", "write"),
        number_at(tokens, "output") + number_at(tokens, "reasoning"),
    )
