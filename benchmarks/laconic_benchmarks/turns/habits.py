"""How long recorded agents look around before they change the first file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from laconic.conversation.tool_use import about
from laconic.sessions.transcripts import Transcript, transcripts


def turns_before_a_change(folder: Path) -> list[int]:
    """For each recorded session that changes a file: the turns with calls before the one that does so first."""
    found = (_before(session) for session in transcripts(folder)) if folder.is_dir() else ()
    return sorted(turns for turns in found if turns is not None)


def _before(session: Transcript) -> int | None:
    looked = 0
    for message in session.messages:
        changes = list(_changes(message)) if message.get("role") == "assistant" else []
        if any(changes):
            return looked
        looked += bool(changes)
    return None


def _changes(message: dict[str, object]) -> Iterator[bool]:
    """Whether each call of a turn changes a file."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            given = block.get("input")
            yield about(str(block.get("name")), given if isinstance(given, dict) else str(given)).changes
