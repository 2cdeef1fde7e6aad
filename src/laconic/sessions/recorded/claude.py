"""A session of Claude Code: one line a block, with the usage of the whole answer in each."""

from __future__ import annotations

from pathlib import Path

from laconic.sessions.recorded.record import (
    RecordedSession,
    RecordedUsage,
    Row,
    number_at,
    read_rows,
    seconds_of,
    title_of,
)
from laconic.sessions.transcripts import transcript_of


def read_session(path: Path) -> RecordedSession | None:
    """One session; None if nobody said anything in it."""
    rows = list(read_rows(path))
    marks = [row["isSidechain"] for row in rows if "isSidechain" in row]
    if marks and all(marks):  # a sub-agent: a conversation of its own
        rows = [{**row, "isSidechain": False} for row in rows]
    usages: dict[str, RecordedUsage] = {}
    model = project = summary = ""
    last = 0.0
    for row in rows:
        last = max(last, seconds_of(row.get("timestamp")))
        project = project or str(row.get("cwd") or "")
        if row.get("type") == "summary":
            summary = str(row.get("summary") or "")
        message = row.get("message")
        if isinstance(message, dict) and isinstance(message.get("usage"), dict) and not row.get("isSidechain"):
            key = f"{message.get('id')} {row.get('requestId')}"
            usages[key] = _usage(message["usage"])
            model = str(message.get("model") or model)
    transcript = transcript_of(path.stem, rows)
    if not transcript.messages:
        return None
    return RecordedSession(
        name=path.stem,
        title=summary or title_of(transcript),
        project=project,
        model=model,
        last=last,
        requests=tuple(usages.values()),
        transcript=transcript,
    )


def _usage(row: Row) -> RecordedUsage:
    return RecordedUsage(
        number_at(row, "input_tokens"),
        number_at(row, "cache_read_input_tokens"),
        number_at(row, "cache_creation_input_tokens"),
        number_at(row, "output_tokens"),
    )
