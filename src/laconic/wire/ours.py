"""The parts of a request that Laconic added: its tool schemas, its instructions, and recalled content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from laconic.wire.exchanges import Exchange
from laconic.wire.model import Block
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.spans import elements, is_array

_TOOL: Final = re.compile(rb'"name"\s*:\s*"(?:[\w.-]*[_.])?laconic(?:[_.][\w.-]*)?"')  # as hosts name our tools
_RECALL: Final = re.compile(rb'\blaconic recall \w|(?:^|[_."])laconic[_.]+recall"')  # in a shell, or by the tool


class Ours(msgspec.Struct, frozen=True):
    """Bytes that would not have been sent without us; whether the whole request would not have been."""

    size: int = 0
    recall: bool = False  # it does nothing but bring back what was recalled


def ours(conversation: ParsedRequest, texts: Sequence[bytes] = ()) -> Ours:
    """Look for it; `texts` are our instructions as they stand in JSON. Sessions without us cost one look."""
    if b"laconic" not in conversation.body:
        return Ours()
    size = sum(len(text) for text in texts if text in conversation.body) + _schemas(conversation.field("tools"))
    if conversation.array is None or b"recall" not in conversation.array.of(conversation.body):
        return Ours(size)
    recalls = []
    for one in conversation.exchanges:
        if any(_recalls(call) for call in one.calls):
            recalls.append(one)
    size += sum(_size(call, result) for one in recalls for call, result in one.pairs if _recalls(call))
    return Ours(size, bool(recalls) and _alone(recalls[-1], conversation))


def _schemas(tools: bytes) -> int:
    if b"laconic" not in tools or not is_array(tools):
        return 0
    return sum(len(tool) for span in elements(tools) if _TOOL.search(tool := span.of(tools)))


def _recalls(call: Block) -> bool:
    return _RECALL.search(call.raw) is not None


def _size(call: Block, result: Block | None) -> int:
    return len(call.raw) + (len(result.raw) if result is not None else 0)


def _alone(exchange: Exchange, conversation: ParsedRequest) -> bool:
    """Whether the request ends with the results of this exchange, and all of them were recalled."""
    ends = set()
    for result in exchange.results:
        if result is not None:
            ends.add(result.turn)
    return len(conversation.turns) - 1 in ends and all(_recalls(call) for call in exchange.calls)
