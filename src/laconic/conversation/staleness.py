"""Which rows of which texts are no longer useful: the basis of every eviction. Prices play no part."""

from __future__ import annotations

from collections.abc import Collection

from laconic.conversation.lifetimes import Lifetimes
from laconic.conversation.tracked_text import TrackedText
from laconic.conversation.tracker import ConversationTracker


def useless(tracker: ConversationTracker, tracked: TrackedText, patience: float = 1.0) -> Collection[int]:
    """Rows that are shown, or pointed to, and are not likely to be needed again.

    `patience`: what may be edited is given so many times its usual age. The imports of a file stay: they are few, and
    code that is written later repeats them.
    """
    rules, now = tracker.rules, tracker.turn
    if now - tracked.turn < rules.protected or tracked.characters < rules.smallest:
        return ()
    age, limit = now - _last_use(tracker, tracked), _limit(tracker, tracked, patience)
    if age < limit:
        return ()
    rows = tracked.evictable(imports=not _is_read(tracked))
    if now - max(tracked.seen, default=0) >= limit:
        return rows
    return [row for row in rows if now - tracked.seen[row] >= limit]  # a later text that points to a row has used it


def is_past(tracker: ConversationTracker, tracked: TrackedText, patience: float = 1.0) -> bool:
    """Whether the exchange of a text can go: the text was left out, is tiny, or has not been of use for long enough."""
    rules = tracker.rules
    if tracked.characters < rules.smallest or not any(tracked.shown):
        return True
    age = tracker.turn - _last_use(tracker, tracked)
    if tracked.about.changes or _is_read(tracked):
        return age >= _limit(tracker, tracked, patience)
    return age >= rules.rolled


def find_finished(tracker: ConversationTracker, tracked: TrackedText) -> Collection[int]:
    """Rows of a task that is over. What was read and was of use in the newest turns, or is pointed to from there, stays.

    Output that its task was made for goes at once: the model has read it and drawn its conclusion. Of files under change
    more than the newest turns stays: the next task often goes on with them.
    """
    rules, now = tracker.rules, tracker.turn
    changed = any(file in tracker.changed for file in tracked.about.files)
    huge = tracked.characters >= rules.huge and not changed
    if not tracked.field and (huge or not _is_read(tracked)):
        return tracked.evictable(imports=True)
    kept = rules.finished_changed if changed else rules.protected
    if now - _last_use(tracker, tracked, planned=False) < kept:  # its task is over, whatever the plan said
        return ()
    return [row for row in everything(tracker, tracked) if now - tracked.seen[row] >= rules.protected]


def everything(tracker: ConversationTracker, tracked: TrackedText) -> Collection[int]:
    """Every row that is not left out yet, except in the newest turns: for when there is no choice."""
    if tracker.turn - tracked.turn < tracker.rules.protected or tracked.characters < tracker.rules.smallest:
        return ()
    return tracked.evictable(imports=True)


def _last_use(tracker: ConversationTracker, tracked: TrackedText, *, planned: bool = True) -> int:
    """The last turn that touched or named the text's file, or used a rare name of its own.

    `planned`: what a plan names is of use until it was changed.
    """
    last = max(tracked.turn, tracked.related)
    if not _is_read(tracked) and tracked.about.kind in {"run", "search"}:
        return last  # a command that runs again prints its output again
    if planned and _is_read(tracked) and tracker.is_planned(tracked.about.names):
        return tracker.turn
    if len(tracked) >= tracker.rules.big and not tracked.field:
        return last  # of a large text only the rows around what is used count as used
    for file in tracked.about.files:
        last = max(last, tracker.touched.get(file, 0))
    for name in tracked.about.names:
        last = max(last, tracker.mentioned.get(name, 0))
    return last


def _limit(tracker: ConversationTracker, tracked: TrackedText, patience: float) -> float:
    """Turns without use after which a text goes, by what it is and how much leaving it out gives back."""
    rules = tracker.rules
    if tracked.kind == "replaced":
        return rules.replaced
    if tracked.kind == "argument":
        if tracked.about.kind == "run":
            return rules.script
        return patience * _argument_limit(rules, tracked)
    if _is_read(tracked):
        return patience * _read_limit(tracker, tracked)
    return _output_limit(rules, tracked)


def _read_limit(tracker: ConversationTracker, tracked: TrackedText) -> float:
    rules, what = tracker.rules, tracked.about
    changed = any(file in tracker.changed for file in what.files)
    if is_path_list(tracked):
        return rules.paths
    if what.test:
        ages = rules.changed_test if changed else rules.read_test
    elif what.document:
        if changed:
            ages = rules.changed_document
        else:
            ages = rules.read_document
    else:
        ages = rules.changed if changed else rules.read
    limit = ages.pick(len(tracked), rules.short, rules.big)
    if tracked.passage.tagged and not changed:
        return limit * rules.read_again
    return limit


def _argument_limit(rules: Lifetimes, tracked: TrackedText) -> int:
    """What a call wrote is in its file, and often its only copy here."""
    if tracked.about.document:
        return rules.argument_document
    return rules.argument


def _output_limit(rules: Lifetimes, tracked: TrackedText) -> int:
    if tracked.kind == "search":
        ages = rules.search
    else:
        ages = rules.output
    return ages.pick(tracked.characters, rules.output_short, rules.output_big)


def is_path_list(tracked: TrackedText) -> bool:
    """Whether a search found files: their names are few tokens, and are what the next calls are made of."""
    return tracked.kind == "search" and tracked.paths


def _is_read(tracked: TrackedText) -> bool:
    """Whether a text is something to work from, and not the outcome of something that was done."""
    if tracked.kind == "search":
        return tracked.paths or (tracked.about.around and not tracked.passage.heads)
    return tracked.kind in {"read", "report", "edit"} or tracked.about.fetched
