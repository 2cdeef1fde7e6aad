"""`edit`: change files by line and tag or by exact text, all of a call or none, never at a place that is in doubt.

`Desk` holds what edits need: the workspace, the versions that were read, and the journal. Whoever shows numbered
lines to an agent notes them with `snapshots.remember`; edits of lines that were not shown are refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from laconic.edits.align import NOWHERE, carry
from laconic.edits.request import Create, Edit
from laconic.edits.request import edit as read_edit
from laconic.edits.resolve import Refusal, Resolved, resolve
from laconic.edits.source import Source, join, split
from laconic.errors import EditRefused, UsageError, WorkspaceError
from laconic.index.parse import parse
from laconic.records import Hunk, Span
from laconic.render.edited import Changed, Place, Refused, edited, refused
from laconic.tools.tool import Answer, Argument, Call, Tool
from laconic.workspace.journal import Journal, Write
from laconic.workspace.reading import inside, read_bytes
from laconic.workspace.snapshots import Snapshots

_LARGEST: Final = 20_000_000  # bytes of a file that can be edited
_FRESH: Final = 40  # lines that a refusal shows of one file
_WIDEST: Final = 400  # characters of a line that it shows
_FOREIGN: Final = frozenset({".git", ".hg", ".svn", ".jj"})


class Desk:
    """Where one workspace is edited."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root.resolve()
        key = blake2b(os.fsencode(self.root), digest_size=8).hexdigest()
        self._folder = cache / "edits" / key
        self.snapshots = Snapshots(self._folder)
        self.journal = Journal(self._folder / "journal")
        self.journal.recover()

    def close(self) -> None:
        self.snapshots.close()


@dataclass(frozen=True, slots=True)
class _Planned:
    path: str
    before: Source | None
    after: Source
    hunks: tuple[Hunk, ...]
    write: Write


def edit(desk: Desk, calls: Sequence[Mapping[str, object]], *, dry: bool = False) -> str:
    """Make all edits and answer with the new tags, or raise EditRefused with the fresh lines."""
    if not calls:
        raise UsageError("There are no edits.", "Give at least one: {path, tag, start, end, text}.")
    files = _by_file(desk, [read_edit(call) for call in calls])
    outcomes = [_plan(desk, path, edits) for path, edits in files.items()]
    if problems := [outcome for outcome in outcomes if isinstance(outcome, Refused)]:
        raise EditRefused("Nothing was written.", refused(problems))
    planned = [outcome for outcome in outcomes if isinstance(outcome, _Planned)]
    if not dry:
        desk.journal.apply([plan.write for plan in planned])
        for plan in planned:
            _note_written(desk, plan)
    return edited([_changed(plan) for plan in planned], dry=dry)


def undo(desk: Desk) -> str:
    """Take back the last edit; answers with the files and their tags."""
    files = []
    for target in desk.journal.undo():
        path = target.relative_to(desk.root).as_posix()
        if target.exists():
            source = split(target.read_bytes())
            files.append(Changed(path, source.tag, source.lines, ()))
    return "Undone.\n" + edited(files, dry=False) if files else "Undone."


def _by_file(desk: Desk, edits: Sequence[Edit]) -> dict[str, list[tuple[int, Edit]]]:
    """The edits of every file, numbered as in the call; a tag alone names the file that was read with it."""
    files: dict[str, list[tuple[int, Edit]]] = {}
    for number, one in enumerate(edits, 1):
        given = one.path or _path_of(desk, one.tag)
        target = inside(desk.root, given)
        path = target.relative_to(desk.root).as_posix()
        if _FOREIGN.intersection(Path(path).parts) or target == desk.root:
            raise EditRefused(f"Nothing was written: {given} is not a file to edit.", "Name a file of the project.")
        files.setdefault(path, []).append((number, one))
    return files


def _path_of(desk: Desk, tag: str) -> str:
    paths = desk.snapshots.paths(tag)
    if len(paths) == 1:
        return paths[0]
    problem = f"{len(paths)} files were read with the tag {tag}: {', '.join(paths[:5])}." if paths else ""
    raise EditRefused(f"Nothing was written. {problem or f'No file was read with the tag {tag}.'}", "Give the path.")


