"""`workspace`: which code bases are indexed, and in what state; answers with numbers only."""

from __future__ import annotations

from pathlib import Path

from laconic.errors import IndexUnavailable, Unreadable, UsageError
from laconic.index import catalog
from laconic.index.choose_parser import choose_parser
from laconic.index.store.statistics import Statistics, read_statistics_of_file
from laconic.index.workspace_index import Index
from laconic.render.compact_json import Json
from laconic.render.plural import count_of
from laconic.tool_runtime.tool import Argument, Piece, Tool, ToolAnswer, ToolCall

_ACTIONS = ("status", "list", "add", "remove", "refresh")
_PATIENCE = 600.0  # seconds for an index that another process is writing


def run(call: ToolCall) -> ToolAnswer:
    action = call.text("action") or "status"
    if action == "list":
        return _list(call)
    if action == "remove":
        return _remove(call)
    root = _root(call)
    if root == call.runtime.root and action != "add":
        return _own(call, action)
    if not root.is_dir():
        raise UsageError(f"{call.text('path')} is not a folder.", "Give the folder of a code base in `path`.")
    if action == "status" and root.resolve() not in _known(call):
        raise UsageError(f"{root} is not indexed.", f"{call.ready('workspace', 'add', path=str(root))} indexes it.")
    return _other(call, root)


def _own(call: ToolCall, action: str) -> ToolAnswer:
    """The code base that this server or command works in."""
    said = ""
    if action == "refresh":
        if not call.runtime.index.store.meta("built") and (lag := call.runtime.index.refresh()):
            return _answer(call.runtime.index.statistics(), lag)
        outcome = call.runtime.index.build()
        said = f"{count_of(outcome.written, 'file')} read, {outcome.removed} removed"
        if outcome.locked:
            said = "another process is writing this index"
    return _answer(call.runtime.index.statistics(), said)


def _other(call: ToolCall, root: Path) -> ToolAnswer:
    """Another code base: it is indexed to the end before the answer, for nothing goes on after it."""
    index = Index.open(
        root,
        call.runtime.cache,
        choose_parser(call.runtime.settings),
        secrets=call.runtime.secrets,
        force=call.flag("force"),
    )
    try:
        said = ""
        if call.text("action") in {"add", "refresh"}:
            outcome = index.build(seconds=_PATIENCE)
            said = f"{count_of(outcome.written, 'file')} read, {outcome.removed} removed"
            if outcome.locked:
                said = "another process is writing this index"
        return _answer(index.statistics(), said)
    finally:
        index.close()


def _answer(found: Statistics, said: str) -> ToolAnswer:
    return ToolAnswer([_piece(found)], "workspace", f"{said}\n" if said else "", unit="workspaces")


def _list(call: ToolCall) -> ToolAnswer:
    pieces: list[Piece] = []
    names = {root: name for name, root in call.runtime.workspaces.read_names().items()}
    for root, file in catalog.recent_workspaces(call.runtime.cache):
        try:
            pieces.append(_piece(read_statistics_of_file(file, root), names.get(root, "")))
        except IndexUnavailable as error:  # of another version, or broken: the list goes on
            pieces.append(Piece((f"{root}: {error.problem}\n",), record={"root": str(root)}))
    return ToolAnswer(pieces, "workspaces", unit="workspaces")


def _piece(found: Statistics, name: str = "") -> Piece:
    record: dict[str, Json] = {"root": str(found.root), "files": found.files, "symbols": found.symbols}
    called = ""
    if name:
        record["name"] = name
        called = f"{name} "
    about = f"{count_of(found.files, 'file')} ({found.skipped} skipped), {count_of(found.symbols, 'symbol')}"
    state = ""
    if found.building:
        state = f", building {found.building}"
    size = f"{count_of(found.lines, 'line')}, index {found.index_bytes / 1e6:.1f} MB"
    return Piece((f"{called}{found.root}: {about}, {size}{state}\n",), record=record)


def _root(call: ToolCall) -> Path:
    """The code base that a call is about: the one that `path` names, or that of the session."""
    named = call.text("path")
    if not named:
        return call.runtime.root
    try:
        return (call.runtime.root / Path(named).expanduser()).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreadable(
            f"{named[:200]!r} is not a usable path: {error}.", "Name the folder of a code base."
        ) from None


def _known(call: ToolCall) -> set[Path]:
    found: set[Path] = set()
    for known, _ in catalog.workspaces(call.runtime.cache):
        found.add(known.resolve())
    return found


def _remove(call: ToolCall) -> ToolAnswer:
    root = _root(call)
    if root not in _known(call):
        raise UsageError(f"{root} is not indexed.", "Use `action` list to see which folders are.")
    catalog.forget(call.runtime.cache, root)  # the folder itself may be gone
    return ToolAnswer([Piece((f"forgot the index of {root}\n",))], "workspace", unit="workspaces")


TOOL = Tool(
    name="workspace",
    summary="Index state, and the indexed code bases",
    help="Lists the code bases that are indexed on this machine, the last used first, adds or removes one, or updates the"
    " index now. The index follows changes by itself: you never need refresh to get a correct answer.",
    arguments=(
        Argument(
            name="action",
            kind="text",
            help="",
            choices=_ACTIONS,
            exact=("add", "remove"),
            also=(("recent", "list"), ("recents", "list"), ("ls", "list")),
            default="status",
            explained="what to do",
        ),
        Argument(
            name="path",
            kind="text",
            help="",
            aliases=("root", "workspace"),
            explained="the folder of another code base",
        ),
        Argument(name="force", kind="flag", help="add a folder that is not a project", default=False, listed=False),
    ),
    run=run,
    budget=600,
    examples=('workspace(action="list")',),
    aliases="manage_workspace index index_refresh refresh_index status set_project_path",
    indexed=False,
    manages=True,
    unnamed=2,
)
