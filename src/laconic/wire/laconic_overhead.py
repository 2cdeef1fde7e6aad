"""The parts of a request that Laconic added: its tool schemas, its instructions, and recalled content."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from laconic.wire.json_spans import elements, is_array
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.tool_exchanges import Exchange
from laconic.wire.turns_and_blocks import OUR_NAME, Block

_TOOL: Final = re.compile(rb'"name"\s*:\s*"(?:[\w.-]*[_.])?laconic(?:[_.][\w.-]*)?"')  # as hosts name our tools
_RECALL: Final = re.compile(rb'\blaconic recall \w|(?:^|[_."])laconic[_.]+recall"')  # in a shell, or by the tool

_OTHER_SERVER: Final = re.compile(rb'"name"\s*:\s*"mcp__(?!laconic)')
_HOST_TOOL: Final = re.compile(
    rb'"name"\s*:\s*"(?:list_mcp_resources|list_mcp_resource_templates|read_mcp_resource|(?:List|Read)McpResource\w*)"'
)
_HOST_WORDS: Final = 30  # tokens with which a host introduces instructions inside a longer text
_BEGINNING: Final = 4  # turns in which hosts put instructions of servers
_INTRODUCTION: Final = 500  # bytes with which a host introduces the instructions of one server


class LaconicOverhead(msgspec.Struct, frozen=True):
    """Tokens that would not have been sent without us; whether the whole request would not have been."""

    tokens: int = 0
    recall: bool = False  # it does nothing but bring back what was recalled


def ours(conversation: ParsedRequest, count: Callable[[str], int], texts: Sequence[bytes] = ()) -> LaconicOverhead:
    """Look for it; `texts` are our instructions as they stand in JSON. Sessions without us cost one look."""
    if not conversation.mentions(OUR_NAME):
        return LaconicOverhead()
    found = _schemas(conversation.field("tools"))
    tokens = 0
    for text in texts:
        if text not in conversation.body or any(text in schema for schema in found):
            continue
        around = _find_block(conversation, text)
        found.append(around or text)
        if not around:
            tokens += _HOST_WORDS
    if conversation.array is None or b"recall" not in conversation.array.of(conversation.body):
        return LaconicOverhead(tokens + _count_all(found, count))
    recalls = []
    for one in conversation.exchanges:
        if any(_recalls(call) for call in one.calls):
            recalls.append(one)
    for one in recalls:
        found += _recalled(one)
    return LaconicOverhead(tokens + _count_all(found, count), bool(recalls) and _alone(recalls[-1], conversation))


def _find_block(conversation: ParsedRequest, text: bytes) -> bytes:
    """The block that holds our instructions and the words with which a host introduces them, and nothing else."""
    for turn in conversation.turns[:_BEGINNING]:
        for block in turn.blocks:
            if text in block.raw and len(block.raw) <= len(text) + _INTRODUCTION:
                return block.raw
    return b""


def _count_all(found: Sequence[bytes], count: Callable[[str], int]) -> int:
    return sum(count(text.decode("utf-8", "replace")) for text in found)


def _schemas(tools: bytes) -> list[bytes]:
    """The schemas of our tools, and of those that a host adds as soon as it has a server."""
    found: list[bytes] = []
    if b"laconic" not in tools or not is_array(tools):
        return found
    is_alone = _OTHER_SERVER.search(tools) is None
    for span in elements(tools):
        tool = span.of(tools)
        if _TOOL.search(tool) or (is_alone and _HOST_TOOL.search(tool)):
            found.append(tool)
    return found


def _recalled(exchange: Exchange) -> list[bytes]:
    """Calls that recall something, and what they brought back."""
    found: list[bytes] = []
    for call, result in exchange.pairs:
        if not _recalls(call):
            continue
        found.append(call.raw)
        if result is not None:
            found.append(result.raw)
    return found


def _recalls(call: Block) -> bool:
    return _RECALL.search(call.raw) is not None


def _alone(exchange: Exchange, conversation: ParsedRequest) -> bool:
    """Whether the request ends with the results of this exchange, and all of them were recalled."""
    ends = set()
    for result in exchange.results:
        if result is not None:
            ends.add(result.turn)
    return len(conversation.turns) - 1 in ends and all(_recalls(call) for call in exchange.calls)
