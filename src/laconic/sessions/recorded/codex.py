"""Sessions of Codex: `sessions/YEAR/MONTH/DAY/rollout-*.jsonl`, with a count of tokens after each answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from laconic.sessions.recorded.record import (
    RecordedSession,
    RecordedUsage,
    Row,
    files_since,
    number_at,
    read_rows,
    seconds_of,
    title_of,
)
from laconic.sessions.transcripts import transcript_of

CLIENT = "Codex"


def find_sessions(folder: Path, since: float) -> Iterator[RecordedSession]:
    """Those below Codex's folder that went on since a moment."""
    for name in ("sessions", "archived_sessions"):
        for path in files_since(folder / name, "**/*.jsonl", since):
            session = _read(path)
            if session is not None:
                yield session


def _read(path: Path) -> RecordedSession | None:
    messages: list[Row] = []
    requests: list[RecordedUsage] = []
    model = project = ""
    last = 0.0
    total = 0
    for row in read_rows(path):
        last = max(last, seconds_of(row.get("timestamp")))
        payload = row.get("payload")
        if not isinstance(payload, dict):
            continue
        project = project or str(payload.get("cwd") or "")
        if row.get("type") == "turn_context":
            model = str(payload.get("model") or model)
        elif row.get("type") == "response_item":
            messages.append(row)
        elif payload.get("type") == "token_count" and isinstance(payload.get("info"), dict):
            now = number_at(payload["info"], "total_token_usage", "total_tokens")
            if now > total:  # the same count may be written twice
                total = now
                requests.append(_usage(payload["info"].get("last_token_usage") or {}))
    transcript = transcript_of(path.stem, messages)
    if not transcript.messages:
        return None
    return RecordedSession(
        client=CLIENT,
        name=path.stem,
        title=title_of(transcript),
        project=project,
        model=model,
        last=last,
        requests=tuple(requests),
        transcript=transcript,
    )


def _usage(row: Row) -> RecordedUsage:
    cached, written = number_at(row, "cached_input_tokens"), number_at(row, "cache_write_input_tokens")
    plain = number_at(row, "input_tokens") - cached - written
    return RecordedUsage(max(0, plain), cached, written, number_at(row, "output_tokens"))
