"""A session of Gemini CLI: whole or as a log of changes, with tokens in each answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

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


def read_session(path: Path) -> RecordedSession | None:
    """One session; None if nobody said anything in it."""
    rows: list[Row] = []
    requests: list[RecordedRequest] = []
    model = ""
    last = 0.0
    for message in _messages(path):
        last = max(last, seconds_of(message.get("timestamp")))
        model = str(message.get("model") or model)
        if isinstance(message.get("tokens"), dict):
            at = seconds_of(message.get("timestamp"))
            requests.append(RecordedRequest(_usage(message["tokens"]), at, model))
        rows += _convert(message)
    transcript = transcript_of(path.stem, rows)
    if not transcript.messages:
        return None
    return RecordedSession(
        name=path.stem,
        title=title_of(transcript),
        project=path.parent.parent.name,
        model=model,
        last=last,
        requests=tuple(requests),
        transcript=transcript,
    )


def _messages(path: Path) -> list[Row]:
    """Messages by their id, each as it was last written."""
    found: dict[str, Row] = {}
    for row in _objects(path):
        changed = row.get("$set")
        if isinstance(changed, dict):
            listed = changed.get("messages")
        else:
            listed = row.get("messages")
        for message in listed if isinstance(listed, list) else [row]:
            if isinstance(message, dict) and message.get("id") and message.get("type"):
                found[str(message["id"])] = message
    return list(found.values())


def _objects(path: Path) -> list[Row]:
    """The whole file as one object, or one a line."""
    try:
        whole = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return list(read_rows(path))
    if isinstance(whole, dict):
        return [whole]
    return []


def _convert(message: Row) -> Iterator[Row]:
    """A message of Gemini's as messages of the chat form."""
    role = "user"
    if message.get("type") == "gemini":
        role = "assistant"
    if message.get("type") not in {"gemini", "user"}:
        return
    text = _text(message.get("content"))
    calls = [call for call in message.get("toolCalls") or [] if isinstance(call, dict)]
    made = []
    for call in calls:
        made.append({"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("args")}})
    yield {"role": role, "content": text, "tool_calls": made}
    for call in calls:
        result = call.get("result")
        yield {"role": "tool", "tool_call_id": call.get("id"), "content": _text(result) or _dump(result)}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and part.get("text"))


def _dump(value: object) -> str:
    return msgspec.json.encode(value).decode("utf-8", "replace")


def _usage(tokens: Row) -> RecordedUsage:
    cached = tokens_at(tokens, "cached")
    prompt = tokens_at(tokens, "input") + tokens_at(tokens, "tool")
    output = tokens_at(tokens, "output") + tokens_at(tokens, "thoughts")
    return RecordedUsage(max(0, prompt - cached), cached, 0, output)
