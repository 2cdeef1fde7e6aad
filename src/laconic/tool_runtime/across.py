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

_SECONDS: Final = 0.6  # after which no further workspace is asked
_LOOKING: Final = 0.25  # of them, for what changed on disk
_SURE: Final = 3  # workspaces that are asked in any case
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
    started = time.monotonic()
    weights = _weigh(tool, call, runtimes)
    answers: list[tuple[float, ToolAnswer]] = []
    left_out = 0
    share = max(call.limit // min(_SURE, max(1, len(weights))), 200)
    for number, (runtime, weight) in enumerate(weights):
        if number >= _SURE and time.monotonic() > started + _SECONDS:
            left_out = len(weights) - number
            break
        runtime.follow(started + _LOOKING)
        answer = _ask(tool, replace(call, runtime=runtime, limit=share))
        if answer.pieces:
            answers.append((weight / weights[0][1], answer))
    if not answers:
        nothing = _ask(tool, replace(call, runtime=runtimes[0]))
        return replace(nothing, head=f"in {count_of(len(runtimes), 'workspace')}: {nothing.head}")
    return _put_together(answers, len(weights) - left_out, left_out)


def _weigh(tool: Tool, call: ToolCall, runtimes: Sequence[ToolRuntime]) -> list[tuple[ToolRuntime, float]]:
    """The workspaces that have something to say, those that have most first."""
    assert tool.weigh is not None
    weights: list[tuple[ToolRuntime, float]] = []
    for runtime in runtimes:
        weights.append((runtime, tool.weigh(replace(call, runtime=runtime))))
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


def _put_together(answers: Sequence[tuple[float, ToolAnswer]], asked: int, left_out: int) -> ToolAnswer:
    pieces: list[Piece] = []
    heads: dict[str, None] = {}
    total = 0
    for weight, answer in answers:
        heads[answer.head] = None
        total += answer.total if answer.total is not None else len(answer.pieces)
        for piece in answer.pieces:
            pieces.append(replace(piece, score=piece.score * weight))
    pieces.sort(key=lambda piece: -piece.score)
    note = ""
    if left_out:
        note = f"({count_of(asked, 'workspace')} asked, {left_out} that fit less left out: name them to ask them)\n"
    first = answers[0][1]
    paths = tuple(path for _, answer in answers for path in answer.paths)
    return replace(first, pieces=pieces, head="".join(heads), note=note, total=total, paths=paths)
