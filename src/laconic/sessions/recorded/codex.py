"""A session of Codex: one line an item, with a count of tokens after each answer."""

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
