"""Remove what is kept about conversations, from every file that keeps it, also while other processes use them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from laconic.sessions.archive import Archive
from laconic.sessions.damaged_files import list_ruined
from laconic.sessions.damaged_files import remove as remove_file
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.sessions.trajectories import in_use
from laconic.sessions.turns import ProviderAccount, Turns


class RemovableSessions(Protocol):
    """A file that keeps something by session."""

    def sessions(self, before: float | None = None) -> Sequence[str]: ...

    def remove(self, sessions: Iterable[str]) -> int: ...


@dataclass(frozen=True, slots=True)
class Purge:
    """The files of one user. Each removal says how much went, by what it was."""

    archive: Archive
    ledger: RemovableSessions
    turns: Turns
    calls: ToolCallLog
    agent: Path  # the folder of the agent's sessions
    files: Sequence[Path]  # of which damaged ones may lie around

    def sessions(self, before: float | None = None) -> set[str]:
        """Sessions of which anything is kept; those that nobody used since then."""
        found = {*self.turns.sessions(before=before), *self.ledger.sessions(before)}
        found.update(path.stem for path in self._agent_files(before))
        if before is None:
            found.update(entry.session for entry in self.archive.entries())
        return found

    def accounts(self) -> list[ProviderAccount]:
        return self.turns.accounts()

    def remove_sessions(self, names: Collection[str]) -> dict[str, int]:
        """Everything of these sessions."""
        return {
            "archived outputs": self.archive.remove(names),
            "decisions": self.ledger.remove(names),
            "recorded sessions": self.turns.remove(names),
            "agent sessions": self._remove_agent(names),
        }

    def remove_before(self, moment: float) -> dict[str, int]:
        """Everything of sessions that nobody used since then, and all that is older by itself."""
        names = self.sessions(moment)
        return {
            "archived outputs": self.archive.remove(names, moment),
            "decisions": self.ledger.remove(names),
            "recorded sessions": self.turns.remove(names),
            "agent sessions": self._remove_agent(names),
            "tool calls": self.calls.remove(moment),
            "damaged files": self._remove_ruined(moment),
        }

    def remove_all(self) -> dict[str, int]:
        """Everything that is kept about conversations and tool calls."""
        names = self.sessions()
        return {
            "archived outputs": self.archive.remove(before=float("inf")),
            "decisions": self.ledger.remove(names),
            "recorded sessions": self.turns.clear(),
            "agent sessions": self._remove_agent(names),
            "tool calls": self.calls.remove(),
            "damaged files": self._remove_ruined(float("inf")),
        }

    def busy(self, names: Collection[str]) -> list[str]:
        """Sessions that an agent works on at the moment: their files stay."""
        return sorted(path.stem for path in self._agent_files() if path.stem in names and in_use(path))

    def _agent_files(self, before: float | None = None) -> list[Path]:
        if not self.agent.is_dir():
            return []
        found: list[Path] = []
        for path in self.agent.glob("*.jsonl"):
            if before is None or path.stat().st_mtime < before:
                found.append(path)
        return found

    def _remove_agent(self, names: Collection[str]) -> int:
        removed = 0
        for path in self._agent_files():
            if path.stem in names and not in_use(path):
                _overwrite(path)
                path.unlink()
                removed += 1
        return removed

    def _remove_ruined(self, moment: float) -> int:
        removed = 0
        for file in self.files:
            for old in list_ruined(file):
                if old.stat().st_mtime < moment:
                    remove_file(old, "-wal", "-shm")
                    removed += 1
        return removed


def _overwrite(path: Path) -> None:
    with suppress(OSError), path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        os.fsync(file.fileno())
