"""Choose the sandbox for a session, once, at its start."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from laconic.agent.sandbox.bubblewrap import find_bubblewrap
from laconic.agent.sandbox.landlock import find_landlock
from laconic.agent.sandbox.rules import rules_for
from laconic.agent.sandbox.seatbelt import find_seatbelt
from laconic.config import Settings
from laconic.errors import UsageError
from laconic.workspace.shell import CommandResult, shell


class Sandbox(Protocol):
    """Runs commands, and keeps them to the rules."""

    name: str  # empty: nothing keeps them to anything
    gaps: str  # what it does not keep them from

    def run(self, command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> CommandResult: ...


class Unconfined:
    """No sandbox: commands can do what the user can do."""

    name = ""

    def __init__(self, why: str) -> None:
        self.gaps = why

    def run(self, command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> CommandResult:
        return shell(command, folder, seconds=seconds, environment=environment)


def choose_sandbox(root: Path, settings: Settings, environment: Mapping[str, str]) -> Sandbox:
    """The best that works here, or none with the reason; none is an error if the settings require one."""
    wanted = settings.text("agent.sandbox")
    if wanted == "off":
        return Unconfined("agent.sandbox is off")
    rules = rules_for(root, settings, environment)
    if rules.home.is_relative_to(root):
        reasons = ["the working folder holds your home folder"]
    else:
        reasons = []
        for find in (find_seatbelt,) if sys.platform == "darwin" else (find_bubblewrap, find_landlock):
            found, reason = find(rules, environment)
            if found is not None:
                return found
            reasons.append(reason)
    if wanted == "require":
        raise UsageError(
            f"There is no sandbox: {'; '.join(reasons)}.",
            "Install bubblewrap (`bwrap`), work in a separate folder, or set agent.sandbox to auto.",
        )
    return Unconfined("; ".join(reasons))
