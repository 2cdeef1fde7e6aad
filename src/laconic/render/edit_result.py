"""What an agent reads after an edit: the new tag and the changed places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from laconic.records import Span
from laconic.render.numbered_lines import excerpts, header

_ECHO: Final = 6  # new lines of one place that are shown whole; the agent wrote them itself


@dataclass(frozen=True, slots=True)
class EditedPlace:
    """A changed place in the new version: its first line, and how many lines went and came."""

    start: int
    removed: int
    added: int


@dataclass(frozen=True, slots=True)
class EditedFile:
    """One file after an edit; no lines means that it is gone."""

    path: str
    tag: str
    lines: Sequence[str]
    places: Sequence[EditedPlace]
    note: str = ""  # syntax errors, say


def edited_text(files: Sequence[EditedFile], *, dry: bool) -> str:
    """The files with their new tags, and every changed place with a line on each side."""
    if dry:
        parts = ["Nothing was written; this is what would be."]
    else:
        parts = []
    for file in files:
        parts.append(header(file.path, file.tag, len(file.lines)) + (f" {file.note}" if file.note else ""))
        for place in file.places:
            parts.extend(_place(file, place))
    return "\n".join(parts)


def _place(file: EditedFile, place: EditedPlace) -> Iterator[str]:
    last = place.start + place.added - 1
    was = f"{place.removed} line{'' if place.removed == 1 else 's'}"
    if not place.added:
        yield f"-- {was} removed above line {place.start}"
    elif place.removed:
        yield f"-- {Span(place.start, last)} in place of {was}"
    else:
        yield f"-- {Span(place.start, last)} inserted"
    if place.added <= _ECHO:
        yield excerpts(file.lines, [Span(place.start - 1, last + 1)])
    else:
        ends = [Span(place.start - 1, place.start + 1), Span(last - 1, last + 1)]
        yield excerpts(file.lines, ends)
