"""Decisions about blocks, append-only: what is sent is a pure function of the history and of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Protocol

import msgspec

from laconic.records import Run

Reason = Literal["ingest", "superseded", "task", "age", "survival", "recap", "trim"]


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """What stands in the place of a block, or of one argument of a call. The newest for a place is in force."""

    key: str  # the block
    reason: Reason
    field: str = ""  # the argument; empty: the text of a result or a message
    runs: tuple[Run, ...] = ()  # rows that are not shown
    text: str | None = None  # the whole replacement; None: the rows that are shown
    note: str = ""  # the last line: what was left out and how to recall it
    ref: str = ""  # where the original is archived
    gone: bool = False  # the block is left out; its whole exchange has such decisions
    before: int = 0  # tokens
    after: int = 0
    turn: int = 0  # turns of the assistant when it was made
    task: str = ""
    context: int = 0  # tokens of the history when it was made
    rolled: str = ""  # a line below the text, for exchanges behind it that are gone

    @property
    def place(self) -> tuple[str, str]:
        return (self.key, self.field)

    @property
    def sources(self) -> set[str]:
        """Blocks that this one points to."""
        return {run.source for run in self.runs if run.source}


class Recap(msgspec.Struct, frozen=True, array_like=True):
    """A message of ours in the place of exchanges that are gone."""

    anchor: str  # the block before which it stands
    text: str
    covers: tuple[str, ...]  # keys of the blocks that are gone
    ref: str = ""
    turn: int = 0


class Store(Protocol):
    """Where decisions outlive the process."""

    def load(self, session: str) -> tuple[Sequence[Decision], Sequence[Recap]]: ...

    def append(self, session: str, decisions: Sequence[Decision], recaps: Sequence[Recap]) -> None: ...


class Ledger:
    """The decisions of one session. Entries whose block is absent from a history simply do not apply to it."""

    def __init__(self, decisions: Iterable[Decision] = (), recaps: Iterable[Recap] = ()) -> None:
        self._entries: list[Decision] = []
        self._newest: dict[str, dict[str, Decision]] = {}
        self._recaps: list[Recap] = []
        self.add(decisions, recaps)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._entries)

    @property
    def recaps(self) -> Sequence[Recap]:
        return self._recaps

    def add(self, decisions: Iterable[Decision], recaps: Iterable[Recap] = ()) -> None:
        for decision in decisions:
            self._entries.append(decision)
            self._newest.setdefault(decision.key, {})[decision.field] = decision
        self._recaps += recaps

    def of(self, key: str) -> dict[str, Decision]:
        """What is in force for a block, by argument."""
        return self._newest.get(key, {})

    def applicable(self, key: str, present: Callable[[str], bool]) -> dict[str, Decision]:
        """What is in force for a block in a history: pointers to blocks that are not there do not count."""
        found = self._newest.get(key)
        if not found:
            return {}
        return {
            field: decision
            for field, decision in found.items()
            if not decision.runs or all(present(source) for source in decision.sources)
        }

    def recap(self, present: Callable[[str], bool]) -> Recap | None:
        """The newest recap whose anchor and whose blocks a history holds."""
        for recap in reversed(self._recaps):
            if present(recap.anchor) and all(present(key) for key in recap.covers):
                return recap
        return None
