"""Turn the edits of one file into its new version, or into the reasons why nothing may be written.

Every edit by line is meant for the version its tag names; where the file has changed since, `align` decides whether
the lines are still there beyond doubt. It never falls back to "whatever stands at that line now".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from laconic.edits.align import NOWHERE, carry
from laconic.edits.anchors import anchor
from laconic.edits.request import AnchoredLine, CreateFile, Edit, FindAndReplace, InsertLines, ReplaceLines
from laconic.edits.source import SourceText, splice
from laconic.records import Hunk, Span


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version that an agent read, and which of its lines were shown."""

    lines: tuple[str, ...]
    shown: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one edit cannot be made, what to do, and where to look in the file as it is now."""

    number: int  # of the edit in the call, from 1
    problem: str
    fix: str
    look: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedEdit:
    """The new version, and what is different."""

    source: SourceText
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class _Move:
    """Pieces of the live file to replace, by index, stop excluded."""

    start: int
    stop: int
    new: tuple[str, ...]
    number: int


class _EditProblem(Exception):
    def __init__(self, problem: str, fix: str, look: Sequence[Span] = ()) -> None:
        super().__init__(problem)
        self.problem, self.fix, self.look = problem, fix, tuple(look)


def resolve(
    edits: Sequence[tuple[int, Edit]], live: SourceText, read: Mapping[str, ShownVersion]
) -> ResolvedEdit | list[Refusal]:
    """All edits of one existing file, each with its number in the call; `read` holds the versions read, by tag."""
    moves: list[_Move] = []
    refusals: list[Refusal] = []
    for number, edit in edits:
        try:
            moves += [_Move(a, b, new, number) for a, b, new in _moves(edit, live, read)]
        except _EditProblem as refused:
            refusals.append(Refusal(number, refused.problem, refused.fix, refused.look))
    moves.sort(key=lambda move: (move.start, move.stop))
    refusals += _collisions(moves)
    moves = [real for move in moves if (real := _trim_move(move, live)) is not None]
    idle = {number for number, _ in edits} - {move.number for move in moves} - {r.number for r in refusals}
    for number in sorted(idle):
        refusals.append(Refusal(number, "The file already reads like that.", "Leave this edit out."))
    if refusals:
        return sorted(refusals, key=lambda refusal: refusal.number)
    changed = splice(live, tuple((move.start, move.stop, move.new) for move in moves))
    return ResolvedEdit(changed, _hunks(moves, live))


def _moves(edit: Edit, live: SourceText, read: Mapping[str, ShownVersion]) -> list[tuple[int, int, tuple[str, ...]]]:
    match edit.change:
        case CreateFile():
            total = len(live.lines)
            fix = f"Its tag is {live.tag}; replace lines 1 to {total}, or edit a part of it."
            raise _EditProblem("The file exists already.", fix)
        case FindAndReplace() as change:
            if edit.tag and edit.tag not in (live.tag, *read):
                raise _unknown(edit, live)
            return _find_text(change, live)
        case ReplaceLines() as change:
            start, stop = _carry_lines(edit, live, read, change.start.line - 1, change.end.line)
            _check_anchors((change.start, change.end), live.lines, start - change.start.line + 1)
            return [(start, stop, change.new)]
        case InsertLines() as change:
            start, _ = _carry_lines(edit, live, read, change.below, change.below)
            _check_anchors((change.named,), live.lines, start - change.below)
            return [(start, start, change.new)]


def _carry_lines(
    edit: Edit, live: SourceText, read: Mapping[str, ShownVersion], start: int, stop: int
) -> tuple[int, int]:
    """Where the named lines (or the named gap) stand now."""
    seen = read.get(edit.tag)
    if seen is None and edit.tag != live.tag:
        raise _unknown(edit, live)
    lines = seen.lines if seen else live.lines
    if stop > len(lines):
        problem = f"Version {edit.tag} has {len(lines)} lines, not {stop}."
        raise _EditProblem(
            problem, "Name lines that were shown.", [Span(max(1, len(live.lines) - 3), len(live.lines))]
        )
    if seen and (hidden := _find_hidden(edit.span, seen.shown)):
        if len(hidden) == 1:
            what = f"Line {hidden} of version {edit.tag} was"
        else:
            what = f"Lines {hidden} of {edit.tag} were"
        problem = f"{what} never shown."
        where = _nearby(carry(lines, live.lines), hidden.start - 1, hidden.end, live)
        raise _EditProblem(problem, "They are below; repeat the edit if it is still right.", [where])
    if edit.tag == live.tag:
        return start, stop
    carried = carry(lines, live.lines)
    new_start = _image(carried, start, stop, len(live.lines))
    if new_start == NOWHERE:
        if stop - start == 1:
            named = f"Line {start + 1}"
        else:
            named = f"Lines {start + 1} to {stop}"
        if start == stop:
            what = f"The gap below line {start}"
        else:
            what = named
        problem = f"{what} of version {edit.tag} changed since, or cannot be distinguished from another place."
        raise _EditProblem(
            problem, f"The file is now {live.tag}: name its lines.", [_nearby(carried, start, stop, live)]
        )
    return new_start, new_start + stop - start


def _image(carried: Sequence[int], start: int, stop: int, total: int) -> int:
    """Where a range or a gap went: all its lines, or both its neighbours, must have gone together."""
    if start < stop:
        first = carried[start]
        same = all(carried[i] == first + i - start for i in range(start, stop))
        if first != NOWHERE and same:
            return first
        return NOWHERE
    above = carried[start - 1] if start else -1
    below = carried[start] if start < len(carried) else total
    lost = (start and above == NOWHERE) or below == NOWHERE
    if lost or above + 1 != below:
        return NOWHERE
    return below


def _find_hidden(span: Span | None, shown: Sequence[Span]) -> Span | None:
    """The first lines of a span that were not shown."""
    if span is None or span.end == 0:
        return None
    line = max(1, span.start)
    for part in sorted(shown, key=lambda part: part.start):
        if part.start <= line <= part.end:
            line = part.end + 1
    if line <= span.end:
        return Span(line, span.end)
    return None


def _nearby(carried: Sequence[int], start: int, stop: int, live: SourceText) -> Span:
    """The lines of the live file between what is left around a range, with three lines on each side."""
    above = next((carried[i] for i in range(min(start, len(carried)) - 1, -1, -1) if carried[i] != NOWHERE), None)
    below = next((carried[i] for i in range(stop, len(carried)) if carried[i] != NOWHERE), None)
    total = len(live.lines)
    first = above + 1 if above is not None else 0
    if below is not None and below >= first:
        last = below
    else:
        last = min(total, first + max(1, stop - start))
    return Span(max(1, first - 2), max(1, min(total, last + 3)))


def _unknown(edit: Edit, live: SourceText) -> _EditProblem:
    look = edit.span
    total = len(live.lines)
    if look:
        spans = [Span(max(1, min(look.start, total) - 3), max(1, min(total, look.end + 3)))]
    else:
        spans = []
    problem = f"No version {edit.tag} of this file was read."
    return _EditProblem(problem, f"The file is now {live.tag}: check the lines and use that tag.", spans)


def _find_text(change: FindAndReplace, live: SourceText) -> list[tuple[int, int, tuple[str, ...]]]:
    """An exact text as whole lines to replace; matches that share a line go together."""
    text = live.text
    places = _places(text, change.find)
    if len(places) != change.count:
        if len(places) == 1:
            times = "once"
        else:
            times = f"{len(places)} times"
        look = [_lines_of(text, place, len(change.find)) for place in places[:5]] or _nearest(change.find, live)
        fix = "Give more text, count, or the tag "
        if not places:
            fix = "Give the text exactly as it is, or lines with the tag "
        raise _EditProblem(f"The text occurs there {times}, not {change.count}.", f"{fix}{live.tag}.", look)
    groups: list[list[int]] = []
    for place in places:
        line = text.count("\n", 0, place)
        if groups and text.count("\n", 0, groups[-1][-1] + len(change.find)) >= line:
            groups[-1].append(place)
        else:
            groups.append([place])
    replacement = change.text.replace("\r\n", "\n")
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for group in groups:
        found.append(_whole_lines(text, group, change.find, replacement))
    return found


def _whole_lines(text: str, places: list[int], find: str, new: str) -> tuple[int, int, tuple[str, ...]]:
    start = text.rfind("\n", 0, places[0]) + 1
    stop = text.find("\n", places[-1] + len(find))
    stop = len(text) if stop < 0 else stop
    changed = []
    position = start
    for place in places:
        changed += [text[position:place], new]
        position = place + len(find)
    pieces = tuple("".join([*changed, text[position:stop]]).split("\n"))
    first = text.count("\n", 0, start)
    return first, first + text.count("\n", start, stop) + 1, pieces


def _places(text: str, find: str) -> list[int]:
    places = []
    place = text.find(find)
    while place >= 0:
        places.append(place)
        place = text.find(find, place + len(find))
    return places


def _lines_of(text: str, place: int, length: int) -> Span:
    first = text.count("\n", 0, place) + 1
    return Span(max(1, first - 1), first + text.count("\n", place, place + length) + 1)


def _nearest(find: str, live: SourceText) -> list[Span]:
    """Where a text that is not there most likely was meant: its telling lines, white space aside."""
    wanted = set()
    for line in find.split("\n"):
        if any(map(str.isalnum, line)):
            wanted.add(" ".join(line.split()))
    hits = []
    for i, line in enumerate(live.lines, 1):
        if " ".join(line.split()) in wanted:
            hits.append(i)
    found: list[Span] = []
    for i in hits[:3]:
        found.append(Span(max(1, i - 3), min(len(live.lines), i + 3)))
    return found


def _check_anchors(places: Sequence[AnchoredLine], lines: Sequence[str], shift: int) -> None:
    for place in places:
        index = place.line - 1 + shift
        if place.anchor and not (0 <= index < len(lines) and anchor(lines[index]) == place.anchor):
            near = []
            for i, line in enumerate(lines, 1):
                if anchor(line) == place.anchor:
                    near.append(i)
            near.sort(key=lambda i: abs(i - index - 1))
            problem = f"Line {place.line} does not have the anchor {place.anchor}."
            look = []
            for i in [index + 1, *near[:2]]:
                if i > 0:
                    look.append(Span(max(1, i - 3), min(len(lines), i + 3)))
            raise _EditProblem(problem, "Number and anchor must be of the same line.", look)


def _collisions(moves: Sequence[_Move]) -> list[Refusal]:
    """Edits that touch the same lines or fill the same gap."""
    refusals = []
    for first, second in pairwise(moves):
        same_gap = first.start == first.stop == second.start == second.stop
        if second.start < first.stop or same_gap:
            problem = f"Edits {first.number} and {second.number} touch the same place."
            refusals.append(Refusal(second.number, problem, "Make them one edit."))
    return refusals


def _trim_move(move: _Move, live: SourceText) -> _Move | None:
    """The move without the lines that it replaces by themselves: they keep their endings. None if nothing is left."""
    old, new = live.pieces[move.start : move.stop], move.new
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head == len(old) == len(new):
        return None
    return _Move(move.start + head, move.stop - tail, new[head : len(new) - tail], move.number)


def _hunks(moves: Sequence[_Move], live: SourceText) -> tuple[Hunk, ...]:
    hunks = []
    shift = 0
    for move in moves:
        old = live.pieces[move.start : move.stop]
        body = (*(f"-{line}" for line in old), *(f"+{line}" for line in move.new))
        hunks.append(
            Hunk(
                old_start=move.start + 1,
                old_lines=len(old),
                new_start=move.start + 1 + shift,
                new_lines=len(move.new),
                body=body,
            )
        )
        shift += len(move.new) - len(old)
    return tuple(hunks)
