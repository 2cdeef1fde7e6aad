"""Roll up old exchanges of which nothing is left to read: one line stands for many, and says how to get them back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from laconic.context.calls import about
from laconic.context.evict import Evictor
from laconic.context.judge import spent
from laconic.context.ledger import Decision
from laconic.context.line import Line
from laconic.errors import ArchiveUnavailable
from laconic.render.passage import shown
from laconic.render.tombstone import rolled
from laconic.wire.conversation import Conversation, parse
from laconic.wire.exchanges import Exchange
from laconic.wire.model import Block, Drop


class Roller:
    """Finds runs of spent exchanges from a place on, and turns each into one line in the first one's result."""

    def __init__(self, line: Line, conversation: Conversation, evictor: Evictor, count: Callable[[str], int]) -> None:
        self._line = line
        self._conversation = conversation
        self._evictor = evictor
        self._count = count
        self._pointed = {
            run.source for sheets in line.tracker.sheets.values() for sheet in sheets for run in sheet.runs
        }

    def decide(self, start: int) -> list[Decision]:
        """Decisions about blocks from this place on. Nothing when the provider would refuse what is left."""
        made: list[Decision] = []
        try:
            for found in self._runs(start):
                made += self._one(found)
        except ArchiveUnavailable:
            pass  # what is archived may go, the rest stays
        if not made or self._breaks(made):
            return []
        tracker = self._line.tracker
        left = tracker.tokens - sum(decision.before - decision.after for decision in made)
        return [msgspec.structs.replace(decision, turn=tracker.turn, context=left) for decision in made]

    def _runs(self, start: int) -> Iterator[list[Exchange]]:
        """Neighbours that are spent. Those that went before count as neighbours: their line is written anew."""
        found: list[Exchange] = []
        after = -1
        for exchange in self._conversation.exchanges:
            if self._spent(exchange, start):
                if exchange.turns[0] != after:
                    yield found
                    found = []
                found.append(exchange)
                after = max(turn for turn, _ in exchange.members) + 1
        yield found

    def _spent(self, exchange: Exchange, start: int) -> bool:
        """Whether all that is left of an exchange is small, old, whole, and pointed to by nothing."""
        line, rules = self._line, self._line.tracker.rules
        blocks = self._blocks(exchange)
        if not exchange.complete or line.present[blocks[0].key] < start:
            return False
        if self._gone(exchange):
            return True
        if line.tracker.asked[exchange.calls[0].key] > line.tracker.turn - rules.rolled:
            return False
        turns = {turn for turn, _ in exchange.members}
        return (
            sum(len(self._conversation.turns[turn].blocks) for turn in turns) == len(blocks)
            and all(block.editable and self._small(block) for block in blocks)
            and not any(block.key in self._pointed or self._conversation.pinned(block) for block in blocks)
            and not any(about(call.name, call.input).kind in {"task", "report"} for call in exchange.calls)
        )

    def _small(self, block: Block) -> bool:
        """Small enough, and no text of a file that may be of use."""
        tracker = self._line.tracker
        if tracker.sizes[block.key] > tracker.rules.rolled_tokens:
            return False
        return block.kind != "result" or all(spent(tracker, sheet) for sheet in tracker.sheets.get(block.key, ()))

    def _one(self, found: Sequence[Exchange]) -> list[Decision]:
        tracker = self._line.tracker
        stays = next((exchange for exchange in found if not self._gone(exchange)), None)
        fresh = [exchange for exchange in found if exchange is not stays and not self._gone(exchange)]
        if stays is None or len(fresh) < tracker.rules.rolled_least - 1:
            return []
        result = stays.results[0]
        assert result is not None
        sheet = tracker.sheets[result.key][0]
        blocks = [block for exchange in found for block in self._blocks(exchange)]
        whole = b"\n".join(block.raw for block in blocks).decode("utf-8", "replace")
        calls = [about(call.name, call.input) for exchange in found for call in exchange.calls]
        ref = self._evictor.keep(whole, note=f"{len(calls)} calls")
        text = rolled([(call.kind, call.target) for call in calls], ref, self._count)
        before, after = self._count(shown(sheet.passage, sheet.runs)), self._count(text)
        made = [
            Decision(block.key, "age", gone=True, before=tracker.sizes[block.key])
            for exchange in fresh
            for block in self._blocks(exchange)
        ]
        if sum(decision.before for decision in made) <= after - before:
            return []
        return [Decision(result.key, "age", text=text, ref=ref, before=before, after=after), *made]

    def _breaks(self, made: Sequence[Decision]) -> bool:
        changes, inserts = self._line.edits()
        changes |= {self._line.blocks[decision.key].at: Drop() for decision in made if decision.gone}
        rules = {fault.rule for fault in self._conversation.faults()}
        left = parse(self._conversation.format, self._conversation.emit(changes, inserts))
        return bool({fault.rule for fault in left.faults()} - rules)

    def _blocks(self, exchange: Exchange) -> list[Block]:
        return [self._conversation.turns[turn].blocks[block] for turn, block in exchange.members]

    def _gone(self, exchange: Exchange) -> bool:
        return any(isinstance(self._line.changes.get(call.key), Drop) for call in exchange.calls)
