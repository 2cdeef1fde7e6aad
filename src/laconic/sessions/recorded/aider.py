"""Sessions of aider: all in one file, with the tokens of each answer in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from laconic.sessions.recorded.record import RecordedRequest, RecordedSession, RecordedUsage, Row, title_of
from laconic.sessions.transcripts import transcript_of

_START: Final = re.compile(r"^# aider chat started at (.+)$", re.MULTILINE)
_TOKENS: Final = re.compile(
    r"^> Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?"
    r", ([\d.,]+[kM]?) received"
)
_MODEL: Final = re.compile(r"^> (?:Main m|M)odel: (\S+)")
_UNITS: Final = {"k": 1_000, "M": 1_000_000}


def read_history(path: Path, since: float) -> Iterator[RecordedSession]:
    """The sessions in a file that began since a moment."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return
    starts = [*_START.finditer(text)]
    ends = [found.start() for found in starts[1:]] + [len(text)]
    for found, end in zip(starts, ends, strict=True):
        began = _moment(found[1])
        if began >= since:
            session = _read(path.parent, text[found.end() : end], began)
            if session.transcript.messages:
                yield session


def _read(folder: Path, text: str, began: float) -> RecordedSession:
    rows: list[Row] = []
    requests: list[RecordedRequest] = []
    model = ""
    for line in text.splitlines():
        if line.startswith("#### "):
            _append(rows, "user", line.removeprefix("#### "))
        elif counted := _TOKENS.match(line):
            sent, written, read, received = (_number(word) for word in counted.groups())
            usage = RecordedUsage(max(0, sent - written - read), read, written, received)
            requests.append(RecordedRequest(usage))
        elif named := _MODEL.match(line):
            model = named[1]
        elif line.strip() and not line.startswith("> ") and rows:
            _append(rows, "assistant", line)
    name = f"aider-{began:.0f}"
    transcript = transcript_of(name, rows)
    return RecordedSession(
        name=name,
        title=title_of(transcript),
        project=str(folder),
        model=model,
        last=began,
        requests=tuple(requests),
        transcript=transcript,
    )


def _append(rows: list[Row], role: str, line: str) -> None:
    if rows and rows[-1]["role"] == role:
        rows[-1]["content"] += f"\n{line}"
    else:
        rows.append({"role": role, "content": line})


def _number(word: str | None) -> int:
    if not word:
        return 0
    unit = _UNITS.get(word[-1], 1)
    return round(float(word.rstrip("kM").replace(",", "")) * unit)


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except ValueError:
        return 0.0
