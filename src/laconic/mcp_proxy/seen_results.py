"""What a session has been shown lately, so that the same text is not sent twice. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import blake2b
from typing import Final

_TEXTS: Final = 24  # answers that are remembered
_AGE: Final = 40_000  # tokens of later answers after which one is no longer relied on
_LINES: Final = 3_000  # of texts that are compared line by line
_ALIKE: Final = 0.6  # share of lines that two texts must have in common
_CONTEXT: Final = 1  # lines around a change


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text as a server sent it, where the whole is kept, and when it was shown."""

    tool: str
    ref: str
    digest: bytes
    lines: tuple[str, ...]
    number: int  # of the call
    sent: int  # tokens that were sent before it
    is_whole: bool  # nothing was left out of it


class SeenResults:
    """The newest texts of one session."""

    def __init__(self) -> None:
        self._texts: list[ShownText] = []
        self._sent = 0
        self._calls = 0

    def remember(self, tool: str, text: str, ref: str, tokens: int, *, is_whole: bool) -> None:
        self._calls += 1
        self._sent += tokens
        shown = ShownText(
            tool=tool,
            ref=ref,
            digest=_digest(text),
            lines=tuple(text.split("\n")),
            number=self._calls,
            sent=self._sent,
            is_whole=is_whole,
        )
        self._texts = [*self._texts[1 - _TEXTS :], shown]

    def find_same(self, text: str) -> ShownText | None:
        """An earlier answer with exactly this text."""
        digest = _digest(text)
        return next((one for one in reversed(self._texts) if one.digest == digest and self._is_fresh(one)), None)

    def find_alike(self, tool: str, text: str) -> ShownText | None:
        """The newest answer of the same tool that most of this text was in, and that was shown whole."""
        lines = text.split("\n")
        if len(lines) > _LINES or len(lines) < 4:
            return None
        for one in reversed(self._texts):
            if one.tool == tool and one.is_whole and len(one.lines) <= _LINES and self._is_fresh(one):
                common = Counter(lines) & Counter(one.lines)
                if common.total() >= _ALIKE * len(lines):
                    return one
        return None

    def _is_fresh(self, shown: ShownText) -> bool:
        return self._sent - shown.sent <= _AGE


def describe_changes(before: ShownText, text: str, cost: Callable[[str], int], most: int) -> str:
    """The lines that differ from an earlier answer, numbered; empty where that is more than `most` tokens."""
    lines = text.split("\n")
    rows: list[str] = []
    matcher = SequenceMatcher(None, before.lines, lines, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        if kind == "delete":
            rows.append(f"[{last - first} lines gone after line {start}]")
            for line in before.lines[first : min(last, first + 3)]:
                rows.append(f"- {line}")
            continue
        for number in range(max(0, start - _CONTEXT), end):
            rows.append(f"{number + 1}: {lines[number]}")
    changes = "\n".join(rows)
    if cost(changes) > most:
        return ""
    return changes


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
