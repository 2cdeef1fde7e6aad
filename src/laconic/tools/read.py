"""`read`: several places of the code at once, as numbered lines with the tag that edits need."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from laconic.errors import LaconicError, UnknownName, UsageError, WorkspaceError
from laconic.index.search.lookup import suggest_names, suggest_paths
from laconic.index.store import Symbol
from laconic.records import Span
from laconic.render.escape_control import visible_name
from laconic.tool_runtime.outline import outline
from laconic.tool_runtime.several_workspaces import place_piece
from laconic.tool_runtime.source import OpenedFile, excerpts, open_file
from laconic.tool_runtime.tool import AT, WORKSPACE, Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.workspace.read_file import inside, relative

MOST_LINES: Final = 80  # of one snippet
_MOST_TARGETS: Final = 100
_SNIPPETS: Final = 3  # of one request, when the call names no budget
_LINES: Final = 120  # lines up to which more of them, shorter ones, are shown
_APART: Final = 40  # lines: with fewer symbols than one in so many the first lines say more than an outline
_AROUND: Final = 3  # lines shown before and after a symbol
_RANGE: Final = re.compile(
    r"^(?P<path>.+?)(?::|#L?|\s+)(?P<start>\d{1,9})(?:\s*[-,:–]\s*(?:L)?(?P<end>\d{1,9}))?(?::\d+)?$"
)


def run(call: ToolCall) -> ToolAnswer:
    pieces: list[Piece] = []
    notes: list[str] = []
    paths: list[str] = []
    targets = call.texts("targets")
    missing: list[LaconicError] = []
    for number, target in enumerate(targets):
        if number >= _MOST_TARGETS or (not call.text("budget") and _is_enough(pieces)):
            notes.append(f"[{number} of {len(targets)} targets; more: {_read_others(call, targets[number:])}]")
            break
        try:
            found, note = _pieces(call, target)
        except (WorkspaceError, UnknownName) as error:
            missing.append(error)
            found, note = [], str(error)
        pieces += found
        for piece in found:
            if piece.sent is not None:
                paths.append(piece.sent.path)
        if note:
            notes.append(note)
    if missing and len(missing) == len(targets):
        raise missing[0] if len(missing) == 1 else UsageError("".join(f"{note}\n" for note in notes))
    return ToolAnswer(
        pieces=pieces,
        kind="source",
        note="".join(f"{note}\n" for note in notes),
        unit="places",
        paths=tuple(dict.fromkeys(paths)),
        spread=1.0,
    )


def _is_enough(pieces: Sequence[Piece]) -> bool:
    """Whether a request has had its snippets; short ones count less."""
    if len(pieces) < _SNIPPETS:
        return False
    lines = 0
    for piece in pieces:
        if piece.sent is not None and not piece.sent.before:
            lines += sum(map(len, piece.sent.at(len(piece.texts) - 1)))
    return lines > _LINES


def _has_large(symbols: Sequence[Piece]) -> bool:
    """Whether one of the symbols has members, so that an outline says something."""
    return any(len(piece.texts) > 1 for piece in symbols)


def _read_others(call: ToolCall, targets: list[str]) -> str:
    return call.runtime.write_call(TOOL, {"targets": targets[:_MOST_TARGETS], **call.wish()})


def _pieces(call: ToolCall, target: str) -> tuple[list[Piece], str]:
    """The pieces for one target, and what is to be said of it."""
    runtime, inner = call.runtime.find_place(target.strip().strip("`'\""))
    if runtime is not call.runtime:
        found, note = _pieces(replace(call, runtime=runtime), inner)
        return [place_piece(piece, runtime.prefix) for piece in found], note
    path, symbol, span = _parse_target(call, target)
    if symbol:
        return _symbol(call, path, symbol)
    if _is_folder(call, path):
        return _folder(call, relative(call.runtime.root, path))
    file = _open(call, path)
    if span is None:
        if len(file.lines) <= MOST_LINES or call.text("budget"):
            return excerpts(call, file, Span(1, max(1, len(file.lines)))), ""
        symbols = outline(call, file)
        if len(symbols) * _APART < len(file.lines) and not _has_large(symbols):
            return excerpts(call, file, Span(1, _APART), len(file.lines)), ""
        return symbols, f"{path} has {len(file.lines)} lines: read a range or a symbol of it."
    if span.start > len(file.lines):
        return [], f"{path} has only {len(file.lines)} lines."
    last = min(span.end, len(file.lines))
    if last - span.start >= MOST_LINES and not call.text("budget"):
        return excerpts(call, file, Span(span.start, span.start + MOST_LINES - 1), last), ""
    return excerpts(call, file, Span(span.start, last)), ""


def _parse_target(call: ToolCall, target: str) -> tuple[str, str, Span | None]:
    text = target.strip().strip("`'\"")
    if "::" in text:
        path, _, symbol = text.partition("::")
        if "/" in path or "." in path or not path:
            return path, symbol.replace("::", "."), None
        return "", text, None
    if match := _RANGE.match(text):
        start = max(1, int(match["start"]))
        if match["end"]:
            end = int(match["end"])
        else:
            end = start
        if end < start:
            raise UsageError(f"{target}: the range ends before it starts.", "Write path:start-end.")
        if not match["end"]:
            return match["path"], "", Span(max(1, start - _AROUND), start + _AROUND)
        return match["path"], "", Span(start, end)
    if "/" not in text and not _exists(call, text) and call.runtime.index.store.file(text) is None:
        return "", text, None
    return text, "", None


def _is_folder(call: ToolCall, path: str) -> bool:
    return _exists(call, path) and inside(call.runtime.root, path).is_dir()


def _folder(call: ToolCall, path: str) -> tuple[list[Piece], str]:
    """What lies in a folder, since there are no lines to show."""
    if path == ".":
        prefix = ""
    else:
        prefix = f"{path}/"
    entries: dict[str, int] = {}
    for file in call.runtime.index.store.files():
        if file.path.startswith(prefix):
            name, deeper, _ = file.path[len(prefix) :].partition("/")
            entries[name + deeper] = entries.get(name + deeper, 0) + (1 if deeper else file.lines)
    pieces = [
        Piece((f"{visible_name(name)} {count} {'files' if name.endswith('/') else 'lines'}\n",), prefix or "./", at)
        for at, (name, count) in enumerate(sorted(entries.items()))
    ]
    return pieces, f"{path} is a folder: {call.ready('map', path)} tells more."


def _open(call: ToolCall, path: str) -> OpenedFile:
    known = relative(call.runtime.root, path)
    if not _exists(call, known):
        raise UnknownName("file", path, tuple(suggest_paths(call.runtime.index.store, [path])))
    return open_file(call, known)


def _exists(call: ToolCall, path: str) -> bool:
    try:
        return inside(call.runtime.root, path).exists()
    except (WorkspaceError, OSError, ValueError):  # outside, or a name that no file can have
        return False


def _symbol(call: ToolCall, path: str, name: str) -> tuple[list[Piece], str]:
    """The lines of a symbol and a little around it."""
    store = call.runtime.index.store
    found = []
    for symbol in store.symbols_named(name.rsplit(".", maxsplit=1)[-1]):
        if _fits(symbol, name):
            found.append(symbol)
    if path:
        known = relative(call.runtime.root, path)
        row = store.file(known)
        found = [symbol for symbol in found if row is not None and symbol.file == row.id]
    if not found:
        if not path:
            what = "file or symbol"
        else:
            what = f"symbol in {path}"
        near = tuple(suggest_names(store, name)) or tuple(suggest_paths(store, [name]))
        raise UnknownName(what, name, near)
    pieces: list[Piece] = []
    for symbol in found[:3]:
        row = store.file_by_id(symbol.file)
        if row is None:
            continue
        file = open_file(call, row.path)
        span = Span(max(1, symbol.start - _AROUND), min(len(file.lines), symbol.end + _AROUND))
        if len(span) > MOST_LINES and not call.text("budget"):
            pieces += excerpts(call, file, Span(span.start, span.start + MOST_LINES - 1), span.end)
            return pieces, ""
        pieces += excerpts(call, file, span)
    more = ""
    if len(found) > 3:
        more = f"{len(found)} symbols are named {name}; name the path too."
    return pieces, more


def _fits(symbol: Symbol, name: str) -> bool:
    return symbol.qualified == name or symbol.qualified.endswith(f".{name}") or symbol.name == name


TOOL = Tool(
    name="read",
    summary="Numbered lines of several places: path, path:40-80, path::Symbol",
    help="Reads files, ranges and symbols. Each file has a header with the tag that `edit` needs. Of a long file without"
    " a range you get the outline; a snippet has at most 80 lines unless you name a budget. `anchors` adds two"
    " letters to every line number (`40:k3`), which `edit` checks, for models that lose count.",
    arguments=(
        Argument(
            name="targets",
            kind="texts",
            help="",
            required=True,
            aliases=("locations", "snippets", "places"),
            words=True,
            explained="path, path:40-80 or path::Symbol",
        ),
        Argument(
            name="anchors",
            kind="flag",
            help="",
            aliases=("hashes", "line_anchors"),
            default=False,
            listed=False,
            explained="add two letters to every line number, which edits check",
        ),
        replace(WORKSPACE, listed=False),
        AT,
    ),
    run=run,
    budget=3_600,
    examples=('read(targets=["src/app.py:40-80", "src/db.py::Session.commit"])',),
    aliases="read_file read_source read_files view cat open get_file readrange file_read",
    seldom=True,
)
