"""The sessions that clients recorded on this machine, and those of our own agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from laconic.clients.registry import all_clients
from laconic.clients.setup import Places
from laconic.sessions.recorded import own
from laconic.sessions.recorded.record import RecordedSession, read_sessions


def find_recorded(places: Places, state: Path, since: float) -> Iterator[RecordedSession]:
    """Those that went on since a moment; `state` is the folder of our own."""
    for client in all_clients().values():
        if client.recorded is not None:
            for session in client.recorded(places, since):
                yield replace(session, client=client.title)
    for session in read_sessions(state / "agent", ("*.jsonl",), since, own.read_session):
        yield replace(session, client="laconic agent")
