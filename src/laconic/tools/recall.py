"""`recall`: what was left out, by its reference, by lines, or by pattern."""

from __future__ import annotations

import re
import time

from laconic.errors import UsageError
from laconic.render.age import age_text
from laconic.sessions.archive import ArchiveEntry
from laconic.tool_runtime.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.workspace.changed_listing import find_changed

_CHUNK = 40  # lines that are shown or left out together
_WIDEST = 2_000
_EVERYWHERE = "all"
_PER_TOKEN = 4  # bytes, near enough for a list


def run(call: ToolCall) -> ToolAnswer:
    archive = call.runtime.archive
    ref = call.text("ref").strip().strip("[]`'\"")
    pattern = call.text("grep")
    if not ref and pattern:
        return _search(call, pattern)
    if not ref:
        return _entries(call)
    if pattern:
        found = archive.matching(ref, pattern)
        pieces = []
        for number, line in found:
            pieces.append(Piece((f"{number}: {line[:_WIDEST]}\n",), order=number))
        return ToolAnswer(
            pieces, "recall", unit="lines", note="" if found else f"no line of {ref} matches {pattern}\n"
        )
    first, last = _range(call.text("lines"))
    lines = archive.lines(ref, first, last)
    if lines and not lines[-1]:
        lines = lines[:-1]  # the text ends in a line feed
    pieces = []
    for start in range(0, len(lines), _CHUNK):
        text = ""
        for line in lines[start : start + _CHUNK]:
            text += f"{line[:_WIDEST]}\n"
        pieces.append(Piece((text,), order=start))
    return ToolAnswer(pieces, "recall", note=_say_changed(call, ref), unit=f"parts of {_CHUNK} lines", spread=1.0)


def _say_changed(call: ToolCall, ref: str) -> str:
    """That files are no longer as the text shows them, and how to see them as they are."""
    runtime, archive = call.runtime, call.runtime.archive
    changed = find_changed(runtime.root, runtime.secrets, archive.lines(ref, *_range("")), archive.entry(ref).note)
    if not changed:
        return ""
    return f"({', '.join(changed)} changed since; as it is now: {call.ready('read', changed[0])})\n"


def _scope(call: ToolCall) -> tuple[str | None, str | None]:
    """The session and the task that are looked at; None: all of them."""
    session: str | None = call.text("session") or str(call.runtime.root)
    if session == _EVERYWHERE:
        session = None
    return session, call.text("task") or None


def _search(call: ToolCall, pattern: str) -> ToolAnswer:
    """Lines of all that was kept, below the text that they are in."""
    pieces = []
    shown = ""
    for order, (entry, number, line) in enumerate(call.runtime.archive.search(pattern, *_scope(call))):
        head = f"{_describe(entry)}\n" if entry.ref != shown else ""
        shown = entry.ref
        pieces.append(Piece((f"{head}{number}: {line[:_WIDEST]}\n",), order=order))
    return ToolAnswer(
        pieces, "recall", unit="lines", note="" if pieces else f"nothing that is kept matches {pattern}\n"
    )


def _entries(call: ToolCall) -> ToolAnswer:
    """What was kept, the newest first."""
    entries = call.runtime.archive.entries(*_scope(call))[::-1]
    pieces = []
    for entry in entries:
        pieces.append(Piece((f"{_describe(entry)}\n",)))
    return ToolAnswer(
        pieces, "recall", unit="entries", note="" if entries else "nothing is archived for this workspace\n"
    )


def _describe(entry: ArchiveEntry) -> str:
    """A text in a list: its reference, its task, what it is, its age and its size."""
    task = f"task {entry.task!r} " if entry.task else ""
    size = max(1, entry.size // _PER_TOKEN)
    age = age_text(time.time() - entry.stored)
    return f"{entry.ref} {task}{entry.note or entry.session} ({age}, about {size:,} tokens)"


def _range(text: str) -> tuple[int, int]:
    if not text:
        return 1, 1_000_000_000
    numbers = re.findall(r"\d{1,9}", text)
    if not numbers:
        raise UsageError(f"{text!r} is not a range of lines.", "Write 40-80.")
    return int(numbers[0]), int(numbers[-1]) if len(numbers) > 1 else int(numbers[0])


TOOL = Tool(
    name="recall",
    summary="What was left out, by its reference",
    help="Returns exactly what an earlier answer or the gateway put into the archive: all of it, some lines, or the lines"
    " that match a pattern. Without a reference it lists or searches what the archive has for this workspace.",
    arguments=(
        Argument("ref", "text", "", explained="the reference in a note or in a last line"),
        Argument(name="lines", kind="text", help="", listed=False, explained="only these lines: 40-80"),
        Argument("grep", "text", "", explained="only lines that match this regular expression"),
        Argument(
            name="session",
            kind="text",
            help="",
            listed=False,
            explained="without a reference: only this session, or `all`",
        ),
        Argument(
            name="task",
            kind="text",
            help="",
            listed=False,
            explained="without a reference: only the task with this title",
        ),
    ),
    run=run,
    budget=3_000,
    examples=('recall(ref="k3f9")', 'recall(ref="k3f9", grep="error")'),
    aliases="more expand get_more fetch_more retrieve",
    indexed=False,
)
