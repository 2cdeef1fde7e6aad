"""Rules that several providers share, checked on the neutral conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.wire.tool_exchanges import orphans
from laconic.wire.turns_and_blocks import Block, Fault

if TYPE_CHECKING:
    from laconic.wire.parsed_request import ParsedRequest

_BLANK: Final = re.compile(rb'"(?: |\\[nrtf]|\\u00(?:20|09|0[aA]|0[dD]|[aA]0))*"')


def check_paired(conversation: ParsedRequest, *, adjacent: bool) -> Iterator[Fault]:
    """Every call has exactly one result and every result its call; with `adjacent` nothing stands between."""
    turns = conversation.turns
    spoken = max((turn.index for turn in turns if turn.role != "system"), default=-1)
    for block in () if conversation.chained else orphans(turns, conversation.exchanges):
        yield Fault("pairing", block.turn, f"a result for {block.id or block.name!r} without its call")
    for exchange in conversation.exchanges:
        after = exchange.turns[-1]
        waits = after >= spoken
        ids = [call.id for call in exchange.calls if call.id]
        if len(ids) != len(set(ids)):
            yield Fault("identity", after, "two calls of one turn have the same id")
        for call, result in exchange.pairs:
            if result is None:
                if not waits:
                    yield Fault("pairing", call.turn, f"the call {call.id or call.name!r} has no result")
            elif adjacent and not _directly_after(conversation, after, result):
                yield Fault(
                    "order", result.turn, f"the result for {result.id or result.name!r} is not next to its call"
                )


def _directly_after(conversation: ParsedRequest, after: int, result: Block) -> bool:
    """Whether only other results stand between an assistant turn and this result."""
    between = conversation.turns[after + 1 : result.turn]
    return all(any(block.kind == "result" for block in turn.blocks) for turn in between)


def nothing_empty(conversation: ParsedRequest, *, beside_calls: bool = False) -> Iterator[Fault]:
    """No message without blocks, no blank text; with `beside_calls` a blank text may stand beside calls."""
    for turn in conversation.turns:
        if not turn.blocks:
            yield Fault("empty", turn.index, "a message without content")
        calls = beside_calls and any(block.kind == "call" for block in turn.blocks)
        for block in turn.blocks:
            if block.kind == "text" and not calls and _blank(block):
                yield Fault("empty", turn.index, "a text without characters")


def _blank(block: Block) -> bool:
    """Seen from the bytes: most texts show at the first one that they are not blank."""
    value = block.part.value
    if value is None:
        return True
    return _BLANK.fullmatch(block.body, block.offset + value.start, block.offset + value.end) is not None


def starts_with_user(conversation: ParsedRequest) -> Iterator[Fault]:
    """The first message that is no system prompt comes from the user."""
    first = next((turn for turn in conversation.turns if turn.role != "system"), None)
    if first is not None and first.role != "user":
        yield Fault("start", first.index, "the conversation does not start with the user")


def ends_answerable(conversation: ParsedRequest, *, prefill: bool) -> Iterator[Fault]:
    """The last message is one that a model can answer; with `prefill` it may be the start of the answer."""
    turns = []
    for turn in conversation.turns:
        if turn.role != "system":
            turns.append(turn)
    if not turns:
        yield Fault("end", -1, "there is no message to answer")
    elif turns[-1].role == "assistant":
        calls = any(block.kind == "call" for block in turns[-1].blocks)
        if calls or not prefill:
            yield Fault("end", turns[-1].index, "the last message is not one that a model can answer")
