"""One question to several workspaces: ask each that has something to say, and put the answers into one order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from laconic.errors import UsageError
from laconic.render.plural import count_of
from laconic.tool_runtime.tool import Piece, Tool, ToolAnswer, ToolCall
from laconic.tool_runtime.workspaces import is_usable

if TYPE_CHECKING:
    from laconic.tool_runtime.runtime import ToolRuntime

SECONDS: Final = 0.6  # after which no further workspace is asked
_LOOKING: Final = 0.25  # of them, for what changed on disk
_SURE: Final = 2  # workspaces that are asked in any case
_OWN: Final = 1.1  # what the asking workspace is worth beside others
_SHARE: Final = 0.2  # of the weight of the best workspace; one that has less has nothing to say


def ask_workspaces(tool: Tool, call: ToolCall, runtimes: Sequence[ToolRuntime]) -> ToolAnswer:
    """The answer of a tool about the workspaces that a call names."""
    usable = [runtime for runtime in runtimes if not runtime.prefix or is_usable(runtime)] or list(runtimes[:1])
    if len(usable) == 1:
        call = replace(call, runtime=usable[0])
    if tool.joins is not None and tool.joins(call):
        return tool.run(replace(call, runtimes=tuple(usable)))
    if len(usable) == 1:
        return _ask(tool, call)
    if tool.weigh is None:
        example = f'{tool.name}(..., workspace="{(usable or runtimes)[-1].prefix.strip("@/")}")'
        raise UsageError(f"{tool.name} answers about one workspace at a time.", f"Name one: {example}.")
    return _merge(tool, call, usable)


def _merge(tool: Tool, call: ToolCall, runtimes: Sequence[ToolRuntime]) -> ToolAnswer:
    """Ask the workspaces that fit best while there is time, and take a glance at the others."""
    started = time.thread_time()  # of a busy machine every workspace would ask for more patience
    weights = _weigh(tool, call, runtimes)
    answers: list[tuple[float, ToolAnswer]] = []
    left_out = 0
    share = max(call.limit // min(_SURE, max(1, len(weights))), 200)
    for number, (runtime, weight) in enumerate(weights):
        inner = replace(call, runtime=runtime, limit=share)
        if number < _SURE or time.thread_time() < started + SECONDS:
            runtime.follow(started + _LOOKING)
            answer = _ask(tool, inner)
        elif tool.glance is not None:
            answer = _ask(replace(tool, run=tool.glance), inner)
            left_out += not answer.pieces
        else:
            left_out += 1
            continue
        if answer.pieces:
            answers.append((weight / weights[0][1], answer))
    note = ""
    if left_out:
        asked = count_of(len(weights) - left_out, "workspace")
        note = f"({asked} asked, {left_out} that fit less left out: name them to ask them)\n"
    if answers:
        return _put_together(answers, note)
    nothing = _ask(tool, replace(call, runtime=runtimes[0]))
    said = f"in {count_of(len(runtimes), 'workspace')}: {nothing.head}"
    return replace(nothing, head=said, note=nothing.note + note)


def _weigh(tool: Tool, call: ToolCall, runtimes: Sequence[ToolRuntime]) -> list[tuple[ToolRuntime, float]]:
    """The workspaces that have something to say, those that have most first."""
    assert tool.weigh is not None
    weights: list[tuple[ToolRuntime, float]] = []
    for runtime in runtimes:
        weight = tool.weigh(replace(call, runtime=runtime))
        if runtime is call.runtime:
            weight *= _OWN
        weights.append((runtime, weight))
    weights.sort(key=lambda pair: -pair[1])
    least = _SHARE * weights[0][1]
    return [(runtime, weight) for runtime, weight in weights if weight > 0 and weight >= least]


def _ask(tool: Tool, call: ToolCall) -> ToolAnswer:
    """The answer of one workspace, its paths as the session writes them; again where a file changed meanwhile."""
    answer = tool.run(call)
    if answer.paths and call.runtime.prefix and call.runtime.has_changed(answer.paths):
        answer = tool.run(call)
    prefix = call.runtime.prefix
    if not prefix:
        return answer
    pieces = []
    for piece in answer.pieces:
        pieces.append(place_piece(piece, prefix))
    return replace(answer, pieces=pieces, paths=())


def place_piece(piece: Piece, prefix: str) -> Piece:
    """A piece of another workspace: the path above it, and the one that programs get, say where that is."""
    group, record = piece.group, piece.record
    if group and not group.startswith((prefix, "[")):
        group = prefix + group
    if group.startswith("[") and not group.startswith(f"[{prefix}"):
        group = f"[{prefix}{group[1:]}"
    if record is not None and isinstance(path := record.get("path"), str) and not path.startswith(prefix):
        record = {**record, "path": prefix + path}
    return replace(piece, group=group, record=record, sent=None)


def _put_together(answers: Sequence[tuple[float, ToolAnswer]], note: str) -> ToolAnswer:
    pieces: list[Piece] = []
    heads: dict[str, None] = {}
    total = 0
    for weight, answer in answers:
        heads.setdefault(answer.head)
        total += answer.total if answer.total is not None else len(answer.pieces)
        for piece in answer.pieces:
            pieces.append(replace(piece, score=piece.score * weight))
    pieces.sort(key=lambda piece: -piece.score)
    first = answers[0][1]
    paths = tuple(path for _, answer in answers for path in answer.paths)
    head = "".join(heads)
    if "" in heads:
        head = ""  # some have what others lack
    return replace(first, pieces=pieces, head=head, note=note, total=total, paths=paths)
