"""Leave rows out of the conversation: what it would give back, and the decisions, each archived before it is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import msgspec

from laconic.conversation.block_changes import write
from laconic.conversation.cache_economics import BlockSaving
from laconic.conversation.last_imports import LastImports
from laconic.conversation.ledger import Decision, Reason, Receipt
from laconic.conversation.staleness import useless
from laconic.conversation.tool_use import ToolUse
from laconic.conversation.tracked_text import TrackedText
from laconic.conversation.tracker import ConversationTracker
from laconic.conversation.transaction import LedgerTransaction
from laconic.errors import ArchiveUnavailable
from laconic.records import ArchivedOriginal
from laconic.reduce.text import reduce_text
from laconic.render.passage import passage_text
from laconic.render.tombstone import partly, tombstone

_PER_TOKEN: Final = 3.4  # characters, near enough to compare; what is sent is counted
_GAP: Final = 5  # tokens of the line in the place of a run
_NOTE: Final = 16  # tokens of the line that says how to recall
_NOTED: Final = 200  # characters of an archive's note
_RESULT: Final = 100  # characters of a task's result
_MOST: Final = 0.97  # share of a block that it gives back at most
_LEAST: Final = 40  # tokens below which a block is left as it is

_WHY: Final[Mapping[str, str]] = {
    "superseded": "superseded",
    "age": "unused",
    "task": "task done",
    "survival": "quota",
    "trim": "to fit",
}


class EvictionCandidate(msgspec.Struct, frozen=True):
    """A block that can give tokens back, and the rows it would lose."""

    key: str
    rows: tuple[tuple[TrackedText, Collection[int]], ...]
    tokens: float


def candidates(
    tracker: ConversationTracker,
    judge: Callable[[ConversationTracker, TrackedText], Collection[int]] = useless,
    least: int = _LEAST,
) -> list[EvictionCandidate]:
    """Blocks of earlier requests with something to give, in order."""
    found = []
    for key, texts in tracker.texts.items():
        if tracker.place[key] >= tracker.sent:
            continue
        picked = [(tracked, rows) for tracked in texts if (rows := judge(tracker, tracked))]
        tokens = sum(_worth(tracked, rows) for tracked, rows in picked)
        if picked and tokens >= least:
            found.append(EvictionCandidate(key, tuple(picked), min(tokens, tracker.sizes[key] * _MOST)))
    found.sort(key=lambda candidate: tracker.place[candidate.key])
    return found


def keep_imports(
    tracker: ConversationTracker, found: Sequence[EvictionCandidate], imports: LastImports
) -> list[EvictionCandidate]:
    """The same candidates without the last copies of imports."""
    left: list[EvictionCandidate] = []
    for candidate in found:
        picked: list[tuple[TrackedText, Collection[int]]] = []
        for tracked, rows in candidate.rows:
            if go := imports.without(tracked, rows):
                picked.append((tracked, go))
        if (tokens := sum(_worth(tracked, rows) for tracked, rows in picked)) >= _LEAST:
            most = tracker.sizes[candidate.key] * _MOST
            left.append(EvictionCandidate(candidate.key, tuple(picked), min(tokens, most)))
    return left


def savings(tracker: ConversationTracker, giving: Mapping[str, float]) -> list[BlockSaving]:
    """What each block would give back, where it stands, and what stands behind it in the cache; in order."""
    found: list[BlockSaving] = []
    total = 0.0
    for key in reversed(tracker.order[: tracker.sent]):
        total += tracker.sizes[key]
        if key in giving:
            found.append(BlockSaving(giving[key], total, tracker.place[key]))
    return found[::-1]


class Evictor:
    """Turns rows into decisions: archive first, count, and keep what is smaller."""

    def __init__(self, session: str, writing: LedgerTransaction, count: Callable[[str], int]) -> None:
        self._session = session
        self._writing = writing
        self._count = count

    def decide(
        self,
        tracker: ConversationTracker,
        chosen: Sequence[EvictionCandidate],
        reason: Reason,
        original: Callable[[str, str], str],
        task: tuple[str, str] = ("", ""),
    ) -> list[Decision]:
        """Decisions for these candidates. When the archive cannot be written nothing more is left out.

        `task` is the title of the task that they belonged to, and its result.
        """
        made: list[Decision] = []
        try:
            for candidate in chosen:
                for tracked, rows in candidate.rows:
                    text = original(tracked.key, tracked.field)
                    if (decision := self._one(tracked, rows, reason, text, task)) is not None:
                        made.append(msgspec.structs.replace(decision, turn=tracker.turn, context=tracker.tokens))
        except ArchiveUnavailable:
            pass  # what is archived may go, the rest stays
        left = tracker.tokens - sum(decision.before - decision.after for decision in made)
        found: list[Decision] = []
        for each in made:
            found.append(msgspec.structs.replace(each, turn=tracker.turn, context=left))
        return found

    def shrink(self, text: str, what: ToolUse, task: str) -> tuple[str, Receipt] | None:
        """A large output in fewer tokens; None when it is not shorter, or cannot be archived."""
        if not is_exact(text):
            return None
        try:
            expected = self._writing.archive.reference(self._original(text, task))
        except ArchiveUnavailable:
            return None
        shorter = self._reduce(text, expected)
        if len(shorter) >= len(text) or (ref := self.receipt_for(text, what, task)) is None:
            return None
        if ref != expected:  # somebody has taken it since
            shorter = self._reduce(text, ref)
        return shorter, ref

    def _reduce(self, text: str, ref: str) -> str:
        """In fewer tokens, with the way to get the whole."""
        recall = f"laconic recall {ref}"
        shorter = reduce_text(text, cost=self._count, more=recall).text
        if recall in shorter:
            return shorter
        return f"{shorter}\n[{recall}]"

    def receipt_for(self, text: str, what: ToolUse, task: str) -> Receipt | None:
        """Where a text is archived; None when it cannot be."""
        if not is_exact(text):
            return None
        try:
            return self.keep(text, task, f"{what.kind} {what.target}".strip())
        except ArchiveUnavailable:
            return None

    def keep(self, text: str | bytes, task: str = "", note: str = "") -> Receipt:
        """Archive a text, or bytes as they are."""
        return self._writing.keep(self._original(text, task, note))

    def _original(self, text: str | bytes, task: str = "", note: str = "") -> ArchivedOriginal:
        return ArchivedOriginal(self._session, task, as_bytes(text), note[:_NOTED])

    def _one(
        self, tracked: TrackedText, rows: Collection[int], reason: Reason, original: str, of: tuple[str, str]
    ) -> Decision | None:
        if not is_exact(original):
            return None
        what, (task, result) = tracked.about, of
        name = f"{what.kind} {tracked.field}".strip()
        runs = tracked.without(rows)
        out = sum(run.last - run.first + 1 for run in runs if not run.source)
        ref, filed = tracked.ref, tracked.filed
        if not ref:
            ref, filed = self.keep(original, task, f"{name} {what.target}"), task
        if out >= len(tracked):
            why = _WHY.get(reason, "")
            if task:
                why = f"task {task[:40]!r} done"
            if result:
                why = f"{why}: {' '.join(result.split())[:_RESULT]}"
            target = "" if tracked.field else what.target  # an argument stands beside the others of its call
            text: str | None = tombstone(what.kind, target, (len(tracked), why, ref), self._count)
            runs, note = (), ""
        else:
            text, note = tracked.base, partly(out, len(tracked), ref)
        decision = Decision(
            key=tracked.key, reason=reason, ref=ref, field=tracked.field, runs=runs, text=text, note=note, task=filed
        )
        shown, left = passage_text(tracked.passage, tracked.runs), write(decision, original)
        before, after = self._count(shown), self._count(left)
        if after >= before or not takes_fewer_bytes(left, shown):
            return None
        return msgspec.structs.replace(decision, whole=self._count(original), before=before, after=after)


def is_exact(text: str) -> bool:
    """Whether a text is what the client wrote: what is no Unicode was replaced, and could not be given back."""
    return "\ufffd" not in text


def takes_fewer_bytes(text: str, other: str) -> bool:
    """Whether a text makes a request shorter than another would: fewer tokens can be more bytes."""
    return len(msgspec.json.encode(text)) < len(msgspec.json.encode(other))


def as_bytes(text: str | bytes) -> bytes:
    """A text as it is archived."""
    if isinstance(text, bytes):
        return text
    return text.encode("utf-8", "surrogatepass")


def _worth(tracked: TrackedText, rows: Collection[int]) -> float:
    """Tokens that leaving these rows out would give back, roughly. It is asked of the same rows request after request."""
    if tracked.weighed is None or tracked.weighed[0] is not rows:
        tracked.weighed = (rows, _weigh(tracked, rows))
    worth = tracked.weighed[1]
    if tracked.ref:
        return worth
    return worth - _NOTE


def _weigh(tracked: TrackedText, rows: Collection[int]) -> float:
    lines, shown_rows = tracked.passage.lines, tracked.shown
    picked = set(rows)
    around = 7 if tracked.passage.tagged else 2  # line end, and the number where all are shown
    characters = sum(len(lines[row]) + around if shown_rows[row] else 1 for row in picked)
    gaps = sum(1 for row in picked if row - 1 not in picked)
    return characters / _PER_TOKEN - gaps * _GAP
