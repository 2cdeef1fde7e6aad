"""A session of Claude Code: one line a block, with the usage of the whole answer in each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from laconic.sessions.recorded.record import (
    RecordedRequest,
    RecordedSession,
    RecordedUsage,
    Row,
    read_rows,
    title_of,
    tokens_at,
)
from laconic.sessions.transcripts import seconds_of, transcript_of

_BOUNDARY: Final = "compact_boundary"


def read_session(path: Path) -> RecordedSession | None:
    """One session; None if nobody said anything in it."""
    rows = list(read_rows(path))
    marks = []
    for row in rows:
        if "isSidechain" in row:
            marks.append(row["isSidechain"])
    if marks and all(marks):  # a sub-agent: a conversation of its own
        rows = [{**row, "isSidechain": False} for row in rows]
    model = project = summary = ""
    last = 0.0
    for row in rows:
        last = max(last, seconds_of(row.get("timestamp")))
        project = project or str(row.get("cwd") or "")
        if row.get("type") == "summary":
            summary = str(row.get("summary") or "")
        message = row.get("message")
        if isinstance(message, dict) and isinstance(message.get("usage"), dict) and not row.get("isSidechain"):
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
        requests=tuple(_requests(rows)),
        transcript=transcript,
    )


def _requests(rows: Sequence[Row]) -> list[RecordedRequest]:
    """Each answer once. A request was sent when the row before its answer was written."""
    found: dict[str, RecordedRequest] = {}
    asked = 0.0
    blocks = counted = 0  # of the conversation so far, and as the request before had them
    compacted = False
    for row in rows:
        if row.get("isSidechain"):
            continue
        if row.get("subtype") == _BOUNDARY or row.get("isCompactSummary"):
            compacted = True
        message = row.get("message")
        if not isinstance(message, dict):
            continue
        if not isinstance(message.get("usage"), dict):
            asked = seconds_of(row.get("timestamp")) or asked
            blocks += _count_blocks(message)
            continue
        key = f"{message.get('id')} {row.get('requestId')}"
        known = found.get(key)
        if known is None:
            known = RecordedRequest(
                usage=RecordedUsage(),
                at=asked or seconds_of(row.get("timestamp")),
                model=str(message.get("model") or ""),
                compacted=compacted,
                blocks=blocks - counted,
            )
            counted, compacted = blocks, False
        found[key] = RecordedRequest(
            usage=_usage(message["usage"]),
            at=known.at,
            model=known.model,
            compacted=known.compacted,
            blocks=known.blocks,
        )
        blocks += _count_blocks(message)
    return list(found.values())


def _count_blocks(message: Row) -> int:
    content = message.get("content")
    if isinstance(content, list):
        return len(content)
    return 1


def _usage(row: Row) -> RecordedUsage:
    return RecordedUsage(
        input=tokens_at(row, "input_tokens"),
        cache_read=tokens_at(row, "cache_read_input_tokens"),
        cache_write=tokens_at(row, "cache_creation_input_tokens"),
        output=tokens_at(row, "output_tokens"),
        long=tokens_at(row, "cache_creation", "ephemeral_1h_input_tokens"),
    )
