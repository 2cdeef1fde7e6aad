"""Every failure that Laconic names, and what the reader can do about it.

LaconicError
├── UsageError            the call was wrong: an argument, a flag, a setting
│   ├── UnknownName       a name that does not exist, with the nearest that do
│   ├── BadSetting        a value in the settings file, the environment or a flag
│   └── Unroutable        a client whose requests cannot pass through the gateway
├── WorkspaceError        the code base could not be read as asked
│   ├── OutsideWorkspace  a path that leaves the workspace
│   ├── Unreadable        binary, huge, ignored, missing or forbidden
│   └── CommandFailed     a program that Laconic started failed or ran too long
├── EditRefused           nothing was written; the message says why
├── IndexUnavailable      the index is locked, damaged or has another version
├── RecallFailed          nothing is kept under that reference
├── ArchiveUnavailable    the archive cannot be read or written
│   └── StoreAway         a team's database cannot be reached
├── LedgerMoved           another process wrote to the same session
├── ConversationError     a conversation could not be understood or made to fit
│   ├── MalformedRequest  the body is not the format it claims to be
│   └── ContextOverflow   the part that must stay is already too large
├── UpstreamError         a provider could not be reached
├── ServerUnavailable     an MCP server behind Laconic cannot be started or does not answer
├── ModelError            a model's answer could not be used
├── NotAllowed            a command that the user or the settings do not allow
└── LimitReached          turns, tokens or money are used up

Each carries one sentence on what is wrong and, if there is a way to continue, one that says how: agents read both.
A few packages have further subclasses that only they raise and catch.
"""

from __future__ import annotations


class LaconicError(Exception):
    """A failure with its remedy."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem} {self.fix}".strip()


class UsageError(LaconicError):
    """The call was wrong."""


class UnknownName(UsageError):
    """A name that does not exist, with the nearest that do."""

    def __init__(self, what: str, name: str, near: tuple[str, ...] = (), fix: str = "") -> None:
        hint = f"Nearest: {', '.join(near)}." if near else ""
        super().__init__(f"No {what} named {name!r}.", f"{hint} {fix}".strip())
        self.near = near


class BadSetting(UsageError):
    """A value in the settings file, the environment or a flag."""


class Unroutable(UsageError):
    """A client whose requests cannot pass through the gateway; it is not started."""


class WorkspaceError(LaconicError):
    """The code base could not be read as asked."""


class OutsideWorkspace(WorkspaceError):
    """A path that leaves the workspace."""


class Unreadable(WorkspaceError):
    """Binary, huge, ignored, missing or forbidden."""


class CommandFailed(WorkspaceError):
    """A program that Laconic started failed or ran too long."""


class EditRefused(LaconicError):
    """Nothing was written; the message says why."""


class IndexUnavailable(LaconicError):
    """The index is locked, damaged or has another version."""


class RecallFailed(LaconicError):
    """Nothing is kept under that reference."""


class ArchiveUnavailable(LaconicError):
    """The archive cannot be read or written."""


class StoreAway(ArchiveUnavailable):
    """A team's database cannot be reached: nobody knows what was decided, so nothing is left out."""


class LedgerMoved(LaconicError):
    """Another process wrote to the same session: it is read again."""


class ConversationError(LaconicError):
    """A conversation could not be understood or made to fit."""


class MalformedRequest(ConversationError):
    """The body is not the format it claims to be."""


class ContextOverflow(ConversationError):
    """The part that must stay is already too large."""


class UpstreamError(LaconicError):
    """A provider could not be reached."""


class ServerUnavailable(LaconicError):
    """An MCP server behind Laconic cannot be started or does not answer."""


class ModelError(LaconicError):
    """A model's answer could not be used."""


class NotAllowed(LaconicError):
    """A command that the user or the settings do not allow."""


class LimitReached(LaconicError):
    """Turns, tokens or money are used up."""
