"""Make a history fit: rung by rung, cheapest loss first, until it is below the mark. It asks no price."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from laconic.context.evict import Candidate, Evictor, candidates
from laconic.context.judge import everything, useless
from laconic.context.ledger import Decision, Reason, Recap
from laconic.context.line import Line
from laconic.context.recap import BUDGET, Summariser, recap
from laconic.wire.conversation import Conversation, parse
from laconic.wire.exchanges import Exchange
from laconic.wire.model import Drop

_KEPT: Final = 2  # newest exchanges that stay whatever happens
_SHORTEST: Final = 20  # tokens below which a text that a model wrote is no recap


class Ladder:
    """The rungs for one request."""

    def __init__(
        self,
        line: Line,
        evictor: Evictor,
        count: Callable[[str], int],
        fixed: int,
        summariser: Summariser | None = None,
    ) -> None:
        self._line = line
        self._evictor = evictor
        self._count = count
        self._fixed = fixed  # tokens of system prompt and tools
        self._summariser = summariser
        self.made: list[Decision] = []

    @property
    def tokens(self) -> int:
        recap = self._line.ledger.recap(self._line.present.__contains__)
        return self._fixed + self._line.tracker.tokens + (self._count(recap.text) if recap else 0)

    def climb(self, target: int, most: int, reason: Reason) -> str:
        """Down to `target` by leaving out rows; beyond that only what is needed to get below `most`.

        Returns the highest rung that acted.
        """
        rung = ""
        for name, found in (("superseded", self._stale()), ("age", self._oldest())):
            for batch in found:
                if self.tokens <= target:
                    return rung
                if self._commit(self._evictor.decide(self._line.tracker, batch, reason, self._line.original)):
                    rung = name
        if self.tokens > most and self._flush():
            rung = "recap"
        while self.tokens > most and self._drop_oldest():
            rung = "trim"
        while self.tokens > most and self._cut_largest(self.tokens - most):
            rung = "trim"
        return rung

    def _stale(self) -> Iterator[Sequence[Candidate]]:
        found = candidates(self._line.tracker, useless)
        if found:
            yield found

    def _oldest(self) -> Iterator[Sequence[Candidate]]:
        """Oldest first, a few at a time: nothing more goes than must."""
        found = candidates(self._line.tracker, everything)
        for at in range(0, len(found), 4):
            yield found[at : at + 4]

    # recap

    def _span(self) -> list[Exchange]:
        conversation = self._line.conversation
        assert conversation is not None
        found = [e for e in conversation.exchanges if not self._dropped(e)]
        return [e for e in found[:-_KEPT] if e.complete and not self._is_pinned(conversation, e)]

    def _flush(self) -> bool:
        """Everything but the newest exchanges becomes a recap. A recap that is no smaller changes nothing."""
        conversation, span = self._line.conversation, self._span()
        assert conversation is not None
        if len(span) < 2:
            return False
        text = self._recap_text(conversation, span)
        keys = tuple(conversation.turns[turn].blocks[block].key for e in span for turn, block in e.members)
        sizes = self._line.tracker.sizes
        if self._count(text) >= sum(sizes.get(key, 0) for key in keys):
            return False
        after = max(turn for e in span for turn, _ in e.members) + 1
        if after >= len(conversation.turns) or not conversation.turns[after].blocks:
            return False
        return self._let_go(keys, "recap", Recap(conversation.turns[after].blocks[0].key, text, keys))

    def _recap_text(self, conversation: Conversation, span: Sequence[Exchange]) -> str:
        ledger = self._line.ledger
        refs = [(d.ref, d.note or d.text or "") for d in ledger if d.ref]
        own = recap(conversation, span, tuple(self._line.tracker.tasks), [(r, w[:60]) for r, w in refs], self._count)
        if self._summariser is None:
            return own
        transcript = "\n".join(b.text for e in span for call, result in e.pairs for b in (call, result) if b)
        written = self._summariser(transcript, BUDGET)
        return written if written and _SHORTEST <= self._count(written.strip()) <= BUDGET else own

    # trim

    def _drop_oldest(self) -> bool:
        conversation = self._line.conversation
        assert conversation is not None
        span = self._span()
        if not span:
            return False
        keys = tuple(conversation.turns[turn].blocks[block].key for turn, block in span[0].members)
        return self._let_go(keys, "trim")

    def _let_go(self, keys: Sequence[str], reason: Reason, recap: Recap | None = None) -> bool:
        """Whole exchanges leave, unless the provider would refuse what is left."""
        line = self._line
        tracker, conversation = line.tracker, line.conversation
        assert conversation is not None
        made = [
            Decision(key, reason, gone=True, before=tracker.sizes[key], after=0, turn=tracker.turn)
            for key in keys
            if key in line.blocks
        ]
        changes, inserts = line.edits()
        changes |= {line.blocks[decision.key].at: Drop() for decision in made}
        rules = {fault.rule for fault in conversation.faults()}
        left = parse(conversation.format, conversation.emit(changes, inserts))
        if {fault.rule for fault in left.faults()} - rules:
            return False
        return self._commit(made, [recap] if recap else [])

    def _cut_largest(self, over: int) -> bool:
        """A single text that is too large keeps its head and its tail."""
        line = self._line
        tracker = line.tracker
        sheets = [s for found in tracker.sheets.values() for s in found if not s.field and any(s.shown)]
        sheets = [s for s in sheets if not isinstance(line.changes.get(s.key), Drop)]
        if not sheets:
            return False
        largest = max(sheets, key=lambda s: tracker.sizes[s.key])
        rows = [row for row in range(len(largest)) if largest.shown[row]]
        if len(rows) < 3:
            return self._commit(self._shorten(largest.key, over))
        share = min(1.0, (over + 64) / max(1, tracker.sizes[largest.key]))
        gone = min(len(rows) - 2, round(len(rows) * share) + 1)
        head = max(1, (len(rows) - gone) * 2 // 3)
        cut = Candidate(largest.key, ((largest, rows[head : head + gone]),), float(over))
        return self._commit(self._evictor.decide(tracker, [cut], "trim", line.original))

    def _shorten(self, key: str, over: int) -> list[Decision]:
        """One endless line: cut inside."""
        line = self._line
        text = line.original(key, "")
        keep = max(200, len(text) - (over + 64) * 5)
        head = keep * 2 // 3
        shorter = f"{text[:head]} [… {len(text) - keep} characters left out] {text[-(keep - head) :]}"
        before, after = line.tracker.sizes[key], self._count(shorter)
        if after >= before:
            return []
        ref = self._evictor.keep(text)
        return [Decision(key, "trim", text=f"{shorter}\nlaconic recall {ref}", ref=ref, before=before, after=after)]

    def _commit(self, made: list[Decision], recaps: Sequence[Recap] = ()) -> bool:
        """Whether anything came into force: where nothing does, no rung may go on for ever."""
        in_force = self._line.commit(made, recaps)
        self.made += in_force
        return bool(in_force)

    def _dropped(self, exchange: Exchange) -> bool:
        return any(isinstance(self._line.changes.get(call.key), Drop) for call in exchange.calls)

    @staticmethod
    def _is_pinned(conversation: Conversation, exchange: Exchange) -> bool:
        return any(conversation.pinned(call) for call in exchange.calls)
