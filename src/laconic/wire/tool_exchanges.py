"""Exchanges: an assistant turn with its calls, and all their results. The unit of removal, for every provider."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from laconic.wire.turns_and_blocks import At, Block, Turn


class Exchange(msgspec.Struct, frozen=True, gc=False):
    """Calls and their results. `turns` are the assistant's messages, all of whose blocks belong to the exchange."""

    turns: tuple[int, ...]
    calls: tuple[Block, ...]
    results: tuple[Block | None, ...]  # in the order of the calls; None: not answered
    members: tuple[At, ...]  # every block that goes when the exchange goes

    @property
    def complete(self) -> bool:
        return None not in self.results

    @property
    def pairs(self) -> tuple[tuple[Block, Block | None], ...]:
        return tuple(zip(self.calls, self.results, strict=True))


class _OpenExchange:
    """An exchange that is still being collected."""

    __slots__ = ("calls", "results", "turns")

    def __init__(self, turns: list[Turn]) -> None:
        self.turns = turns
        self.calls = [block for turn in turns for block in turn.blocks if block.kind == "call"]
        self.results: list[Block | None] = [None] * len(self.calls)

    def take(self, result: Block) -> bool:
        """Answer the first open call that this result can belong to: by id, or by name where there are no ids."""
        for number, call in enumerate(self.calls):
            if self.results[number] is None and answers(result, call):
                self.results[number] = result
                return True
        return False

    def close(self) -> Exchange:
        own = []
        for turn in self.turns:
            for block in turn.blocks:
                own.append(block.at)
        answers = []
        for result in self.results:
            if result is not None:
                answers.append(result.at)
        return Exchange(
            tuple(turn.index for turn in self.turns), tuple(self.calls), tuple(self.results), tuple(own + answers)
        )


def answers(result: Block, call: Block) -> bool:
    """Whether a result can belong to a call: ids decide; where both lack one, names do."""
    if result.id or call.id:
        return result.id == call.id
    return not result.name or result.name == call.name


def exchanges(turns: Sequence[Turn], *, merged: bool) -> tuple[Exchange, ...]:
    """All exchanges in order. A repeated id belongs to the nearest turn before that still waits for it.

    With `merged`, neighbouring assistant messages are one turn (the Responses API writes one item per block).
    """
    found: list[_OpenExchange] = []
    waiting: list[_OpenExchange] = []
    at = 0
    while at < len(turns):
        turn = turns[at]
        group = [turn]
        at += 1
        if turn.role == "assistant":
            while merged and at < len(turns) and turns[at].role == "assistant":
                group.append(turns[at])
                at += 1
            opened = _OpenExchange(group)
            if opened.calls:
                found.append(opened)
                waiting.append(opened)
        elif waiting:
            for block in turn.blocks:
                if block.kind == "result":
                    _settle(block, waiting)
    return tuple(opened.close() for opened in found)


def orphans(turns: Sequence[Turn], found: Sequence[Exchange]) -> tuple[Block, ...]:
    """Results that answer no call."""
    settled = set()
    for exchange in found:
        for result in exchange.results:
            if result is not None:
                settled.add(result.at)
    return tuple(
        block for turn in turns for block in turn.blocks if block.kind == "result" and block.at not in settled
    )


def _settle(result: Block, waiting: list[_OpenExchange]) -> None:
    for opened in reversed(waiting):
        if opened.take(result):
            if None not in opened.results:
                waiting.remove(opened)
            return
