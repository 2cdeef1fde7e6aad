"""The last copies of imports: code that is written later repeats them, also those that only a traceback shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from laconic.conversation.tracked_text import TrackedText
from laconic.conversation.tracker import ConversationTracker

_SHORTEST: Final = 12  # characters of a line that is worth keeping


class LastImports:
    """Which imports nothing else shows, at the moment at which something is about to go."""

    def __init__(self, tracker: ConversationTracker, carried: Iterable[str] = ()) -> None:
        """`carried`: lines that stand below results, for exchanges that are gone."""
        self._last: dict[str, TrackedText] = {}  # the last text that shows a line
        for texts in tracker.texts.values():
            for tracked in texts:
                if tracked.kind != "replaced":
                    for row in tracked.imports:
                        if tracked.shown[row]:
                            self._last[tracked.passage.lines[row].strip()] = tracked
        for line in carried:
            self._last.pop(line.strip(), None)

    def without(self, tracked: TrackedText, rows: Collection[int]) -> Collection[int]:
        """These rows of a text without those that are to stay; the same object where none is."""
        stay = self._find_rows(tracked)
        if not stay or not any(row in stay for row in rows):
            return rows
        return [row for row in rows if row not in stay]

    def list_lines(self, texts: Sequence[TrackedText]) -> list[str]:
        """The lines of these texts that are to stay."""
        found: list[str] = []
        for tracked in texts:
            for row in self._find_rows(tracked):
                found.append(tracked.passage.lines[row])
        return found

    def _find_rows(self, tracked: TrackedText) -> list[int]:
        found: dict[str, int] = {}
        for row in sorted(tracked.imports):
            line = tracked.passage.lines[row].strip()
            if tracked.shown[row] and len(line) >= _SHORTEST and self._last.get(line) is tracked:
                found.setdefault(line, row)
        return list(found.values())
