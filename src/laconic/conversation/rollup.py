"""Roll up old exchanges that have nothing left to read: one line replaces many, and says how to get them back.

The line is an entry of a recap, not a tombstone: it stands below the result of the exchange before them, whose own text
or tombstone stays. Its reference gives the exact bytes of every block that went, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from laconic.conversation.eviction import Evictor, is_exact
from laconic.conversation.history import History
from laconic.conversation.last_imports import LastImports
from laconic.conversation.ledger import Removal
from laconic.conversation.staleness import is_past
from laconic.conversation.tool_use import about
from laconic.conversation.tracker import ConversationTracker
from laconic.errors import ArchiveUnavailable
from laconic.render.tombstone import rollup_text
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.tool_exchanges import Exchange
from laconic.wire.turns_and_blocks import Block

_NEWEST: Final = 2  # exchanges that stay, however long the talk since
_CARRIED: Final = 40  # imports that stand below the line at most
_NAMED: Final = 20  # tokens by which the line grows for an exchange, roughly


def most_savings(tracker: ConversationTracker, giving: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    """The tokens of each block, and what it gives back at most if all old exchanges are rolled up; the last first."""
    rules, sizes = tracker.rules, tracker.sizes
    small = max(rules.rolled_tokens, rules.rolled_words)
    newest = len(tracker.order)  # from here on nothing is old enough
    for key, turn in reversed(tracker.asked.items()):
        if turn <= tracker.turn - rules.rolled:
            break
        newest = tracker.place[key]
    for place in range(tracker.sent - 1, -1, -1):
        key = tracker.order[place]
        size, given = sizes[key], giving.get(key, 0.0)
        if place < newest and size - given <= small:
            given = size
        yield size, given


class ExchangeRollup:
    """Finds runs of spent exchanges, and turns each into one line below the result of its first."""

    def __init__(
        self,
        history: History,
        conversation: ParsedRequest,
        evictor: Evictor,
        count: Callable[[str], int],
        imports: LastImports,
        *,
        patience: float = 1.0,
    ) -> None:
        self._history = history
        self._conversation = conversation
        self._evictor = evictor
        self._count = count
        self._imports = imports
        self._patience = patience
        self._pointed: set[str] = set()  # blocks that others point to
        self._out = history.gone
        self._newest = {call.key for exchange in conversation.exchanges[-_NEWEST:] for call in exchange.calls}

    def savings(self, giving: Mapping[str, float]) -> dict[str, float]:
        """What each exchange that could go gives back beyond what its blocks give anyway, by its first block."""
        sizes = self._history.tracker.sizes
        found: dict[str, float] = {}
        for run in self._runs(0, giving):
            for exchange in self._fresh(run):
                blocks = self._blocks(exchange)
                left = sum(sizes[block.key] - giving.get(block.key, 0.0) for block in blocks)
                found[blocks[0].key] = max(0.0, left - _NAMED)
        return found

    def decide(self, start: int) -> list[Removal]:
        """What leaves from this place on. Nothing when the provider would refuse what is left."""
        made: list[Removal] = []
        left = self._history.tracker.tokens
        try:
            for run in self._runs(start, {}):
                if (removal := self._roll(run)) is not None:
                    left -= removal.before - removal.after
                    made.append(removal)
        except ArchiveUnavailable:
            pass  # what is archived may go, the rest stays
        if not made or self._history.breaks(*made):
            return []
        found: list[Removal] = []
        for each in made:
            found.append(msgspec.structs.replace(each, context=left))
        return found

    def _runs(self, start: int, giving: Mapping[str, float]) -> Iterator[list[Exchange]]:
        """Neighbours of which all but the first go. The first stays, and the line for the others stands below its result.

        What went before joins the line that it stands in.
        """
        self._pointed = self._sources()
        found: list[Exchange] = []
        head: Exchange | None = None  # could stay before a run; whether it can is asked when something behind it goes
        after = -1
        for exchange in self._conversation.exchanges:
            gone = self._is_gone(exchange)
            joins = exchange.turns[0] == after and (gone or self._can_go(exchange, giving))
            after = max(turn for turn, _ in exchange.members) + 1
            if joins and not found and head is not None and self._can_head(head, start):
                found = [head]
            if joins and found:
                found.append(exchange)
                continue
            if self._fresh(found):
                yield found
            found, head = [], None
            if not gone:
                head = exchange
        if self._fresh(found):
            yield found

    def _sources(self) -> set[str]:
        """Blocks that texts of files point to which may still be of use. Other pointers are as past as their text."""
        tracker = self._history.tracker
        found: set[str] = set()
        for texts in tracker.texts.values():
            for tracked in texts:
                if tracked.kind == "read" and tracked.runs and not is_past(tracker, tracked, self._patience):
                    found.update(run.source for run in tracked.runs)
        return found

    def _fresh(self, run: Sequence[Exchange]) -> list[Exchange]:
        found: list[Exchange] = []
        for exchange in run[1:]:
            if not self._is_gone(exchange):
                found.append(exchange)
        return found

    def _can_head(self, exchange: Exchange, start: int) -> bool:
        """Whether a line can stand below its result without changing anything before the place `start`."""
        result = exchange.results[0]
        if result is None or not self._takes_line(result) or self._conversation.is_pinned(result):
            return False
        return self._history.present[result.key] >= start

    def _can_go(self, exchange: Exchange, giving: Mapping[str, float]) -> bool:
        """Whether an exchange is past, whole, pointed to by nothing, and has nothing left that may be of use."""
        tracker = self._history.tracker
        if not exchange.complete or tracker.asked[exchange.calls[0].key] > tracker.turn - tracker.rules.rolled:
            return False
        for result in exchange.results:  # most that stay do because of their results
            if result is not None and self._size(result, giving) > tracker.rules.rolled_tokens:
                return False
        if any(call.key in tracker.lasting or call.key in self._newest for call in exchange.calls):
            return False
        for block in self._blocks(exchange):
            if block.key in self._pointed or self._conversation.is_pinned(block):
                return False
            if not self._is_spent(block, self._size(block, giving)):
                return False
        return True

    def _size(self, block: Block, giving: Mapping[str, float]) -> float:
        """Tokens of a block that would be left."""
        return self._history.tracker.sizes[block.key] - giving.get(block.key, 0.0)

    def _is_spent(self, block: Block, size: float) -> bool:
        """Whether what is left of a block is small, and no text of a file that may be of use."""
        tracker = self._history.tracker
        if block.kind == "text":
            return size <= tracker.rules.rolled_words and self._conversation.turns[block.turn].role == "assistant"
        if not block.editable or size > tracker.rules.rolled_tokens:
            return False
        return all(is_past(tracker, tracked, self._patience) for tracked in tracker.texts.get(block.key, ()))

    def _roll(self, run: Sequence[Exchange]) -> Removal | None:
        tracker = self._history.tracker
        result = run[0].results[0]
        if result is None or not is_exact(result.text):  # a line below it would change how it is written
            return None
        keys = tuple(block.key for exchange in run[1:] for block in self._blocks(exchange))
        calls = [about(call.name, call.input) for exchange in run[1:] for call in exchange.calls]
        ref = self._evictor.keep(self._history.raw(keys), note=f"{len(calls)} calls")
        line = rollup_text([(call.kind, call.target) for call in calls], ref, self._count)
        text = "\n".join((line, *self._carry(result.key, keys)))
        texts = tracker.texts.get(result.key)
        if texts and texts[0].rolled:
            before = self._count(texts[0].rolled)
        else:
            before = 0
        before += sum(tracker.sizes[key] for key in keys)
        after = self._count(text)
        if before <= after:
            return None
        return Removal(
            keys=keys,
            reason="age",
            ref=ref,
            text=text,
            anchor=result.key,
            below=True,
            before=before,
            after=after,
            turn=tracker.turn,
        )

    def _carry(self, anchor: str, keys: Sequence[str]) -> list[str]:
        """The imports that nothing else shows, the newest where they are many."""
        lines = dict.fromkeys(self._history.list_carried({anchor, *keys}))
        for key in keys:
            lines.update(dict.fromkeys(self._imports.list_lines(self._history.tracker.texts.get(key, ()))))
        return list(lines)[-_CARRIED:]

    @staticmethod
    def _takes_line(result: Block) -> bool:
        """Whether a line can stand below a result: its text is written anew, and must come out as it came."""
        return result.has_text and result.editable and is_exact(result.text)

    def _blocks(self, exchange: Exchange) -> list[Block]:
        """Everything in its turns: the words beside a call go with it."""
        turns = dict.fromkeys(turn for turn, _ in exchange.members)
        found: list[Block] = []
        for turn in turns:
            for block in self._conversation.turns[turn].blocks:
                found.append(block)
        return found

    def _is_gone(self, exchange: Exchange) -> bool:
        return any(call.key in self._out for call in exchange.calls)
