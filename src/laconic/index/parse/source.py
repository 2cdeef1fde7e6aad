"""The bytes of one file with the questions that extraction asks of them: lines, comments above, folded text."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, cached_property
from itertools import accumulate
from typing import Final

_MARKERS: Final = re.compile(
    r"^\s*(?:/\*+!?|\*+/?|//+!?|#+!?(?!\[)|--+|;+|%+|\"\"\"|'''|<!--)\s?|(?:\*+/|-->|\"\"\"|''')\s*$"
)
_TAGS: Final = re.compile(r"</?(?:summary|remarks|para|p)>")
_LONGEST: Final = 300  # characters of a signature or of one paragraph of documentation
_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_OPEN: Final = (b"(", b"[", b"{")
_CLOSED: Final = (b")", b"]", b"}")
_NEVER: Final = 1 << 62
_REACH: Final = 200  # lines that a comment above a definition may have


class Source:
    """One file as bytes."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data

    @cached_property
    def lines(self) -> list[bytes]:
        return self.data.split(b"\n")

    @cached_property
    def ends(self) -> list[int]:
        """Where each line ends, its line feed included; behind the last there is one that never does."""
        ends = list(accumulate([len(line) + 1 for line in self.lines]))
        ends[-1] = _NEVER
        return ends

    @cached_property
    def has_exports(self) -> bool:
        """Whether the word that exports a definition stands anywhere in the file."""
        return b"export " in self.data

    @property
    def count(self) -> int:
        """How many lines there are; a line break at the end begins none."""
        if self.data:
            return self.data.count(b"\n") + (not self.data.endswith(b"\n"))
        return 0

    def place(self, at: int) -> tuple[int, int]:
        """The row and the column of a byte, both from 0."""
        row = bisect_right(self.ends, at)
        if row:
            return row, at - self.ends[row - 1]
        return row, at

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def fold_lines(self, start: int, end: int, longest: int = _LONGEST) -> str:
        """A stretch as one line with single spaces, cut when it is very long."""
        line = " ".join(self.text(start, min(end, start + 4 * longest)).split())
        if len(line) <= longest:
            return line
        return line[: longest - 1] + "…"

    def first_line(self, start: int, end: int, longest: int = 160) -> str:
        stop = self.data.find(b"\n", start, end)
        return self.fold_lines(start, end if stop < 0 else stop, longest)

    def comment_above(self, row: int, prefixes: tuple[str, ...]) -> int:
        """The row where the comments and attributes directly above a row begin, or the row itself."""
        starts = _encode_prefixes(prefixes)
        top = row
        while top > 0 and row - top < _REACH:
            line = self.lines[top - 1].strip()
            if not line:
                break
            if line.startswith(starts):
                top -= 1
            elif line.endswith((b"*/", b"]", b"-->")) and (opener := self._opener(top - 1, starts)) >= 0:
                top = opener
            else:
                break
        return top

    def _opener(self, row: int, starts: tuple[bytes, ...]) -> int:
        """The row where a comment or attribute of several lines that ends on this row begins, or -1."""
        for above in range(row - 1, max(-1, row - 60), -1):
            line = self.lines[above].strip()
            if not line or line.endswith((b";", b"}", b"{")):
                return -1
            if line.startswith(starts) and line.startswith((b"/*", b"#[", b"[", b"<!--")):
                return above
        return -1

    def attributes(self, first: int, end: int) -> set[int]:
        """Which of these rows above a definition belong to attributes (`#[test]`), whole ones of several lines too."""
        rows: set[int] = set()
        depth, comment = 0, False
        for row in range(first, min(end, len(self.lines))):
            line = self.lines[row].strip()
            if comment or (not depth and line.startswith(b"/*")):
                comment = line.rfind(b"/*") >= line.rfind(b"*/")
            elif depth or line.startswith((b"#[", b"#![", b"[", b"@")):
                rows.add(row)
                bare = _STRINGS.sub(b"", line)
                depth = max(0, depth + sum(map(bare.count, _OPEN)) - sum(map(bare.count, _CLOSED)))
        return rows


@cache
def _encode_prefixes(prefixes: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(prefix.encode() for prefix in prefixes)


def paragraph(text: str) -> str:
    """The first paragraph of a documentation comment or string, without its markers."""
    kept: list[str] = []
    for line in text.split("\n"):
        if line.startswith("#!"):  # how to run the file, not what it is
            continue
        bare = _TAGS.sub("", _MARKERS.sub("", _MARKERS.sub("", line))).strip()
        if bare:
            kept.append(bare)
        elif kept:
            break
    joined = " ".join(kept)
    if len(joined) <= _LONGEST:
        return joined
    return joined[: _LONGEST - 1] + "…"
