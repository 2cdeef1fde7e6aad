"""Find a literal or a regular expression in the text of files: candidates from trigrams, verified on disk.

It finds and counts lines; it does not rank them. Time is limited: what was not looked at is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from laconic.errors import Unreadable, UsageError
from laconic.index import trigrams
from laconic.index.store import Store
from laconic.index.store.file_queries import find_text_candidates
from laconic.reduce.pattern import compile_pattern
from laconic.workspace.read_file import as_text, read_listed

if TYPE_CHECKING:
    from regex import Pattern

LINE_CHARS: Final = 300  # of a line that is shown
_SECONDS: Final = 2.0
_ONE_MATCH: Final = 0.4  # seconds of work up to the next match; a pattern that needs more never ends


class MatchingLine(NamedTuple):
    """One matching line."""

    number: int
    column: int  # of the match, from 0, in the whole line
    text: str  # cut to LINE_CHARS around the match


class MatchingFile(NamedTuple):
    """The matches in one file."""

    file: int
    path: str
    file_class: str
    matches: int  # lines, also those that are not in `lines`
    lines: list[MatchingLine]


@dataclass(frozen=True, slots=True)
class TextMatches:
    """All matches, file by file in the order of paths."""

    files: list[MatchingFile]
    looked: int  # files that were read
    unread: int  # candidates for which no time was left

    @property
    def total(self) -> int:
        return sum(file.matches for file in self.files)


@dataclass(frozen=True, slots=True)
class TextQuery:
    """What to look for, and where."""

    text: str
    regex: bool = False
    ignore_case: bool | None = None  # None: only if the text holds no capital letter
    paths: Callable[[str], bool] | None = None
    per_file: int = 20  # lines kept of one file; the others are counted
    seconds: float = _SECONDS

    @property
    def folded(self) -> bool:
        if self.ignore_case is None:
            return self.text == self.text.lower()
        return self.ignore_case


Matcher = Callable[[bytes, float], "tuple[int, list[MatchingLine]]"]


def find(store: Store, root: Path, question: TextQuery) -> TextMatches:
    """Every line that matches, read from disk as it is now."""
    deadline = time.monotonic() + question.seconds
    if question.regex:
        matcher = _regex(question)
    else:
        matcher = _literal(question)
    found: list[MatchingFile] = []
    candidates = _candidates(store, question)
    for at, (number, path, file_class) in enumerate(candidates):
        if time.monotonic() > deadline:
            return TextMatches(found, at, len(candidates) - at)
        try:
            count, lines = matcher(read_listed(f"{root}/{path}", path), deadline)
        except Unreadable:  # it went away since; what is quoted is checked before an answer leaves
            continue
        except TimeoutError:
            return TextMatches(found, at, len(candidates) - at)
        if count:
            found.append(MatchingFile(file=number, path=path, file_class=file_class, matches=count, lines=lines))
    return TextMatches(found, len(candidates), 0)


def _candidates(store: Store, question: TextQuery) -> Sequence[tuple[int, str, str]]:
    if question.regex:
        query = trigrams.for_regex(question.text)
    else:
        query = trigrams.for_literal(question.text)
    rows = find_text_candidates(store, query)
    if question.paths is None:
        return rows
    found: list[tuple[int, str, str]] = []
    for row in rows:
        if question.paths(row[1]):
            found.append(row)
    return found


def _literal(question: TextQuery) -> Matcher:
    folded = question.folded
    if folded and not question.text.isascii():
        import regex  # folding beyond ASCII changes lengths; the engine knows how

        return _engine(regex.compile(regex.escape(question.text), regex.IGNORECASE), question.per_file)
    needle = question.text.encode()
    if not needle:
        raise UsageError("There is nothing to search for.", "Give a text of at least one character.")

    def match(data: bytes, deadline: float) -> tuple[int, list[MatchingLine]]:
        hay = data.lower() if folded else data
        return _scan(data, hay, needle, question.per_file)

    return match


def _scan(data: bytes, hay: bytes, needle: bytes, keep: int) -> tuple[int, list[MatchingLine]]:
    lines: list[MatchingLine] = []
    count = number = 0
    seen = 0  # newlines are counted up to here
    at = hay.find(needle)
    while at >= 0:
        count += 1
        end = hay.find(b"\n", at)
        if count <= keep:
            number += hay.count(b"\n", seen, at)
            seen = at
            start = hay.rfind(b"\n", 0, at) + 1
            column = len(data[start:at].decode("utf-8", "replace"))
            text = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")
            lines.append(MatchingLine(number + 1, column, _cut(text.rstrip("\r"), column)))
        if end < 0:
            break
        at = hay.find(needle, end)
    return count, lines


def _regex(question: TextQuery) -> Matcher:
    import regex  # has a time limit, which `re` lacks: a hostile pattern must not hang

    flags = regex.MULTILINE | regex.VERSION0 | (regex.IGNORECASE if question.folded else 0)
    return _engine(compile_pattern(question.text, flags), question.per_file)


def _engine(pattern: Pattern[str], keep: int) -> Matcher:
    def match(data: bytes, deadline: float) -> tuple[int, list[MatchingLine]]:
        lines: list[MatchingLine] = []
        count = number = 0
        seen = 0
        text = as_text(data).replace("\r\n", "\n")
        for start, end, column in _matching(pattern, text, deadline):
            count += 1
            if count <= keep:
                number += text.count("\n", seen, start)
                seen = start
                lines.append(MatchingLine(number + 1, column, _cut(text[start:end], column)))
        return count, lines

    return match


def _matching(pattern: Pattern[str], text: str, deadline: float) -> Iterator[tuple[int, int, int]]:
    """Start, end and column of each line that matches for itself: a match never spans lines."""
    at = 0
    while at <= len(text):
        found = pattern.search(text, at, timeout=_seconds_left(deadline))
        if found is None:
            return
        start = text.rfind("\n", 0, found.start()) + 1
        if start == len(text) > 0:
            return  # behind the last newline there is no line
        end = text.find("\n", found.start())
        end = len(text) if end < 0 else end
        if found.end() > end:
            found = pattern.search(text[start:end], timeout=_seconds_left(deadline))
            if found is not None:
                yield start, end, found.start()
        else:
            yield start, end, found.start() - start
        at = end + 1


def _seconds_left(deadline: float) -> float:
    return min(max(deadline - time.monotonic(), 0.001), _ONE_MATCH)


def _cut(line: str, column: int) -> str:
    """The part of a long line around a match."""
    if len(line) <= LINE_CHARS:
        return line
    start = max(0, min(column - LINE_CHARS // 3, len(line) - LINE_CHARS))
    return line[start : start + LINE_CHARS]
