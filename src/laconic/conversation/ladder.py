"""Make a history fit: rung by rung, cheapest loss first, until it is below the mark. Prices play no part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from laconic.conversation.branches import KEPT
from laconic.conversation.eviction import EvictionCandidate, Evictor, candidates, is_exact, takes_fewer_bytes
from laconic.conversation.history import History
from laconic.conversation.ledger import Decision, Reason, Receipt, Removal
from laconic.conversation.own_words import list_own_words, shorten_words
from laconic.conversation.recap import BUDGET, recap
from laconic.conversation.staleness import everything, useless
from laconic.conversation.tracked_text import TrackedText
from laconic.errors import ArchiveUnavailable
from laconic.render.passage import passage_text
from laconic.render.recap import recap_head
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.tool_exchanges import Exchange

_SHORTEST: Final = 20  # characters below which a text is not cut
_RECAPS: Final = 8  # references of earlier recaps that a recap names; when there are more, it takes them all over
_RECALL: Final = re.compile(r"[;\n]?\s*laconic recall \w+")
_NOTE: Final = 60  # characters
_LARGEST: Final = 20  # texts that are looked at when one must be cut


class Ladder:
    """The rungs for one request."""

    def __init__(self, history: History, evictor: Evictor, count: Callable[[str], int], fixed: int) -> None:
        self._history = history
        self._evictor = evictor
        self._count = count
        self._fixed = fixed  # tokens of system prompt and tools
        self.made: list[Decision | Removal] = []

    @property
    def tokens(self) -> int:
        return self._fixed + self._history.tokens

    def climb(self, target: int, most: int, reason: Reason, again: int = 0) -> str:
        """Down to `target` by leaving out rows; beyond that only what is needed to get below `most`.

        Above `again` a request must be shortened once more: what lands near it is shortened by the model's own words too.
        Returns the highest rung that acted.
        """
        rung = ""
        for name, found in (("superseded", self._stale()), ("age", self._oldest())):
            for batch in found:
                if self.tokens <= target:
                    return rung
                if self._commit(self._evictor.decide(self._history.tracker, batch, reason, self._history.original)):
                    rung = name
        if self.tokens > most and self._flush():
            rung = "recap"
        if again and 2 * self.tokens > target + again and self._shorten_words(target):
            rung = "words"
        while self.tokens > most and self._drop_oldest():
            rung = "trim"
        while self.tokens > most and self._cut_largest(self.tokens - most):
            rung = "trim"
        return rung

    def _stale(self) -> Iterator[Sequence[EvictionCandidate]]:
        found = candidates(self._history.tracker, useless)
        if found:
            yield found

    def _oldest(self) -> Iterator[Sequence[EvictionCandidate]]:
        """Oldest first, a few at a time: nothing more goes than must."""
        found = candidates(self._history.tracker, everything)
        for at in range(0, len(found), 4):
            yield found[at : at + 4]

    def _shorten_words(self, target: int) -> bool:
        """What the model said long ago goes, the oldest first, down to the mark: else every request would be an event."""
        acted = False
        for block in list_own_words(self._history):
            if self.tokens <= target:
                break
            made = shorten_words(self._history, block, self._evictor, self._count)
            if made is not None and self._commit([made]):
                acted = True
        return acted

    # recap

    def _span(self) -> list[Exchange]:
        conversation, gone = self._history.conversation, self._history.gone
        assert conversation is not None
        found = []
        for e in conversation.exchanges:
            if not any(call.key in gone for call in e.calls):
                found.append(e)
        return [e for e in found[:-KEPT] if e.complete and not self._is_pinned(conversation, e)]

    def _flush(self) -> bool:
        """Everything but the newest exchanges becomes a recap. A recap that is no smaller changes nothing."""
        span = self._span()
        return len(span) >= 2 and self._let_go(span, "recap")

    def _drop_oldest(self) -> bool:
        """The oldest exchange goes, where a recap of all is no way out."""
        span = self._span()
        return bool(span) and self._let_go(span[:1], "trim")

    def _let_go(self, span: Sequence[Exchange], reason: Reason) -> bool:
        """Whole exchanges leave for the archive, unless the provider would refuse what is left."""
        history = self._history
        conversation = history.conversation
        assert conversation is not None
        after = max(turn for e in span for turn, _ in e.members) + 1
        if after >= len(conversation.turns) or not conversation.turns[after].blocks:
            return False
        keys = self._leaving(conversation, span)
        before = sum(history.tracker.sizes.get(key, 0) for key in keys) + (
            history.recap.after if history.recap else 0
        )
        try:
            ref = self._evictor.keep(history.raw(keys), note=f"{len(span)} exchanges")
        except ArchiveUnavailable:
            return False
        text = self._recap_text(conversation, span, ref)
        size = self._count(text)
        removal = Removal(
            keys=keys,
            reason=reason,
            ref=ref,
            text=text,
            anchor=conversation.turns[after].blocks[0].key,
            before=before,
            after=size,
            turn=history.tracker.turn,
            context=history.tracker.tokens - before + size,
        )
        if size >= before or history.breaks(removal):
            return False
        return self._commit([], [removal])

    def _leaving(self, conversation: ParsedRequest, span: Sequence[Exchange]) -> tuple[str, ...]:
        """The blocks of these exchanges, of those that a line below them stands for, and of too many older recaps."""
        keys = set()
        for e in span:
            for turn, block in e.members:
                keys.add(conversation.turns[turn].blocks[block].key)
        for removal in self._history.removals:
            if removal.below and removal.anchor in keys:
                keys.update(removal.keys)
        recaps = self._recaps()
        if len(recaps) >= _RECAPS:
            keys.update(key for removal in recaps for key in removal.keys)
        place = self._history.present
        return tuple(sorted(keys, key=place.__getitem__))

    def _recaps(self) -> list[Removal]:
        found: list[Removal] = []
        for removal in self._history.removals:
            if not removal.below:
                found.append(removal)
        return found

    def _recap_text(self, conversation: ParsedRequest, span: Sequence[Exchange], ref: Receipt) -> str:
        """What the exchanges came to, behind the references that give all of them back."""
        recaps = self._recaps()
        earlier: tuple[Receipt, ...] = ()
        if len(recaps) < _RECAPS:
            earlier = tuple(removal.ref for removal in recaps)
        head = recap_head(ref, earlier)
        return f"{head}\n\n{self._account(conversation, span, BUDGET - self._count(head) - 8)}"

    def _account(self, conversation: ParsedRequest, span: Sequence[Exchange], budget: int) -> str:
        notes = []
        for d in self._decisions():
            notes.append((d.ref, _brief(d.note or d.text or "")))
        tasks = tuple(self._history.tracker.tasks)
        covered = self._find_covered(conversation, span)
        return recap(conversation, covered, tasks, notes, count=self._count, budget=budget)

    def _find_covered(self, conversation: ParsedRequest, span: Sequence[Exchange]) -> list[Exchange]:
        """These exchanges, and all that went before: a recap says what earlier ones said."""
        gone = self._history.gone | {call.key for exchange in span for call in exchange.calls}
        return [exchange for exchange in conversation.exchanges if any(call.key in gone for call in exchange.calls)]

    def _decisions(self) -> list[Decision]:
        found = []
        for fields in self._history.decisions.values():
            for d in fields.values():
                if d.reason != "ingest":
                    found.append(d)
        return sorted(found, key=lambda decision: (self._history.present[decision.key], decision.field))

    # trim

    def _cut_largest(self, over: int) -> bool:
        """A single text that is too large keeps its head and its tail."""
        history = self._history
        tracker, gone = history.tracker, history.gone
        texts = []
        for key, found in tracker.texts.items():
            if key in gone or not history.blocks[key].editable:
                continue
            for tracked in found:
                if not tracked.field and self._count_shown(tracked) > _SHORTEST:
                    texts.append(tracked)
        for largest in sorted(texts, key=self._count_shown, reverse=True)[:_LARGEST]:
            if self._commit(self._cut(largest, over)):
                return True
        return False

    @staticmethod
    def _count_shown(tracked: TrackedText) -> int:
        """Characters that are shown."""
        if all(tracked.shown):
            return tracked.characters
        return sum(len(line) for row, line in enumerate(tracked.passage.lines) if tracked.shown[row])

    def _cut(self, tracked: TrackedText, over: int) -> list[Decision]:
        rows = []
        for row in range(len(tracked)):
            if tracked.shown[row]:
                rows.append(row)
        if len(rows) < 3:
            return self._shorten(tracked, over)
        share = min(1.0, (over + 64) / max(1, self._history.tracker.sizes[tracked.key]))
        gone = min(len(rows) - 2, round(len(rows) * share) + 1)
        head = max(1, (len(rows) - gone) * 2 // 3)
        cut = EvictionCandidate(tracked.key, ((tracked, rows[head : head + gone]),), float(over))
        return self._evictor.decide(self._history.tracker, [cut], "trim", self._history.original)

    def _shorten(self, tracked: TrackedText, over: int) -> list[Decision]:
        """One endless line: cut inside."""
        history = self._history
        text = history.original(tracked.key, "")
        keep = max(200, len(text) - (over + 64) * 5)
        if keep >= len(text) or not is_exact(text):
            return []
        head = keep * 2 // 3
        try:
            ref = tracked.ref or self._evictor.keep(text)
        except ArchiveUnavailable:
            return []
        left = f"{text[:head]} [… {len(text) - keep} characters left out] {text[-(keep - head) :]}"
        shorter = f"{left}\nlaconic recall {ref}"
        shown = passage_text(tracked.passage, tracked.runs)
        before, after = self._count(shown), self._count(shorter)
        if after >= before or not takes_fewer_bytes(shorter, shown):
            return []
        return [
            Decision(
                key=tracked.key,
                reason="trim",
                ref=ref,
                text=shorter,
                whole=self._count(text),
                before=before,
                after=after,
                turn=history.tracker.turn,
                context=history.tracker.tokens - before + after,
            )
        ]

    def _commit(self, made: list[Decision], removals: Sequence[Removal] = ()) -> bool:
        """Whether anything came into force: where nothing does, no rung may go on for ever."""
        in_force = self._history.commit(made, removals)
        self.made += in_force
        return bool(in_force)

    @staticmethod
    def _is_pinned(conversation: ParsedRequest, exchange: Exchange) -> bool:
        if any(result is not None and not result.editable for result in exchange.results):
            return True
        return any(conversation.is_pinned(call) for call in exchange.calls)


def _brief(note: str) -> str:
    """What was left out, in a few words; the reference stands before them."""
    said = _RECALL.sub("", note).strip("[] ")
    if len(said) <= _NOTE:
        return said
    return f"{said[: _NOTE - 1]}…"
