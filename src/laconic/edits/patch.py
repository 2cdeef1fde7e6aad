"""Unified diffs: read them, and apply one to the text it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from laconic.edits.source import join, split
from laconic.errors import UsageError
from laconic.records import Hunk

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_REACH: Final = 200  # lines up or down that a hunk may have moved


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The part of a patch about one file; an empty path means that there is no file on that side."""

    old_path: str
    new_path: str
    hunks: tuple[Hunk, ...]
    binary: bool = False

    def apply(self, data: bytes) -> bytes:
        """The file as the patch leaves it; a hunk that does not fit is an error."""
        source = split(data)
        lines = list(source.lines)
        whole = data.endswith(b"\n") or not data
        shift = 0
        for hunk in self.hunks:
            old = []
            for line in hunk.body:
                if line[:1] in " -":
                    old.append(line[1:])
            new = []
            for line in hunk.body:
                if line[:1] in " +":
                    new.append(line[1:])
            at = _place(lines, old, max(0, hunk.old_start - (1 if hunk.old_lines else 0)) + shift)
            if at is None:
                path = self.new_path or self.old_path
                raise UsageError(f"The patch does not fit {path} at line {hunk.old_start}.", "Create it again.")
            lines[at : at + len(old)] = new
            shift += len(new) - len(old)
            if len(hunk.body) > 1 and hunk.body[-1].startswith("\\"):
                whole = not hunk.body[-2].startswith("+")
        if whole and lines:
            pieces = (*lines, "")
        else:
            pieces = tuple(lines) or ("",)
        ending = source.ending
        return join(type(source)(pieces, (ending,) * (len(pieces) - 1), source.bom))


def sections(patch: bytes) -> list[FilePatch]:
    """All files of a patch, in order; text that is no diff is passed over."""
    lines = patch.decode("utf-8", "surrogateescape").split("\n")
    starts = list(_starts(lines))
    ends = [*starts[1:], len(lines)] if starts else []
    found: list[FilePatch] = []
    for start, end in zip(starts, ends, strict=True):
        found.append(_section(lines[start:end]))
    return found


def _starts(lines: list[str]) -> Iterator[int]:
    """Where files begin; lines inside hunks are counted off, whatever they look like."""
    at = 0
    named = False  # by a `diff --git` line, so that the next `---` belongs to the same file
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            named = True
            yield at
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if not named:
                yield at
            named = False
        elif match := _HUNK.match(line):
            at = _hunk_end(lines, at + 1, int(match[2] or 1), int(match[4] or 1))
            continue
        at += 1


def _hunk_end(lines: list[str], at: int, old: int, new: int) -> int:
    """The first line after a hunk with so many old and new lines."""
    while at < len(lines) and (old > 0 or new > 0 or lines[at].startswith("\\")):
        mark = lines[at][:1] or " "  # a mail program may have cut the space of an empty line
        old -= mark in " -"
        new -= mark in " +"
        at += 1
    return at


def _section(lines: list[str]) -> FilePatch:
    old = new = ""
    binary = False
    body = next((at for at, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    for line in lines[:body]:
        if line.startswith("diff --git "):
            old, new = _git_paths(line)
        elif line.startswith(("--- ", "rename from ", "copy from ")):
            old = _path(line.split(" ", 1)[1] if line.startswith("---") else line.split(" from ", 1)[1], "a/", line)
        elif line.startswith(("+++ ", "rename to ", "copy to ")):
            new = _path(line.split(" ", 1)[1] if line.startswith("+++") else line.split(" to ", 1)[1], "b/", line)
        elif line.startswith("new file mode"):
            old = ""
        elif line.startswith("deleted file mode"):
            new = ""
        elif line.startswith(("Binary files ", "GIT binary patch")):
            binary = True
    return FilePatch(old, new, tuple(_hunks(lines[body:])), binary)


def _git_paths(line: str) -> tuple[str, str]:
    """Both names of a `diff --git` line; where they are equal the middle is easy to find, else other lines say."""
    rest = line.removeprefix("diff --git ")
    half = len(rest) // 2
    left, right = rest[:half], rest[half + 1 :]
    if left.startswith("a/") and right.startswith("b/") and left[2:] == right[2:]:
        return left[2:], right[2:]
    left, _, right = rest.partition(" b/")
    return left.removeprefix("a/"), right


def _path(text: str, prefix: str, line: str) -> str:
    name = text.split("\t", 1)[0].rstrip("\r")
    if name == "/dev/null":
        return ""
    if line[:3] in {"---", "+++"}:
        return name.removeprefix(prefix)
    return name


def _hunks(lines: list[str]) -> Iterator[Hunk]:
    at = 0
    while at < len(lines):
        match = _HUNK.match(lines[at])
        at += 1
        if match is None:
            continue
        old, new = int(match[2] or 1), int(match[4] or 1)
        end = _hunk_end(lines, at, old, new)
        yield Hunk(
            old_start=int(match[1]),
            old_lines=old,
            new_start=int(match[3]),
            new_lines=new,
            body=tuple(line or " " for line in lines[at:end]),
        )
        at = end


def _place(lines: list[str], old: list[str], near: int) -> int | None:
    """Where the old lines stand, at the given place or the nearest one to it."""
    for distance in range(_REACH):
        for at in {near - distance, near + distance}:
            if 0 <= at <= len(lines) - len(old) and lines[at : at + len(old)] == old:
                return at
    return None
