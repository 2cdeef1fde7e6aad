"""What one client session has received: lines of files, tokens, and how many calls are under way.

It makes later answers smaller; it never blocks one. A client may have lost what it received: its conversation was
compacted, or the one that asks is a helper which never had it. Whoever asks for the same once more gets it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from laconic.render.plural import count_of
from laconic.tool_runtime.budget import BATCH

_COMFORT: Final = 40_000  # tokens sent before defaults shrink
_TIGHT: Final = 90_000
_WAITING: Final = 60  # tokens that are set aside for each call that waits: enough to say that there is no more room
_SAID: Final = 20_000  # pieces of answers
_REMEMBERED: Final = 4_000  # files; the oldest are forgotten first


@dataclass(slots=True)
class Session:
    """One client's session. Not shared between clients.

    `remembers`: whether answers point to earlier ones. Not where a conversation engine is behind the client: it sees what
    each conversation still has, and points to that.
    """

    remembers: bool = True
    sent: int = 0
    calls: int = 0
    _lines: dict[tuple[str, str, bool], set[int]] = field(default_factory=dict)
    _told: dict[int, None] = field(default_factory=dict)
    _hints: list[str] = field(default_factory=list)
    _under_way: int = 0
    _announced: int = 0
    _batch: int = 0
    _said_pressure: float = 1.0

    @property
    def pressure(self) -> float:
        """What part of a tool's default budget an answer gets now."""
        if self.sent < _COMFORT:
            return 1.0
        if self.sent < _TIGHT:
            return 0.75
        return 0.5

    def describe_pressure(self) -> str:
        """That defaults have shrunk, said once each time that they do."""
        if self.pressure == self._said_pressure:
            return ""
        self._said_pressure = self.pressure
        sent = f"{self.sent // 1000}k tokens in {count_of(self.calls, 'answer')}"
        return f"this session has had {sent}: default budgets are now {self.pressure:.0%}; name `budget` for more"

    def announce(self) -> None:
        """A call has arrived that will begin later: it shares the budget of those that are under way."""
        self._under_way += 1
        self._announced += 1

    def withdraw(self) -> None:
        """A call that was announced will not begin."""
        if self._announced:
            self._announced -= 1
            self._leave(0)

    def begin(self) -> None:
        if self._announced:
            self._announced -= 1
        else:
            self._under_way += 1

    def end(self, tokens: int) -> None:
        """Count an answer; the batch is over when nothing is under way any more."""
        self.sent += tokens
        self.calls += 1
        self._leave(tokens)

    def _leave(self, tokens: int) -> None:
        self._under_way -= 1
        if self._under_way > 0:
            self._batch = self._batch + tokens
        else:
            self._batch = 0

    @property
    def batch_left(self) -> int:
        """What the next answer may have; those that still wait for theirs are left a little."""
        return max(0, BATCH - self._batch - _WAITING * max(0, self._under_way - 1))

    def received_lines(self, path: str, tag: str, *, numbered: bool = False) -> frozenset[int]:
        """The lines of this version of a file that were sent before; `numbered`: only those that had their numbers,
        since whoever is about to edit them needs these."""
        if not self.remembers:
            return frozenset()
        return frozenset(self._lines.get((path, tag, numbered), ()))

    def forget(self, path: str, tag: str, lines: Iterable[int]) -> None:
        """An answer points to these lines: whoever asks for them once more does not have them."""
        gone = frozenset(lines)
        for numbered in (False, True):
            known = self._lines.get((path, tag, numbered))
            if known is not None:
                known -= gone

    def receive(self, path: str, tag: str, lines: Iterable[int], *, numbered: bool = False) -> None:
        """Note lines that are being sent."""
        sent = tuple(lines)
        for key in ((path, tag, False), (path, tag, True)) if numbered else ((path, tag, False),):
            known = self._lines.pop(key, set())
            known.update(sent)
            self._lines[key] = known
        while len(self._lines) > _REMEMBERED:
            del self._lines[next(iter(self._lines))]

    def was_told(self, what: int) -> bool:
        """Whether this was said before, in these words, to this question."""
        return self.remembers and what in self._told

    def tell(self, what: int) -> None:
        """Note what is being said."""
        self._told[what] = None
        while len(self._told) > _SAID:
            del self._told[next(iter(self._told))]

    def untell(self, what: int) -> None:
        """An answer points to this: whoever asks for it once more does not have it."""
        self._told.pop(what, None)

    def hint(self, text: str) -> str:
        """A hint, unless it was the last one given."""
        if not text or (self._hints and self._hints[-1] == text):
            return ""
        self._hints.append(text)
        del self._hints[:-8]
        return text
