"""One line of history of a session: what was read of it, the changes in force, and how decisions come into force."""

from __future__ import annotations

from collections.abc import Sequence

from laconic.context.ledger import Decision, Ledger, Recap
from laconic.context.rewrite import change_of
from laconic.context.tracker import Tracker
from laconic.context.writing import Writing
from laconic.errors import ArchiveUnavailable
from laconic.wire.conversation import Conversation
from laconic.wire.model import At, Block, Change, Insert


class Line:
    """Derived state, thrown away when idle: the history and the ledger give it back."""

    __slots__ = (
        "blocks",
        "changes",
        "conversation",
        "event",
        "landed",
        "ledger",
        "session",
        "time",
        "tracker",
        "writing",
    )

    def __init__(self, session: str, ledger: Ledger, writing: Writing, tracker: Tracker) -> None:
        self.session = session
        self.ledger = ledger
        self.writing = writing
        self.tracker = tracker
        self.changes: dict[str, Change] = {}
        self.time = 0.0  # of the last request; 0: none yet
        self.event = -1  # the turn of the last event; -1: none
        self.landed = 0  # tokens of the history after it
        self.conversation: Conversation | None = None
        self.blocks: dict[str, Block] = {}

    def read(self, conversation: Conversation, blocks: dict[str, Block], fresh: Tracker) -> list[Decision]:
        """Take in a request. One that is no extension of what was read is read from its start, by `fresh`."""
        self.conversation, self.blocks = conversation, blocks
        if not self.tracker.extends(tuple(blocks)):
            self.tracker = fresh
            self.changes.clear()
            self.event, self.landed = -1, 0
        tracker = self.tracker
        made = tracker.read(conversation, self.ledger)
        for key in tracker.order[tracker.sent :]:
            self._enforce(key)
        return self.commit(made)

    def commit(self, made: Sequence[Decision], recaps: Sequence[Recap] = ()) -> list[Decision]:
        """Have decisions written down, and act on them; returns those that are in force.

        What is known not to be writable is not done.
        """
        if not made and not recaps:
            return []
        try:
            self.writing.append(self.session, made, recaps)
        except ArchiveUnavailable:
            return []
        self.ledger.add(made, recaps)
        for decision in made:
            if decision.reason != "ingest":
                self.tracker.take(decision)
            self._enforce(decision.key)
        return list(made)

    def original(self, key: str, field: str) -> str:
        """A block's text, or one argument of a call, as the client sent it."""
        block = self.blocks[key]
        if not field:
            return block.text
        arguments = block.input
        value = arguments.get(field) if isinstance(arguments, dict) else None
        return value if isinstance(value, str) else ""

    @property
    def present(self) -> dict[str, int]:
        return self.tracker.place

    def edits(self) -> tuple[dict[At, Change], list[Insert]]:
        """All changes of this request, and our own messages."""
        changes: dict[At, Change] = {
            block.at: change for key, change in self.changes.items() if (block := self.blocks.get(key)) is not None
        }
        inserts = []
        recap = self.ledger.recap(self.present.__contains__)
        if recap is not None:
            inserts.append(Insert(self.blocks[recap.anchor].turn, "user", recap.text))
        return changes, inserts

    def body(self) -> bytes:
        assert self.conversation is not None
        changes, inserts = self.edits()
        return self.conversation.emit(changes, inserts)

    def rest(self) -> None:
        """Let go of the request's bytes."""
        self.conversation, self.blocks = None, {}

    def _enforce(self, key: str) -> None:
        found = self.ledger.applicable(key, self.present.__contains__)
        for decision in found.values():
            if decision.reason != "ingest" and decision.turn >= self.event:
                self.landed = decision.context if decision.turn > self.event else min(self.landed, decision.context)
                self.event = decision.turn
        if found and (change := change_of(self.blocks[key], found)) is not None:
            self.changes[key] = change
