"""Decide whether a command may run: by the lists in the settings, by asking the user, or not at all.

The lists save questions. They do not protect: a shell can hide what it does, and only a sandbox can hold it.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from laconic.agent.command_line import CommandLine, SimpleCommand, is_wrapper, spellings, understand
from laconic.errors import NotAllowed, WorkspaceError
from laconic.workspace.read_file import inside

Answer = Literal["yes", "no", "always"]
Ask = Callable[[str], Answer]


class Permission:
    """Decides about each command before it runs."""

    def __init__(
        self, root: Path, allow: tuple[str, ...] = (), deny: tuple[str, ...] = (), ask: Ask | None = None
    ) -> None:
        self._root = root
        self._allow = allow
        self._deny = deny
        self._ask = ask  # None: nobody is there to be asked
        self._granted: set[str] = set()

    def check(self, command: str) -> None:
        """Returns when it may run."""
        line = understand(command)
        for one in line.commands:
            if any(_fits(spelling, self._deny) for spelling in spellings(one)):
                raise NotAllowed(f"`{one.text[:80]}` is refused (agent.deny).", "Reach your goal without it.")
            self._stays(one)
        if command in self._granted or self._is_allowed(line):
            return
        answer = "no"
        if self._ask is not None:
            answer = self._ask(command)
        if answer == "always":
            self._granted.add(command)
        if answer == "no":
            why = "There is no terminal to ask for permission."
            if self._ask:
                why = "The user does not allow this command."
            raise NotAllowed(why, "Continue without it, or tell the user what to run and why.")

    def _is_allowed(self, line: CommandLine) -> bool:
        """It is understood, nothing is written to a file, and each command is on the list, or what it runs is."""
        if not line.is_understood or line.has_output_file or not line.commands:
            return False
        return all(_fits(one.text, self._allow) or is_wrapper(one) for one in line.commands)

    def _stays(self, command: SimpleCommand) -> None:
        """A command does not leave the working folder by `cd`."""
        if len(command.words) > 1 and command.name in {"cd", "pushd"}:
            target = command.words[-1]
            try:
                inside(self._root, str(Path(target).expanduser()))
            except (WorkspaceError, RuntimeError) as error:
                raise NotAllowed(str(error), "Commands start inside the working folder only.") from None


def everything(_: str) -> Answer:
    """The word of a user who does not want to be asked."""
    return "yes"


def _fits(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(text, pattern) or fnmatchcase(f"{text} ", pattern) for pattern in patterns)
