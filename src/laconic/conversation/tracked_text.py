"""Texts that the model has seen, row by row, and where each line is still visible."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from laconic.conversation.identifiers import is_import
from laconic.conversation.ledger import Receipt
from laconic.conversation.tool_use import ToolUse
from laconic.records import FoldedRows, Passage
from laconic.reduce.passage import leave_out_rows

_PATH: Final = re.compile(r"[\w.@~\-]*/[\w./@~+\-]+|[\w\-]+\.[A-Za-z]\w{0,5}")
_WORTH_FINDING: Final = 8  # characters that a line must have to be looked up
_ROWS: Final = 24  # bits of a place that say which row of its text it is
_REMEMBERED: Final = 10  # places of one line that are looked at; the newest are
_COUNTED: Final = 9  # rows that a reader has to count at most, from a number that is shown


class TrackedText:
    """One text in the conversation: a result, or an argument of a call."""

    __slots__ = (
        "_evictable",
        "_imports",
        "about",
        "base",
        "characters",
        "field",
        "filed",
        "key",
        "kind",
        "passage",
        "paths",
        "ref",
        "related",
        "rolled",
        "runs",
        "seen",
        "shown",
        "task",
        "turn",
        "weighed",
    )

    def __init__(
        self,
        key: str,
        field: str,
        passage: Passage,
        *,
        about: ToolUse,
        kind: str,
        turn: int,
        runs: tuple[FoldedRows, ...] = (),
    ) -> None:
        self.key = key
        self.field = field
        self.passage = passage
        self.characters = sum(map(len, passage.lines))
        self.paths = kind == "search" and lists_paths(passage.lines)
        self.about = about
        self.kind = kind  # the call's kind for a result; `argument` or `replaced` for an argument
        self.turn = turn
        self.related = turn  # the turn in which a rare name of its own was last written
        self.seen = array("I", [turn]) * len(passage)  # the turn in which a row was last of use
        self.shown = bytearray(b"\1") * len(passage)
        self.base: str | None = None  # what the passage was read from, where that is not the original
        self.task = ""  # the task in progress when the call was made
        self.filed = ""  # the title of the task under which the original is archived
        self.ref: Receipt | None = None  # where the original is archived, once it is
        self.rolled = ""  # the line below it, for exchanges that are gone
        self.runs: tuple[FoldedRows, ...] = ()
        self._imports: frozenset[int] | None = None
        self._evictable: dict[bool, Sequence[int]] = {}
        self.weighed: tuple[Collection[int], float] | None = (
            None  # rows, and the tokens that they were found to be worth
        )
        self.take(runs)

    def __len__(self) -> int:
        return len(self.passage)

    def take(self, runs: tuple[FoldedRows, ...]) -> None:
        """These rows are not shown."""
        self.runs = runs
        self._evictable = {}
        for run in runs:
            for row in range(run.first, min(run.last + 1, len(self.shown))):
                self.shown[row] = 0

    def replace(self, text: str, passage: Passage) -> None:
        """Another text stands in its place."""
        self.base, self.passage, self.runs = text, passage, ()
        self._imports, self._evictable = None, {}
        self.characters = sum(map(len, passage.lines))
        self.shown = bytearray(len(passage))  # not to be pointed to
        self.seen = array("I", [self.turn]) * len(passage)

    def evictable(self, *, imports: bool) -> Sequence[int]:
        """Rows that are not left out yet; `imports`: also imports that are shown.

        Remembered, and the very same object until the text changes: every request asks for those of every old text.
        """
        found = self._evictable.get(imports)
        if found is None:
            kept: set[int] = set()
            if not imports:
                kept.update(row for row in self.imports if self.shown[row])
            for run in self.runs:
                if not run.source:
                    kept.update(range(run.first, run.last + 1))
            found = range(len(self))
            if kept:
                found = tuple(row for row in found if row not in kept)
            self._evictable[imports] = found
        return found

    @property
    def imports(self) -> frozenset[int]:
        """Rows that only say what code builds on."""
        if self._imports is None:
            self._imports = frozenset(row for row, line in enumerate(self.passage.lines) if is_import(line))
        return self._imports

    def without(self, rows: Iterable[int]) -> tuple[FoldedRows, ...]:
        """The runs when these rows are left out too."""
        return leave_out_rows(self.runs, rows)

    def has_written(self, files: frozenset[str]) -> bool:
        """Whether it is an argument that went into one of these files."""
        if not self.field or not self.about.changes:
            return False
        for mine in self.about.files:
            for other in files:  # a file at the top of a workspace has one part there, and two in a client's path
                if mine == other or mine.endswith(f"/{other}") or other.endswith(f"/{mine}"):
                    return True
        return False

    def used(self, first: int, last: int, turn: int) -> None:
        """Rows were of use in that turn."""
        first, last = max(0, first), min(last + 1, len(self.seen))
        if first < last:
            self.seen[first:last] = array("I", [turn]) * (last - first)


def lists_paths(lines: Sequence[str]) -> bool:
    """Whether most lines are paths of files and nothing else."""
    found = [line for line in lines if line.strip()]
    return sum(1 for line in found if _PATH.fullmatch(line.strip())) > len(found) / 2


class Sightings:
    """Where lines are visible, so that a repeat can point to them."""

    def __init__(self, fewest: int, characters: int, alone: int) -> None:
        self._fewest = fewest  # rows of a repeat that is worth a pointer
        self._characters = characters  # and their characters
        self._alone = alone  # characters of a single row that is
        self._texts: list[TrackedText] = []
        self._places: dict[str, int | list[int]] = {}  # most lines have one place; a number is small in memory

    def add(self, tracked: TrackedText) -> None:
        first, places = len(self._texts) << _ROWS, self._places
        self._texts.append(tracked)
        for row, line in enumerate(tracked.passage.lines):
            if tracked.shown[row] and len(line) >= _WORTH_FINDING and len(line.strip()) >= _WORTH_FINDING:
                known = places.get(line)
                if known is None:
                    places[line] = first + row
                elif isinstance(known, int):
                    places[line] = [known, first + row]
                else:
                    known.append(first + row)
                    if len(known) > _REMEMBERED:
                        del known[0]

    def _find_places(self, line: str) -> list[tuple[TrackedText, int]]:
        known = self._places.get(line)
        if known is None:
            return []
        mask = (1 << _ROWS) - 1
        found = [known] if isinstance(known, int) else known
        return [(self._texts[place >> _ROWS], place & mask) for place in found]

    def of(self, line: str) -> Iterator[tuple[TrackedText, int]]:
        """Where a line is visible. A text that was replaced since no longer has its rows."""
        for tracked, row in self._find_places(line):
            if row < len(tracked) and tracked.shown[row] and tracked.passage.lines[row] == line:
                yield tracked, row

    def repeats(
        self, passage: Passage, files: frozenset[str] = frozenset()
    ) -> Iterator[tuple[FoldedRows, TrackedText]]:
        """Stretches of a new text that are visible elsewhere, longest first from each row on. `files`: what it shows.

        Edits name tagged lines by their numbers: such a text points to where these are shown too, or to what was
        written into its file. There a pointer ends after a few rows, and the next row shows its number.
        """
        lines, at = passage.lines, 0
        while at < len(lines):
            length, place = self._longest(passage, at, files)
            if place is not None and self._worth(lines[at : at + length]):
                tracked, row = place
                yield FoldedRows(at, at + length - 1, tracked.key, row), tracked
                at += length
                at += passage.tagged and not tracked.passage.tagged
            else:
                at += 1

    def _longest(
        self, passage: Passage, at: int, files: frozenset[str]
    ) -> tuple[int, tuple[TrackedText, int] | None]:
        best, found, lines = 0, None, passage.lines
        for tracked, row in reversed(self._find_places(lines[at])):
            end = len(lines)
            if passage.tagged and not tracked.passage.tagged:
                if not tracked.has_written(files):
                    continue
                end = min(end, at + _COUNTED)
            rows, shown, length = tracked.passage.lines, tracked.shown, 0
            while (
                at + length < end
                and row + length < len(rows)
                and shown[row + length]
                and rows[row + length] == lines[at + length]
            ):
                length += 1
            while length and not lines[at + length - 1].strip():
                length -= 1
            if length > best:
                best, found = length, (tracked, row)
        return best, found

    def _worth(self, lines: Sequence[str]) -> bool:
        size = sum(map(len, lines))
        return size >= (self._characters if len(lines) >= self._fewest else self._alone)
