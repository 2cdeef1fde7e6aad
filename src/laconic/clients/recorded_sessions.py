"""The sessions that clients recorded on this machine, and those of our own agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from laconic.clients.registry import all_clients
from laconic.clients.setup import ClientFolders
from laconic.sessions.recorded import own
from laconic.sessions.recorded.record import RecordedSession, read_sessions


def find_recorded(places: ClientFolders, state: Path, since: float) -> Iterator[RecordedSession]:
    """Those that went on since a moment; `state` is the folder of our own."""
    for client in all_clients().values():
        if client.recorded is not None:
            for session in client.recorded(places, since):
                yield replace(session, client=client.title)
    for session in read_sessions(state / "agent", ("*.jsonl",), since, own.read_session):
        yield replace(session, client="laconic agent")


def read_recorded(path: Path) -> Iterator[RecordedSession]:
    """The sessions in a file, or in the files below a folder, that name what their requests used."""
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
    for file in files:
        for client in all_clients().values():
            if client.read_recorded is None:
                continue
            for session in client.read_recorded(file):
                if session.requests:
                    yield replace(session, client=client.title)
