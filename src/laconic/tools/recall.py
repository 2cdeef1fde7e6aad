"""`recall`: what was left out or evicted, by its reference, by lines, or by pattern."""

from __future__ import annotations

import re

from laconic.errors import UsageError
from laconic.plane.tool import Argument, Piece, Tool, ToolAnswer, ToolCall

_CHUNK = 40  # lines that are shown or left out together
_WIDEST = 2_000


def run(call: ToolCall) -> ToolAnswer:
    archive = call.plane.archive
    ref = call.text("ref").strip().strip("[]`'\"")
    if not ref:
        return _entries(call)
    if pattern := call.text("grep"):
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
    return ToolAnswer(pieces, "recall", unit=f"parts of {_CHUNK} lines", spread=1.0)


def _entries(call: ToolCall) -> ToolAnswer:
    """What was kept for this workspace, the newest first."""
    entries = call.plane.archive.entries(session=str(call.plane.root))[::-1]
    pieces = []
    for entry in entries:
        pieces.append(Piece((f"{entry.ref} {entry.size} bytes {entry.note}\n",)))
    return ToolAnswer(
        pieces, "recall", unit="entries", note="" if entries else "nothing is archived for this workspace\n"
    )


def _range(text: str) -> tuple[int, int]:
    if not text:
        return 1, 1_000_000_000
    numbers = re.findall(r"\d{1,9}", text)
    if not numbers:
        raise UsageError(f"{text!r} is not a range of lines.", "Write 40-80.")
    return int(numbers[0]), int(numbers[-1]) if len(numbers) > 1 else int(numbers[0])


TOOL = Tool(
    "recall",
    "What was left out or evicted, by its reference",
    "Returns exactly what an earlier answer or the gateway put into the archive: all of it, some lines, or the lines"
    " that match a pattern. Without a reference it lists what was kept for this workspace.",
    (
        Argument("ref", "text", "", explained="the reference that a mark or a last line names"),
        Argument("lines", "text", "", listed=False, explained="only these lines: 40-80"),
        Argument("grep", "text", "", explained="only lines that this regular expression finds"),
    ),
    run,
    budget=3_000,
    examples=('recall(ref="k3f9")', 'recall(ref="k3f9", grep="error")'),
    aliases="more expand get_more fetch_more retrieve",
    indexed=False,
)
