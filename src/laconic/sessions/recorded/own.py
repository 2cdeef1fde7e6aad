"""A session of our own agent."""

from __future__ import annotations

from pathlib import Path

from laconic.sessions.recorded.record import RecordedSession, Row, read_rows
from laconic.sessions.transcripts import transcript_of


def read_session(path: Path) -> RecordedSession | None:
    """One session; None if nobody said anything in it."""
    rows = list(read_rows(path))
    begun = _begun(rows)
    transcript = transcript_of(path.stem, rows)
    if not transcript.messages:
        return None
    return RecordedSession(
        name=path.stem,
        title=str(begun.get("task") or ""),
        project=str(begun.get("root") or ""),
        model=str(begun.get("model") or ""),
        last=path.stat().st_mtime,
        requests=(),
        transcript=transcript,
    )


def _begun(rows: list[Row]) -> Row:
    begun = rows[0].get("begun") if rows else None
    if isinstance(begun, dict):
        return begun
    return {}
