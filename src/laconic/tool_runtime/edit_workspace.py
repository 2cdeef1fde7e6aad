"""`edit`: change files by line and tag or by exact text, all of a call or none, never at a place that is in doubt.

`EditWorkspace` holds what edits need: the workspace, the versions that were read, and the journal. Whoever shows
numbered lines to an agent notes them with `snapshots.remember`; edits of lines that were not shown are refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from laconic.edits.align import NOWHERE, carry
from laconic.edits.protected_names import is_version_control
from laconic.edits.request import CreateFile, Edit
from laconic.edits.request import edit as read_edit
from laconic.edits.resolve import Refusal, ResolvedEdit, resolve
from laconic.edits.source import SourceText, join, split
from laconic.errors import EditRefused, UsageError, WorkspaceError
from laconic.index.parse import parse
from laconic.records import Hunk, Span
from laconic.render.edit_result import EditedFile, EditedPlace, edited_text
from laconic.render.numbered_lines import excerpts, header
from laconic.tool_runtime.source import clip_line, is_whole
from laconic.tool_runtime.tool import Piece, SentLines
from laconic.workspace.atomic_write import has_other_names
from laconic.workspace.journal import FileWrite, Journal
from laconic.workspace.read_file import inside, read_bytes
from laconic.workspace.secrets import NO_EXCEPTIONS, SecretFiles
from laconic.workspace.snapshots import Snapshots

_LARGEST: Final = 20_000_000  # bytes of a file that can be edited
_FRESH: Final = 40  # lines that a refusal shows of one file
_SIZES: Final = (1, 3, 7, 12, 20, 30)  # and of those, when there is less room


class EditWorkspace:
    """Where one workspace is edited. Opening it changes no file of the workspace."""

    def __init__(self, root: Path, cache: Path, secrets: SecretFiles = NO_EXCEPTIONS) -> None:
        self.root = root.resolve()
        self.secrets = secrets
        key = blake2b(os.fsencode(self.root), digest_size=8).hexdigest()
        self._folder = cache / "edits" / key
        self.snapshots = Snapshots(self._folder)
        self.journal = Journal(self._folder / "journal")

    def close(self) -> None:
        self.snapshots.close()

    def note_shown(self, stale: StaleEdit) -> None:
        """Note that somebody was shown a refusal whole: the next edit may name its lines."""
        for piece in stale.pieces:
            if piece.sent is not None:
                self.snapshots.remember(piece.sent.path, piece.sent.source, piece.sent.at(len(piece.texts) - 1))


@dataclass(frozen=True, slots=True)
class _PlannedFile:
    path: str
    before: SourceText | None
    after: SourceText
    hunks: tuple[Hunk, ...]
    write: FileWrite


@dataclass(frozen=True, slots=True)
class _Problem:
    """One file whose edits cannot be made: why, and the lines of it to look at."""

    path: str
    reasons: tuple[str, ...]
    source: SourceText | None = None
    look: tuple[int, ...] = ()  # numbers of lines


class StaleEdit(EditRefused):
    """Edits that do not fit the files as they are; carries the fresh lines, file by file."""

    def __init__(self, problems: Sequence[_Problem]) -> None:
        self.problems = tuple(problems)
        fresh = ""
        for one in problems:
            if one.look:
                fresh += f"{_heading(one)}\n{_rows(one, len(one.look))}"
        super().__init__("Nothing was written.", f"{self.reasons}\n{fresh}".strip())

    @property
    def reasons(self) -> str:
        return "\n".join(f"{one.path}: {reason}" for one in self.problems for reason in one.reasons)

    @property
    def pieces(self) -> list[Piece]:
        """The fresh lines in sizes, each with the lines that are then shown to their end."""
        found: list[Piece] = []
        for one in self.problems:
            if one.look:
                found.append(_piece(one))
        return found


def edit(workspace: EditWorkspace, calls: Sequence[Mapping[str, object]], *, dry: bool = False) -> str:
    """Make all edits and answer with the new tags, or raise EditRefused with the fresh lines."""
    if not calls:
        raise UsageError("There are no edits.", "Give at least one: {path, tag, start, end, text}.")
    workspace.journal.recover()
    files = _by_file(workspace, [read_edit(call) for call in calls])
    outcomes = []
    for path, edits in files.items():
        outcomes.append(_plan(workspace, path, edits))
    if problems := [outcome for outcome in outcomes if isinstance(outcome, _Problem)]:
        raise StaleEdit(problems)
    planned = []
    for outcome in outcomes:
        if isinstance(outcome, _PlannedFile):
            planned.append(outcome)
    if not dry:
        workspace.journal.apply([plan.write for plan in planned])
        for plan in planned:
            _note_written(workspace, plan)
    return edited_text([_describe_changed(plan) for plan in planned], dry=dry)


def undo(workspace: EditWorkspace) -> str:
    """Take back the last edit; answers with the files and their tags."""
    files = []
    for target in workspace.journal.undo():
        path = target.relative_to(workspace.root).as_posix()
        if target.exists():
            source = split(target.read_bytes())
            files.append(EditedFile(path, source.tag, source.lines, ()))
    if files:
        return "Undone.\n" + edited_text(files, dry=False)
    return "Undone."


def _by_file(workspace: EditWorkspace, edits: Sequence[Edit]) -> dict[str, list[tuple[int, Edit]]]:
    """The edits of every file, numbered as in the call; a tag alone names the file that was read with it."""
    files: dict[str, list[tuple[int, Edit]]] = {}
    for number, one in enumerate(edits, 1):
        given = one.path or _path_of(workspace, one.tag)
        target = inside(workspace.root, given)
        path = target.relative_to(workspace.root).as_posix()
        if any(map(is_version_control, Path(path).parts)) or target == workspace.root:
            raise EditRefused(f"Nothing was written: {given} is not a file to edit.", "Name a file of the project.")
        files.setdefault(path, []).append((number, one))
    return files


def _path_of(workspace: EditWorkspace, tag: str) -> str:
    paths = workspace.snapshots.paths(tag)
    if len(paths) == 1:
        return paths[0]
    problem = ""
    if paths:
        problem = f"{len(paths)} files were read with the tag {tag}: {', '.join(paths[:5])}."
    raise EditRefused(f"Nothing was written. {problem or f'No file was read with the tag {tag}.'}", "Give the path.")


def _plan(workspace: EditWorkspace, path: str, edits: list[tuple[int, Edit]]) -> _PlannedFile | _Problem:
    target = workspace.root / path
    if not target.exists():
        return _plan_created(path, target, edits)
    if not target.is_file() or not os.access(target, os.W_OK):
        return _Problem(path, ("this is no file, or it is read-only.",))
    try:
        workspace.secrets.check(path)  # a refusal shows lines
        data = read_bytes(workspace.root, path, limit=_LARGEST)
        live = split(data)
    except WorkspaceError as error:
        return _Problem(path, (str(error),))
    outcome = resolve(edits, live, workspace.snapshots.versions(path))
    if isinstance(outcome, ResolvedEdit):
        return _PlannedFile(
            path=path,
            before=live,
            after=outcome.source,
            hunks=outcome.hunks,
            write=FileWrite(target, data, join(outcome.source)),
        )
    spans: list[Span] = []
    for refusal in outcome:
        spans.extend(refusal.look)
    numbers = dict.fromkeys(n for span in spans for n in range(span.start, span.end + 1) if n <= len(live.lines))
    look = tuple(sorted(list(numbers)[:_FRESH]))
    return _Problem(path, tuple(_describe_refusal(refusal) for refusal in outcome), live, look)


def _plan_created(path: str, target: Path, edits: list[tuple[int, Edit]]) -> _PlannedFile | _Problem:
    _, first = edits[0]
    if len(edits) > 1 or not isinstance(first.change, CreateFile):
        return _Problem(path, ("the file does not exist. Search for its name, or create it in one edit.",))
    source = split(first.change.text.encode("utf-8", "surrogateescape"))
    hunk = Hunk(
        old_start=0,
        old_lines=0,
        new_start=1,
        new_lines=len(source.lines),
        body=tuple(f"+{line}" for line in source.lines),
    )
    return _PlannedFile(
        path=path, before=None, after=source, hunks=(hunk,), write=FileWrite(target, None, join(source))
    )


def _describe_refusal(refusal: Refusal) -> str:
    return f"edit {refusal.number}: {refusal.problem} {refusal.fix}"


def _heading(problem: _Problem) -> str:
    assert problem.source is not None
    return header(problem.path, problem.source.tag, len(problem.source.lines))


def _rows(problem: _Problem, size: int) -> str:
    """The first lines to look at, with their numbers."""
    assert problem.source is not None
    lines = []
    for line in problem.source.lines:
        lines.append(clip_line(line))
    return excerpts(lines, [Span(number, number) for number in problem.look[:size]]) + "\n"


def _piece(problem: _Problem) -> Piece:
    assert problem.source is not None
    sizes = [*(size for size in _SIZES if size < len(problem.look)), len(problem.look)]
    texts = tuple(_rows(problem, size) for size in sizes)
    shown = []
    for size in sizes:
        shown.append([n for n in problem.look[:size] if is_whole(problem.source.lines[n - 1])])
    steps = tuple(tuple(Span(n, n) for n in numbers) for numbers in shown)
    sent = SentLines(problem.path, problem.source, steps=steps, numbered=True)
    return Piece(texts, _heading(problem), sent=sent)


def _note_written(workspace: EditWorkspace, plan: _PlannedFile) -> None:
    """The agent knows what it wrote, and every line it had been shown that is still there."""
    shown = []
    for hunk in plan.hunks:
        if hunk.new_lines:
            shown.append(Span(hunk.new_start, hunk.new_start + hunk.new_lines - 1))
    if plan.before is not None:
        for seen in workspace.snapshots.versions(plan.path).values():
            carried = carry(seen.lines, plan.after.lines)
            lines = (line for span in seen.shown for line in range(span.start, min(span.end, len(carried)) + 1))
            for n in lines:
                if carried[n - 1] != NOWHERE:
                    shown.append(Span(carried[n - 1] + 1, carried[n - 1] + 1))
    workspace.snapshots.remember(plan.path, plan.after, shown)


def _describe_changed(plan: _PlannedFile) -> EditedFile:
    places = []
    for hunk in plan.hunks:
        places.append(EditedPlace(hunk.new_start, hunk.old_lines, hunk.new_lines))
    notes = [_syntax(plan), "written in place: it has hard links" if has_other_names(plan.write.target) else ""]
    return EditedFile(
        path=plan.path, tag=plan.after.tag, lines=plan.after.lines, places=places, note=", ".join(filter(None, notes))
    )


def _syntax(plan: _PlannedFile) -> str:
    """Whether the file still parses; silent about languages that we cannot parse."""
    now = parse(plan.path, join(plan.after))
    if not now.language or not now.faults:
        return ""
    before = 0
    if plan.before is not None:
        before = parse(plan.path, join(plan.before)).faults
    if before:
        return "still has syntax errors, as before"
    return "NOW HAS SYNTAX ERRORS"
