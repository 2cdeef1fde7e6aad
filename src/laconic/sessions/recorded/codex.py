"""A session of Codex: one line an item, with a count of tokens after each answer."""

from __future__ import annotations

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

_COMPACTED: Final = frozenset({"compacted", "context_compacted"})


def read_session(path: Path) -> RecordedSession | None:
    """One session; None if nobody said anything in it."""
    messages: list[Row] = []
    model = project = ""
    last = 0.0
    counts = _RequestCounts()
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
        counts.read(row, payload, model)
    transcript = transcript_of(path.stem, messages)
    if not transcript.messages:
        return None
    return RecordedSession(
        name=path.stem,
        title=title_of(transcript),
        project=project,
        model=model,
        last=last,
        requests=tuple(counts.requests),
        transcript=transcript,
    )


class _RequestCounts:
    """The requests of a session, from its rows in order. One was sent when the last row before its answer was written."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self._total = 0  # tokens so far: the same count may be written twice
        self._asked = 0.0
        self._blocks = 0
        self._compacted = False

    def read(self, row: Row, payload: Row, model: str) -> None:
        if row.get("type") in _COMPACTED or payload.get("type") in _COMPACTED:
            self._compacted = True
        if row.get("type") == "response_item":
            self._blocks += 1
            if payload.get("role") == "user" or str(payload.get("type")).endswith("_output"):
                self._asked = seconds_of(row.get("timestamp"))
        if payload.get("type") != "token_count" or not isinstance(payload.get("info"), dict):
            return
        total = tokens_at(payload["info"], "total_token_usage", "total_tokens")
        if total <= self._total:
            return
        self._total = total
        request = RecordedRequest(
            usage=_usage(payload["info"].get("last_token_usage") or {}),
            at=self._asked or seconds_of(row.get("timestamp")),
            model=model,
            compacted=self._compacted,
            blocks=self._blocks,
        )
        self.requests.append(request)
        self._asked, self._blocks, self._compacted = 0.0, 0, False


def _usage(row: Row) -> RecordedUsage:
    cached, written = tokens_at(row, "cached_input_tokens"), tokens_at(row, "cache_write_input_tokens")
    plain = tokens_at(row, "input_tokens") - cached - written
    return RecordedUsage(max(0, plain), cached, written, tokens_at(row, "output_tokens"))
