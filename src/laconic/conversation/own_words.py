"""Shorten what the model said long ago, where its own words are what fills the window. Their beginning stays.

What it said beside its calls is left to recaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from laconic.conversation.eviction import Evictor, is_exact, takes_fewer_bytes
from laconic.conversation.history import History
from laconic.conversation.ledger import Decision
from laconic.errors import ArchiveUnavailable
from laconic.wire.turns_and_blocks import Block

_NEWEST: Final = 8  # messages that stay as they are
_LONGEST: Final = 600  # characters of a text that is left whole
_SHOWN: Final = 240  # characters that stay of a longer one


def list_own_words(history: History) -> list[Block]:
    """Texts of the model that can become shorter, the oldest first."""
    conversation = history.conversation
    assert conversation is not None
    beside_calls: set[int] = set()
    for exchange in conversation.exchanges:
        beside_calls.update(exchange.turns)
    found: list[Block] = []
    for turn in conversation.turns[: max(0, len(conversation.turns) - _NEWEST)]:
        if turn.role != "assistant" or turn.index in beside_calls:
            continue
        for block in turn.blocks:
            is_free = block.key not in history.gone and block.key not in history.decisions
            if block.kind == "text" and block.editable and is_free and len(block.text) > _LONGEST:
                found.append(block)
    return found


def shorten_words(history: History, block: Block, evictor: Evictor, count: Callable[[str], int]) -> Decision | None:
    """The beginning of a text, and where the rest is; None when it cannot be archived, or is not shorter."""
    text = block.text
    if not is_exact(text):
        return None
    try:
        ref = evictor.keep(text, "", "said by the model")
    except ArchiveUnavailable:
        return None
    head = text[:_SHOWN].rsplit(None, 1)[0]
    shorter = f"{head} [… {len(text) - len(head)} characters left out; laconic recall {ref}]"
    before, after = count(text), count(shorter)
    if after >= before or not takes_fewer_bytes(shorter, text):
        return None
    return Decision(
        key=block.key,
        reason="trim",
        ref=ref,
        text=shorter,
        whole=before,
        before=before,
        after=after,
        turn=history.tracker.turn,
        context=history.tracker.tokens - before + after,
    )
