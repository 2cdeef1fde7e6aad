"""What an agent has seen of a code base: the functions it was to find, the edited places, and what it has read at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from laconic.index.store import Store, Symbol
from laconic_benchmarks.localisation import Task, definition
from laconic_benchmarks.printed import Line
from laconic_benchmarks.turns.clues import Clues

_FEW: Final = 5  # lines of a function from which on it counts as seen
_START: Final = 60  # characters of a line that must stand in the text as the file has them
_CALLABLE: Final = frozenset({"function", "method", "constructor", "macro"})


class Seen:
    """Grows with every line that is shown. A line counts only when its text is really there."""

    def __init__(self, task: Task, store: Store, lines_of: Callable[[str], Sequence[str]]) -> None:
        self._task = task
        self._store = store
        self._lines_of = lines_of
        self._edits = [(file.path, start, end) for file in task.files for start, end in file.edits]
        self._defined = [definition(each, lines_of(each.path)) for each in task.functions]
        self._parts: defaultdict[int, set[int]] = defaultdict(set)
        self._found: set[int] = set()
        self._edited: set[int] = set()
        self._words = Clues.of(task.query).words
        self._symbols: dict[str, dict[int, list[Symbol]]] = {}
        self._read: set[int] = set()  # symbols of which five lines were shown, or all
        self._shown: defaultdict[int, set[int]] = defaultdict(set)  # lines by symbol
        self._related: set[int] = set()  # symbols of which a line with a word of the task was shown
        self._named: set[int] = set()  # symbols whose definition was shown

    @property
    def functions(self) -> float:
        """The share of the functions to edit that were seen."""
        return len(self._found) / len(self._task.functions)

    @property
    def edits(self) -> float:
        """The share of the edited places that were seen."""
        return len(self._edited) / max(1, len(self._edits))

    @property
    def read(self) -> int:
        """Functions with a word of the task that were read: five lines of them, or all if they have fewer."""
        return len(self._related & self._read)

    @property
    def seen(self) -> int:
        """Functions of which the definition or five lines were shown: what counts as found, if it is the right one."""
        return len(self._named | self._read)

    def show(self, line: Line) -> None:
        source = self._lines_of(line.path)
        if not 0 < line.number <= len(source):
            return
        wanted = source[line.number - 1].strip()[:_START].rstrip()
        if wanted not in line.text:
            return
        self._note_truth(line)
        self._note_read(line)

    def _note_truth(self, line: Line) -> None:
        hit = [
            at
            for at, (path, start, end) in enumerate(self._edits)
            if path == line.path and start <= line.number <= end
        ]
        self._edited.update(hit)
        for at, function in enumerate(self._task.functions):
            if function.path == line.path and function.start <= line.number <= function.end:
                self._parts[at].add(line.number)
                if hit or line.number == self._defined[at] or len(self._parts[at]) >= _FEW:
                    self._found.add(at)

    def _note_read(self, line: Line) -> None:
        around = self._around(line.path).get(line.number, ())
        if not around:
            return
        text = f"{line.path} {line.text}".lower()
        related = any(word in text for word in self._words)
        for symbol in around:
            shown = self._shown[symbol.id]
            shown.add(line.number)
            if related:
                self._related.add(symbol.id)
            if line.number == symbol.line:
                self._named.add(symbol.id)
            if len(shown) >= min(_FEW, symbol.end - symbol.start + 1):
                self._read.add(symbol.id)

    def _around(self, path: str) -> dict[int, list[Symbol]]:
        """The functions around each line of a file."""
        if path not in self._symbols:
            file = self._store.file(path)
            lines: defaultdict[int, list[Symbol]] = defaultdict(list)
            for symbol in self._store.symbols_in(file.id) if file is not None else []:
                if symbol.kind in _CALLABLE:
                    for number in range(symbol.start, symbol.end + 1):
                        lines[number].append(symbol)
            self._symbols[path] = dict(lines)
        return self._symbols[path]
