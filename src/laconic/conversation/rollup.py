"""Roll up old exchanges of which nothing is left to read: one line stands for many, and says how to get them back.

The line is an entry of a recap, not a tombstone: it stands below the result of the exchange before them, whose own text
or tombstone stays. Its reference gives the exact bytes of every block that went, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from laconic.conversation.eviction import Evictor
from laconic.conversation.history import History
from laconic.conversation.ledger import Removal
from laconic.conversation.staleness import spent
from laconic.conversation.tool_use import about
from laconic.errors import ArchiveUnavailable
from laconic.render.tombstone import rollup_text
from laconic.wire.exchanges import Exchange
from laconic.wire.model import Block
from laconic.wire.parsed_request import ParsedRequest

_NAMED: Final = 20  # tokens by which the line grows for an exchange, roughly


class Roller:
    """Finds runs of spent exchanges, and turns each into one line below the result of its first."""

    def __init__(
        self, history: History, conversation: ParsedRequest, evictor: Evictor, count: Callable[[str], int]
    ) -> None:
        self._history = history
        self._conversation = conversation
        self._evictor = evictor
        self._count = count
        self._pointed: set[str] = set()  # blocks that others point to
        self._out = history.gone

    def savings(self, giving: Mapping[str, float]) -> dict[str, float]:
        """What each exchange that could go gives back beyond what its blocks give anyway, by its first block."""
        sizes = self._history.tracker.sizes
        found: dict[str, float] = {}
        for run in self._runs(0, giving):
            fresh = self._fresh(run)
            if len(fresh) >= self._history.tracker.rules.rolled_least - 1:
                for exchange in fresh:
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
        return [msgspec.structs.replace(removal, context=left) for removal in made]

    def _runs(self, start: int, giving: Mapping[str, float]) -> Iterator[list[Exchange]]:
        """Neighbours of which all but the first can go. What went before joins the line that it stands in."""
        texts = (tracked for texts in self._history.tracker.texts.values() for tracked in texts)
        self._pointed = {run.source for tracked in texts for run in tracked.runs}
        found: list[Exchange] = []
        after = -1
        for exchange in self._conversation.exchanges:
            gone = self._gone(exchange)
            heads = not gone and self._heads(exchange)
            can_go = not gone and self._spent(exchange, giving)
            behind = self._history.present[self._blocks(exchange)[0].key] >= start
            if found and (exchange.turns[0] != after or not (gone or can_go)):
                yield found
                found = []
            if behind and (found or heads or can_go):
                found.append(exchange)
            after = max(turn for turn, _ in exchange.members) + 1
        if found:
            yield found

    def _fresh(self, run: Sequence[Exchange]) -> list[Exchange]:
        return [exchange for exchange in run[1:] if not self._gone(exchange)]

    def _spent(self, exchange: Exchange, giving: Mapping[str, float]) -> bool:
        """Whether all that is left of an exchange is small, old, whole, and pointed to by nothing."""
        tracker = self._history.tracker
        blocks = self._blocks(exchange)
        if not exchange.complete or tracker.asked[exchange.calls[0].key] > tracker.turn - tracker.rules.rolled:
            return False
        turns = {turn for turn, _ in exchange.members}
        return (
            all(block.editable and self._small(block, giving) for block in blocks)
            and sum(len(self._conversation.turns[turn].blocks) for turn in turns) == len(blocks)
            and not any(block.key in self._pointed or self._conversation.is_pinned(block) for block in blocks)
            and not any(call.key in tracker.lasting for call in exchange.calls)
        )

    def _small(self, block: Block, giving: Mapping[str, float]) -> bool:
        """Small enough, and no text of a file that may be of use."""
        tracker = self._history.tracker
        if tracker.sizes[block.key] - giving.get(block.key, 0.0) > tracker.rules.rolled_tokens:
            return False
        return block.kind != "result" or all(spent(tracker, tracked) for tracked in tracker.texts.get(block.key, ()))

    def _roll(self, run: Sequence[Exchange]) -> Removal | None:
        tracker, fresh = self._history.tracker, self._fresh(run)
        result = run[0].results[0]
        if result is None or not (result.has_text and result.editable) or len(fresh) < tracker.rules.rolled_least - 1:
            return None
        keys = tuple(block.key for exchange in run[1:] for block in self._blocks(exchange))
        calls = [about(call.name, call.input) for exchange in run[1:] for call in exchange.calls]
        ref = self._evictor.keep(self._history.raw(keys), note=f"{len(calls)} calls")
        text = rollup_text([(call.kind, call.target) for call in calls], ref, self._count)
        texts = tracker.texts.get(result.key)
        before = self._count(texts[0].rolled) if texts and texts[0].rolled else 0
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

    def _blocks(self, exchange: Exchange) -> list[Block]:
        return [self._conversation.turns[turn].blocks[block] for turn, block in exchange.members]

    def _gone(self, exchange: Exchange) -> bool:
        return any(call.key in self._out for call in exchange.calls)

    def _heads(self, exchange: Exchange) -> bool:
        """Whether a line for others stands below its result."""
        texts = self._history.tracker.texts
        return any(
            tracked.rolled for result in exchange.results[:1] if result for tracked in texts.get(result.key, ())
        )
