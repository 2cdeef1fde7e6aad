"""Whether a command may run: by lists in the settings, by a word of the user, or not at all.

This guards against mistakes of a model, not against a hostile one: a shell can hide what it does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from laconic.errors import NotAllowed, WorkspaceError
from laconic.workspace.reading import inside

Answer = Literal["yes", "no", "always"]
Ask = Callable[[str], Answer]
_JOINTS: Final = re.compile(r"&&|\|\||[;|&\n(){}`]|\$\(")
_ASSIGNED: Final = re.compile(r"^(?:[A-Za-z_]\w*=\S*\s+)+")
_BEFORE: Final = re.compile(r"^(?:env|command|exec|time|nohup|nice|builtin)\s+")
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_WRITES: Final = re.compile(r"(?<![0-9&])>(?!\s*/dev/null|&)|[0-9&]>(?!\s*/dev/null|&)")


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
        for part in parts(command):
            if _fits(part, self._deny):
                raise NotAllowed(f"`{part[:80]}` is never run (agent.deny).", "Reach your goal without it.")
            self._stays(part)
        if command in self._granted or self._allowed(command):
            return
        answer = self._ask(command) if self._ask is not None else "no"
        if answer == "always":
            self._granted.add(command)
        if answer == "no":
            why = "The user does not allow this command." if self._ask else "Nobody is there to allow this command."
            raise NotAllowed(why, "Go on without it, or tell the user what to run and why.")

    def _allowed(self, command: str) -> bool:
        """All parts are on the list, and nothing is written to a file."""
        found = list(parts(command))
        plain = "$(" not in command and "`" not in command and not _WRITES.search(command)
        return plain and bool(found) and all(_fits(part, self._allow) for part in found)

    def _stays(self, part: str) -> None:
        """A command does not leave the working folder by `cd`."""
        try:
            words = shlex.split(part)
        except ValueError:
            return
        if len(words) > 1 and words[0] in {"cd", "pushd"}:
            try:
                inside(self._root, words[1])
            except WorkspaceError as error:
                raise NotAllowed(error.problem, "Commands run inside the working folder only.") from None


def parts(command: str) -> Iterator[str]:
    """The commands in a command line, each without what is set before it. Too many parts are no harm."""
    for piece in _JOINTS.split(command):
        before = ""
        while piece != before:
            before, piece = piece, _BEFORE.sub("", _ASSIGNED.sub("", piece.strip()))
        if piece:
            yield " ".join(piece.split())
            yield from _inner(piece)


def _inner(piece: str) -> Iterator[str]:
    """The same command without its folder, and what a shell in the shell is told to run."""
    try:
        words = shlex.split(piece)
    except ValueError:  # a quote that another part closes
        words = piece.split()
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if words and name and name != words[0]:
        yield " ".join([name, *words[1:]])
    if name in _SHELLS:
        for at, word in enumerate(words[:-1]):
            if re.fullmatch(r"-\w*c", word):
                yield from parts(words[at + 1])


def everything(_: str) -> Answer:
    """The word of a user who does not want to be asked."""
    return "yes"


def _fits(part: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(part, pattern) or fnmatchcase(f"{part} ", pattern) for pattern in patterns)
