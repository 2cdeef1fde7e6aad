"""`edit`: change files by line and tag, or by exact text."""

from __future__ import annotations

from laconic.tool_runtime.edit_workspace import StaleEdit, edit, undo
from laconic.tool_runtime.tool import Argument, Tool, ToolAnswer, ToolCall


def run(call: ToolCall) -> ToolAnswer:
    if call.flag("undo"):
        return ToolAnswer(kind="edit", head=f"{undo(call.runtime.edits)}\n")
    try:
        made = edit(call.runtime.edits, call.records("edits"), dry=call.flag("dry_run"))
    except StaleEdit as stale:
        head = f"error: {stale.problem} {stale.reasons}\n"
        return ToolAnswer(pieces=stale.pieces, kind="edit_refused", head=head, unit="files", failed=True)
    return ToolAnswer(kind="edit", head=f"{made}\n")


TOOL = Tool(
    name="edit",
    summary="Edit files by line and tag, or by exact text; all edits in a call or none",
    help="Each edit is {path, tag, start, end, text} (lines as a read showed them, inclusive; no text deletes), or"
    " {path, tag, insert_after or insert_before, text}, or {path, find, text, count}, or {path, create: true, text}."
    " You may omit the path if the tag identifies it. If the file has changed since, the edit is made only if its lines"
    " are unchanged and unambiguous; otherwise nothing is written, and the answer shows the current lines.",
    arguments=(
        Argument(
            "edits",
            "records",
            "[{path, tag, start, end, text} | {path, tag, insert_after, text} | {path, find, text}]",
        ),
        Argument(
            name="dry_run",
            kind="flag",
            help="",
            aliases=("dry", "preview", "check"),
            default=False,
            listed=False,
            explained="show what would be written",
        ),
        Argument(
            name="undo",
            kind="flag",
            help="",
            aliases=("revert",),
            default=False,
            listed=False,
            explained="undo the last edit",
        ),
    ),
    run=run,
    budget=2_000,
    examples=('edit(edits=[{"tag": "4f2a91", "start": 40, "end": 42, "text": "..."}])',),
    aliases="edit_file apply_edit str_replace write_file create_file replace multi_edit apply_patch hashline"
    " write_source write edit_source update_file",
    indexed=False,
    writes=True,
    default=False,
)
