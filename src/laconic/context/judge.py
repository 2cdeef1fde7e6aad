"""Which rows of which texts are no longer of use: the judgement behind every eviction. It weighs no money."""

from __future__ import annotations

from collections.abc import Collection

from laconic.context.sheets import Sheet
from laconic.context.tracker import Tracker
from laconic.context.words import is_comment


def useless(tracker: Tracker, sheet: Sheet) -> Collection[int]:
    """Rows that are shown, or pointed to, and are not likely to be needed again."""
    rules, now = tracker.rules, tracker.turn
    if now - sheet.turn < rules.protected or sheet.characters < rules.smallest:
        return ()
    age, limit = now - _last_use(tracker, sheet), _limit(tracker, sheet)
    if age < limit * min(1.0, rules.comments):
        return {row for row in sheet.stale if sheet.shown[row]}
    gone = _out(sheet)
    return [  # a row that a later text points to has been of use since
        row
        for row, line in enumerate(sheet.passage.lines)
        if row not in gone
        and (
            row in sheet.stale
            or min(age, now - sheet.seen[row]) >= (limit * rules.comments if is_comment(line) else limit)
        )
    ]


def spent(tracker: Tracker, sheet: Sheet) -> bool:
    """Whether a text has nothing to give any more: it was left out, is tiny, or has not been of use for long."""
    if sheet.characters < tracker.rules.smallest or not any(sheet.shown):
        return True
    return tracker.turn - _last_use(tracker, sheet) >= _limit(tracker, sheet)


def finished(tracker: Tracker, sheet: Sheet) -> Collection[int]:
    """Rows of a task that is over. What was of use in the newest turns, or is pointed to from there, stays.

    Of files under change more than that stays: the next task often goes on with them.
    """
    rules, now = tracker.rules, tracker.turn
    changed = any(file in tracker.changed for file in sheet.about.files) and (_is_read(sheet) or sheet.field)
    if now - _last_use(tracker, sheet) < (rules.finished_changed if changed else rules.protected):
        return {row for row in sheet.stale if sheet.shown[row]}
    return [row for row in everything(tracker, sheet) if now - sheet.seen[row] >= rules.protected]


def everything(tracker: Tracker, sheet: Sheet) -> Collection[int]:
    """Every row that is not left out yet, except in the newest turns: for when there is no choice."""
    if tracker.turn - sheet.turn < tracker.rules.protected or sheet.characters < tracker.rules.smallest:
        return ()
    gone = _out(sheet)
    return [row for row in range(len(sheet)) if row not in gone]


def _out(sheet: Sheet) -> set[int]:
    return {row for run in sheet.runs if not run.source for row in range(run.first, run.last + 1)}


def _last_use(tracker: Tracker, sheet: Sheet) -> int:
    """The last turn that touched or named the text's file, or used a rare name of its own."""
    last = max(sheet.turn, sheet.related)
    if len(sheet) >= tracker.rules.big and not sheet.field:
        return last  # of a large text only the rows around what is used count as used
    for file in sheet.about.files:
        last = max(last, tracker.touched.get(file, 0))
    for name in sheet.about.names:
        last = max(last, tracker.mentioned.get(name, 0))
    return last


def _limit(tracker: Tracker, sheet: Sheet) -> int:
    rules, what = tracker.rules, sheet.about
    if sheet.kind == "replaced":
        return rules.replaced
    if sheet.kind == "argument":
        return rules.argument_document if what.document else rules.argument
    changed = any(file in tracker.changed for file in what.files)
    if not _is_read(sheet):
        return rules.output_changed if changed else rules.output
    if what.test:
        ages = rules.changed_test if changed else rules.read_test
    elif what.document:
        ages = rules.changed_document if changed else rules.read_document
    else:
        ages = rules.changed if changed else rules.read
    return ages.short if len(sheet) < rules.short else ages.middle if len(sheet) < rules.big else ages.long


def _is_read(sheet: Sheet) -> bool:
    """Whether a text is something to work from, and not the outcome of something that was done."""
    if sheet.kind == "search":
        return not sheet.passage.heads  # a list of files
    return sheet.kind in {"read", "report", "edit"} or sheet.about.fetched
