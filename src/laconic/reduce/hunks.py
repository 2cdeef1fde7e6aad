"""Which hunks of a diff are worth showing: not those of white space only, and not more than a reader takes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from laconic.records import FileChange, Hunk

MOST: Final = 20
# Where leading white space has a meaning, a hunk that only changes it is shown.
_INDENTED: Final = (".py", ".pyi", ".yml", ".yaml", ".mk", ".haml", ".slim", ".pug", ".coffee", ".nim", ".hs", ".fs")
_MAKE: Final = ("makefile", "gnumakefile")


@dataclass(frozen=True, slots=True)
class ChosenHunks:
    """The hunks of one file that are shown, and how many of white space only are not."""

    change: FileChange
    hunks: tuple[Hunk, ...]
    blank: int
    total: int  # hunks that are not blank


def choose(changes: Sequence[FileChange], most: int = MOST) -> list[ChosenHunks]:
    """The first hunks over all files."""
    chosen = []
    for change in changes:
        indented = _is_indented(change.path)
        real = []
        for hunk in change.hunks:
            if not blank(hunk, indented=indented):
                real.append(hunk)
        shown = tuple(real[: max(0, most)])
        most -= len(shown)
        chosen.append(ChosenHunks(change, shown, len(change.hunks) - len(real), len(real)))
    return chosen


def blank(hunk: Hunk, *, indented: bool) -> bool:
    """Whether a hunk changes nothing but white space (and, where that has a meaning, not the indentation)."""
    sides = (
        "\n".join(_bare(line[1:], indented=indented) for line in hunk.body if line[:1] == mark and line[1:].strip())
        for mark in "-+"
    )
    old, new = sides
    if indented:
        return old == new
    return old.replace("\n", "") == new.replace("\n", "")


def _bare(line: str, *, indented: bool) -> str:
    text = "".join(line.split())
    if indented:
        return line[: len(line) - len(line.lstrip())] + text
    return text


def _is_indented(path: str) -> bool:
    name = path.rsplit("/", 1)[-1].lower()
    return name.endswith(_INDENTED) or name in _MAKE
