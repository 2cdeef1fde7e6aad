"""Recorded sessions of a file or a folder, whichever client wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from laconic.sessions.recorded import claude, codex, opencode
from laconic.sessions.recorded.record import RecordedSession, Row, read_rows

_SUFFIXES: Final = (".jsonl", ".json", ".db")


def read_recorded(path: Path) -> Iterator[RecordedSession]:
    """The sessions in a file, or in the files below a folder, that name what their requests used."""
    files = [path]
    if path.is_dir():
        files = []
        for file in sorted(path.rglob("*")):
            if file.suffix in _SUFFIXES and file.is_file():
                files.append(file)
    for file in files:
        for session in _read(file):
            if session.requests:
                yield session


def _read(path: Path) -> Iterator[RecordedSession]:
    if path.suffix == ".db":
        yield from opencode.read_database(path)
        return
    if path.suffix == ".json":
        whole = _decode(path)
        if isinstance(whole.get("messages"), list) and isinstance(whole.get("info"), dict):
            yield opencode.read_export(whole)
        return
    first: Row = next(read_rows(path), {})
    found = claude.read_session(path)
    if "payload" in first:
        found = codex.read_session(path)
    if found is not None:
        yield found


def _decode(path: Path) -> Row:
    try:
        whole = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    if isinstance(whole, dict):
        return whole
    return {}
