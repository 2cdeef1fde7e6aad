"""What was decided about a conversation, append-only: the request that is sent follows from history and ledger alone.

Nothing leaves a conversation without a `Receipt`: the archive issues one for bytes that it will give back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NewType, Protocol

import msgspec

from laconic.records import FoldedRows

Reason = Literal["ingest", "superseded", "task", "age", "survival", "recap", "trim"]
Receipt = NewType("Receipt", str)  # a reference under which the archive holds the exact bytes; only it makes them


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """What stands in the place of a text: a result, or one argument of a call. The newest for a place is in force."""

    key: str  # the block
    reason: Reason
    ref: Receipt  # where the original is
    field: str = ""  # the argument; empty: the text of a result
    runs: tuple[FoldedRows, ...] = ()  # rows that are not shown
    text: str | None = None  # the whole replacement; None: the rows that are shown
    note: str = ""  # the last line: what was left out and how to recall it
    whole: int = 0  # tokens of the original
    before: int = 0  # tokens of what stood there before this decision
    after: int = 0  # tokens of what stands there now
    turn: int = 0  # turns of the assistant when it was made
    task: str = ""  # the title of the task under which the original is archived
    context: int = 0  # tokens of the history after it was made

    def __post_init__(self) -> None:
        _must_have(self.ref)

    @property
    def sources(self) -> set[str]:
        """Blocks that this one points to."""
        found: set[str] = set()
        for run in self.runs:
            if run.source:
                found.add(run.source)
        return found


class Removal(msgspec.Struct, frozen=True, array_like=True):
    """Whole exchanges that left together, and the text that stands for them and names their reference."""

    keys: tuple[str, ...]  # every block that is gone, in order
    reason: Reason
    ref: Receipt  # where their exact bytes are, one after the other
    text: str
    anchor: str  # the block that the text belongs to
    below: bool = False  # True: a line below that result; False: a message of ours before that block
    before: int = 0  # tokens of what stood there before
    after: int = 0  # tokens of the text
    turn: int = 0
    context: int = 0

    def __post_init__(self) -> None:
        _must_have(self.ref)


class LedgerEntry(msgspec.Struct, frozen=True, array_like=True):
    """What one request decided, and on which history."""

    branch: int
    at: str  # hash of that history
    count: int  # blocks of it
    decisions: tuple[Decision, ...] = ()
    removals: tuple[Removal, ...] = ()


class Inheritance(msgspec.Struct, frozen=True, array_like=True):
    """What counts of one branch that another comes from."""

    branch: int
    start: int  # blocks that both begin with
    basis: int  # events that there were when they parted
    kept: int  # the place of the newest exchanges of those blocks: what was decided about them is not taken over


class Branch(msgspec.Struct, frozen=True, array_like=True):
    """One line of history of a session as it was last sent: rewinds, forks and helpers make further ones.

    Decisions of those that it comes from count if they were made before it began, about blocks that it began with; of
    those that its parent comes from, only what counted for the parent: that is how it was sent.
    """

    id: int
    tip: str  # hash of the history of its last request
    count: int  # blocks of it
    time: float  # of its last request
    start: int  # blocks that it has in common with its parent, without what its first request brought
    basis: int  # events that there were when it began
    kept: int = 0  # the place of the newest exchanges of those: what others decided about them is not taken over
    ancestors: tuple[int, ...] = ()  # the branches that it comes from, the nearest first
    path: tuple[tuple[int, str], ...] = ()  # blocks and hash of earlier requests: where others may fork off
    farther: tuple[Inheritance, ...] = ()  # what counts of its ancestors but the nearest
    lifetime: float = 300.0  # seconds that a cache keeps what its last request wrote, as that request asked
    thinking: int = 0  # the budget that its last request was lowered to; 0: as the client asked
    effort: str = ""  # and the word for it
    learned: float = 0.0  # seconds that its cache entries live, as an answer showed; 0: none did

    @property
    def inheritance(self) -> tuple[Inheritance, ...]:
        """What counts of its ancestors, the nearest first."""
        found = []
        for ancestor in self.ancestors:
            found.append(Inheritance(ancestor, self.start, self.basis, self.kept))
        farther = self.farther or found[1:]  # a branch of an earlier version does not say
        return (*found[:1], *farther)


class LedgerStore(Protocol):
    """Where decisions outlive the process. Every method may raise `ArchiveUnavailable`."""

    def state(self, session: str) -> tuple[int, tuple[Branch, ...]]:
        """How many events there are, and the branches."""

    def events(self, session: str, since: int) -> Sequence[LedgerEntry]:
        """The events from a number on, oldest first."""

    def record(self, session: str, known: int, event: LedgerEntry | None, branch: Branch) -> None:
        """Add what a request decided, and where its branch is now; on the disk when it returns.

        `known` is how many events the caller has read; when there are more by now, `LedgerMoved`.
        """


def _must_have(ref: str) -> None:
    if not ref:
        raise ValueError("Nothing leaves a conversation without a receipt from the archive.")
