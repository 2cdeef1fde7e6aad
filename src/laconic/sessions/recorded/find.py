"""All sessions of the last days that clients recorded on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from laconic.sessions.recorded import aider, claude, codex, gemini, opencode, own
from laconic.sessions.recorded.record import RecordedSession


def find_recorded(
    environment: Mapping[str, str], folder: Path, state: Path, since: float
) -> Iterator[RecordedSession]:
    """Where each client keeps them: in the home folder, or where its own variables say; aider's are in `folder`."""
    home = Path(environment.get("HOME") or Path.home())
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield from claude.find_sessions(Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude"), since)
    yield from codex.find_sessions(Path(environment.get("CODEX_HOME") or home / ".codex"), since)
    yield from opencode.find_sessions(data / "opencode", since)
    yield from gemini.find_sessions(Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini", since)
    yield from aider.find_sessions(folder, since)
    yield from own.find_sessions(state / "agent", since)