def _plan(desk: Desk, path: str, edits: list[tuple[int, Edit]]) -> _Planned | Refused:
    target = desk.root / path
    if not target.exists():
        return _created(path, target, edits)
    if not target.is_file() or not os.access(target, os.W_OK):
        return Refused(path, "", (), ["this is no file, or it is read-only."])
    try:
        data = read_bytes(desk.root, path, limit=_LARGEST)
        live = split(data)
    except WorkspaceError as error:
        return Refused(path, "", (), [str(error)])
    outcome = resolve(edits, live, desk.snapshots.versions(path))
    if isinstance(outcome, Resolved):
        return _Planned(path, live, outcome.source, outcome.hunks, Write(target, data, join(outcome.source)))
    numbers = dict.fromkeys(
        n for refusal in outcome for span in refusal.look for n in range(span.start, span.end + 1)
    )
    look = [Span(n, n) for n in list(numbers)[:_FRESH] if n <= len(live.lines)]
    whole = [span for span in look if len(live.lines[span.start - 1]) <= _WIDEST]
    desk.snapshots.remember(path, live, whole)  # the refusal shows them: the next edit may name them
    lines = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}… [{len(line)} characters]" for line in live.lines]
    return Refused(path, live.tag, lines, [_said(refusal) for refusal in outcome], look)


def _created(path: str, target: Path, edits: list[tuple[int, Edit]]) -> _Planned | Refused:
    _, first = edits[0]
    if len(edits) > 1 or not isinstance(first.change, Create):
        return Refused(path, "", (), ["the file does not exist. Search for its name, or create it in one edit."])
    source = split(first.change.text.encode("utf-8", "surrogateescape"))
    hunk = Hunk(0, 0, 1, len(source.lines), tuple(f"+{line}" for line in source.lines))
    return _Planned(path, None, source, (hunk,), Write(target, None, join(source)))


def _said(refusal: Refusal) -> str:
    return f"edit {refusal.number}: {refusal.problem} {refusal.fix}"


def _note_written(desk: Desk, plan: _Planned) -> None:
    """The agent knows what it wrote, and every line it had been shown that is still there."""
    shown = [Span(hunk.new_start, hunk.new_start + hunk.new_lines - 1) for hunk in plan.hunks if hunk.new_lines]
    if plan.before is not None:
        for seen in desk.snapshots.versions(plan.path).values():
            carried = carry(seen.lines, plan.after.lines)
            lines = (line for span in seen.shown for line in range(span.start, min(span.end, len(carried)) + 1))
            shown += [Span(carried[n - 1] + 1, carried[n - 1] + 1) for n in lines if carried[n - 1] != NOWHERE]
    desk.snapshots.remember(plan.path, plan.after, shown)


def _changed(plan: _Planned) -> Changed:
    places = [Place(hunk.new_start, hunk.old_lines, hunk.new_lines) for hunk in plan.hunks]
    return Changed(plan.path, plan.after.tag, plan.after.lines, places, _syntax(plan))


def _syntax(plan: _Planned) -> str:
    """Whether the file still parses; silent about languages that we cannot parse."""
    now = parse(plan.path, join(plan.after))
    if not now.language or not now.faults:
        return ""
    before = parse(plan.path, join(plan.before)).faults if plan.before is not None else 0
    return "still has syntax errors, as before" if before else "NOW HAS SYNTAX ERRORS"


def run(call: Call) -> Answer:
    if call.flag("undo"):
        return Answer(kind="edit", head=f"{undo(call.plane.desk)}\n")
    made = edit(call.plane.desk, call.records("edits"), dry=call.flag("dry_run"))
    return Answer(kind="edit", head=f"{made}\n")


TOOL = Tool(
    "edit",
    "Edit files by line and tag, or by exact text; all edits of a call or none",
    "Each edit is {path, tag, start, end, text} (lines as a read showed them, inclusive; no text deletes), or"
    " {path, tag, insert_after or insert_before, text}, or {path, find, text, count}, or {path, create: true, text}."
    " The path may be left out where the tag names it. If the file changed since, lines are followed only when they are"
    " unchanged and unambiguous; otherwise nothing is written, and the answer shows the fresh lines.",
    (
        Argument(
            "edits",
            "records",
            "[{path, tag, start, end, text} | {path, tag, insert_after, text} | {path, find, text}]",
        ),
        Argument("dry_run", "flag", "", aliases=("dry", "preview", "check"), default=False, listed=False),
        Argument("undo", "flag", "", aliases=("revert",), default=False, listed=False),
    ),
    run,
    budget=2_000,
    examples=('edit(edits=[{"tag": "4f2a91", "start": 40, "end": 42, "text": "..."}])',),
    aliases="edit_file apply_edit str_replace write_file create_file replace multi_edit apply_patch hashline"
    " write_source write edit_source update_file",
    indexed=False,
    writes=True,
    default=False,
)
