"""Recorded sessions of a file or a folder, whichever client wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from laconic.clients.registry import all_clients
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
    titles = {name: client.title for name, client in all_clients().items()}
    if path.suffix == ".db":
        for session in opencode.read_database(path):
            yield replace(session, client=titles["opencode"])
        return
    if path.suffix == ".json":
        whole = _decode(path)
        if isinstance(whole.get("messages"), list) and isinstance(whole.get("info"), dict):
            yield replace(opencode.read_export(whole), client=titles["opencode"])
        return
    first: Row = next(read_rows(path), {})
    name, read = "claude", claude.read_session
    if "payload" in first:
        name, read = "codex", codex.read_session
    found = read(path)
    if found is not None:
        yield replace(found, client=titles[name])


def _decode(path: Path) -> Row:
    try:
        whole = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    if isinstance(whole, dict):
        return whole
    return {}
