"""Sessions of our own agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from laconic.sessions.recorded.record import RecordedSession, Row, files_since, read_rows
from laconic.sessions.transcripts import transcript_of

CLIENT = "laconic agent"


def find_sessions(folder: Path, since: float) -> Iterator[RecordedSession]:
    """Those in the agent's folder that went on since a moment."""
    for path in files_since(folder, "*.jsonl", since):
        rows = list(read_rows(path))
        begun = _begun(rows)
        transcript = transcript_of(path.stem, rows)
        if transcript.messages:
            yield RecordedSession(
                client=CLIENT,
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
