"""`workspace`: which code bases are indexed, and in what state; answers with numbers only."""

from __future__ import annotations

from pathlib import Path

from laconic.errors import IndexUnavailable, UsageError
from laconic.index import catalog
from laconic.index.workspace_index import Index
from laconic.plane.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.render.compact import Json

_ACTIONS = ("status", "list", "add", "remove", "refresh")


def run(call: ToolCall) -> ToolAnswer:
    action = call.text("action") or "status"
    if action == "list":
        return _list(call)
    if action == "refresh":
        if not call.plane.index.store.meta("built") and (lag := call.plane.index.refresh()):
            return _one(call, lag)
        outcome = call.plane.index.build()
        if outcome.locked:
            return _one(call, "another process is writing this index")
        return _one(call, f"{outcome.written} files read, {outcome.removed} removed")
    if action in {"add", "remove"}:
        return _change(call, action)
    return _one(call, "")


def _one(call: ToolCall, said: str) -> ToolAnswer:
    piece = _piece(call.plane.index.statistics())
    return ToolAnswer([piece], "workspace", f"{said}\n" if said else "", unit="workspaces")


def _list(call: ToolCall) -> ToolAnswer:
    pieces: list[Piece] = []
    for root, file in catalog.workspaces(call.plane.cache):
        try:
            pieces.append(_piece(catalog.statistics(root, file)))
        except IndexUnavailable as error:  # of another version, or broken: the list goes on
            pieces.append(Piece((f"{root}: {error.problem}\n",), record={"root": str(root)}))
    return ToolAnswer(pieces, "workspaces", unit="workspaces")


def _piece(found: catalog.Statistics) -> Piece:
    record: dict[str, Json] = {"root": str(found.root), "files": found.files, "symbols": found.symbols}
    about = f"{found.files} files ({found.skipped} skipped), {found.symbols} symbols, {found.lines} lines"
    state = ""
    if found.building:
        state = f", building {found.building}"
    return Piece((f"{found.root}: {about}, index {found.index_bytes / 1e6:.1f} MB{state}\n",), record=record)


def _change(call: ToolCall, action: str) -> ToolAnswer:
    named = call.text("path")
    root = call.plane.root
    if named:
        root = Path(named).expanduser()
    if not root.is_absolute():
        root = call.plane.root / root
    if action == "remove":
        if root.resolve() not in {known.resolve() for known, _ in catalog.workspaces(call.plane.cache)}:
            raise UsageError(f"{root} is not indexed.", "`action` list names those that are.")
        catalog.forget(call.plane.cache, root.resolve())  # the folder itself may be gone
        return ToolAnswer([Piece((f"forgot the index of {root}\n",))], "workspace", unit="workspaces")
    if not root.is_dir():
        raise UsageError(f"{named} is not a folder.", "Give the folder of a code base in `path`.")
    index = Index.open(root, call.plane.cache, secrets=call.plane.secrets, force=call.flag("force"))
    lag = index.refresh()
    answer = ToolAnswer([_piece(index.statistics())], "workspace", f"{lag}\n" if lag else "", unit="workspaces")
    if not lag:
        index.close()  # a build that is under way goes on in its thread as long as this process lives
    return answer


TOOL = Tool(
    "workspace",
    "Index state; action: status, list, add, remove, refresh",
    "Lists the code bases that are indexed on this machine, adds or forgets one, or brings the index up to date now."
    " The index follows changes by itself; refresh is never needed for a right answer.",
    (
        Argument("action", "text", "", choices=_ACTIONS, default="status"),
        Argument("path", "text", "", listed=False, aliases=("root", "workspace")),
        Argument("force", "flag", "add a folder that looks like no project", default=False, listed=False),
    ),
    run,
    budget=600,
    examples=('workspace(action="list")',),
    aliases="manage_workspace index index_refresh refresh_index status set_project_path",
    indexed=False,
    manages=True,
    unnamed=2,
)
